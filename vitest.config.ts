import { defineConfig } from "vitest/config"
import { projects } from "./vitest.workspace.ts"

// Workspace packages are tested from their sources.
const conditions = ["@fairlead/source"]

export default defineConfig({
  test: {
    reporters: ["default", "./conformance/requirements-reporter.ts"],
    projects: projects.map((root) => ({
      resolve: { conditions },
      ssr: { resolve: { conditions } },
      test: {
        name: root,
        root,
        include: ["test/**/*.test.ts"],
        testTimeout: 30_000
      }
    }))
  }
})
