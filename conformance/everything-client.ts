/**
 * The client that the official conformance suite runs, a process for each of its scenarios, on the public API. The suite
 * names the scenario and its data in the environment and gives the URL as the last argument:
 *
 *     MCP_CONFORMANCE_SCENARIO=tools_call node --conditions=@fairlead/source conformance/everything-client.ts URL
 */
const name = process.env["MCP_CONFORMANCE_SCENARIO"] ?? ""
const url = process.argv.at(-1) ?? ""

// Not here yet; and all of them start at once, so they end before anything is loaded.
if (name.startsWith("auth/")) {
  console.error(`There is no such scenario here: ${name}`)
  process.exit(1)
}

// The suite waits for a client that hangs, whatever its own time limit.
setTimeout(() => {
  console.error("The scenario did not end within 60 seconds")
  process.exit(1)
}, 60_000).unref()

const { run } = await import("./everything-client/scenarios.ts")
process.exit(await run(name, url, JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}")))
