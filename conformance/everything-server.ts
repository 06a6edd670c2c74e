/**
 * The server that the official conformance suite is run against: its fixtures, on the public API. Tools so far.
 *
 *     node --conditions=@fairlead/source conformance/everything-server.ts [port]
 */
import { NodeRuntime } from "@effect/platform-node"
import { NodeMcpEndpoint } from "@fairlead/node"
import { Content, Tool } from "@fairlead/protocol"
import { Invocation, McpEndpoint, McpServer } from "@fairlead/server"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

const bytes = (base64: string) => Result.getOrThrow(Base64.decode(base64))

// A PNG of one pixel and a WAV of no samples.
const png = bytes(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
const wav = bytes("UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=")

const content = (name: string, description: string, blocks: ReadonlyArray<Content.Block>) =>
  McpServer.tool(Tool.make(name, { description }), () => Effect.succeed(blocks))

const fixtures = Layer.mergeAll(
  content("test_simple_text", "Answers with a text.", [
    Content.text("This is a simple text response for testing.")
  ]),
  content("test_image_content", "Answers with an image.", [Content.image(png, "image/png")]),
  content("test_audio_content", "Answers with a recording.", [Content.audio(wav, "audio/wav")]),
  content("test_embedded_resource", "Answers with a resource.", [
    Content.embeddedResource({
      uri: "test://embedded-resource",
      mimeType: "text/plain",
      text: "This is an embedded resource content."
    })
  ]),
  content("test_multiple_content_types", "Answers with several kinds of content.", [
    Content.text("Multiple content types test:"),
    Content.image(png, "image/png"),
    Content.embeddedResource({
      uri: "test://mixed-content-resource",
      mimeType: "application/json",
      text: JSON.stringify({ test: "data", value: 123 })
    })
  ]),
  content("test_logging_tool", "Answers; logs nothing unless asked to.", [Content.text("Done.")]),
  content("test_streaming_elicitation", "Answers; asks for nothing.", [Content.text("Done.")]),
  McpServer.tool(
    Tool.make("test_error_handling", { description: "Always fails." }),
    () => Effect.fail(Tool.error("This tool intentionally returns an error for testing"))
  ),
  McpServer.tool(
    Tool.make("test_tool_with_progress", { description: "Reports progress three times." }),
    () =>
      Effect.gen(function*() {
        for (const progress of [0, 50, 100]) {
          yield* Invocation.progress({ progress, total: 100, message: `Completed step ${progress} of 100` })
          yield* Effect.sleep("50 millis")
        }
        return [Content.text("Done.")]
      })
  ),
  McpServer.tool(
    Tool.make("test_x_mcp_header", {
      description: "Takes an argument that an HTTP header repeats.",
      input: Schema.Struct({ region: Schema.String.pipe(Tool.header("Region")) })
    }),
    ({ region }) => Effect.succeed([Content.text(region)])
  ),
  McpServer.tool(
    Tool.make("test_missing_capability", {
      description: "Needs a client that can sample.",
      requiredCapabilities: { sampling: {} }
    }),
    () => Effect.succeed([Content.text("The client can sample.")])
  ),
  McpServer.tool(
    Tool.make("json_schema_2020_12_tool", {
      description: "Has a hand-written input schema.",
      input: Tool.jsonSchema({
        $schema: "https://json-schema.org/draft/2020-12/schema",
        type: "object",
        $defs: {
          address: {
            $anchor: "addressDef",
            type: "object",
            properties: { street: { type: "string" }, city: { type: "string" } }
          }
        },
        properties: {
          name: { type: "string" },
          address: { $ref: "#/$defs/address" },
          contactMethod: { type: "string", enum: ["phone", "email"] },
          phone: { type: "string" },
          email: { type: "string" }
        },
        allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
        if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
        then: { required: ["phone"] },
        else: { required: ["email"] },
        additionalProperties: false
      })
    }),
    () => Effect.succeed([Content.text("Done.")])
  )
)

export const endpoint = fixtures.pipe(McpEndpoint.serve({ name: "everything-server", version: "0.1.0" }))

if (import.meta.main) {
  NodeRuntime.runMain(NodeMcpEndpoint.launchHttp({ port: Number(process.argv[2] ?? 3001) })(endpoint))
}
