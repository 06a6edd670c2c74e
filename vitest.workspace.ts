/** The list of test projects: one a workspace package, plus the repository's own tests. */
export const projects = [
  "packages/protocol",
  "packages/client",
  "packages/server",
  "packages/node",
  "packages/testing",
  "packages/cli",
  "examples/deploy-approval",
  "examples/package-docs",
  "conformance",
  "scripts"
]
