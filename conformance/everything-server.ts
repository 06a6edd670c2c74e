/**
 * The server that the official conformance suite is run against: its fixtures, on the public API.
 *
 *     node --conditions=@fairlead/source conformance/everything-server.ts [port]
 */
import { NodeRuntime } from "@effect/platform-node"
import { NodeMcpEndpoint } from "@fairlead/node"
import { Content, Prompt, Resource, Tool } from "@fairlead/protocol"
import { Input, Invocation, McpEndpoint, McpServer } from "@fairlead/server"
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
  McpServer.tool(
    Tool.make("test_logging_tool", { description: "Logs, to clients that ask for it." }),
    () => Effect.as(Invocation.log("info", "A message."), [Content.text("Done.")])
  ),
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

const name = Schema.Struct({ name: Schema.String })

/** Whatever the user did, the tool says so. */
const orSay = <R>(
  self: Effect.Effect<ReadonlyArray<Content.Block>, Input.Declined | Input.Dismissed, R>
): Effect.Effect<ReadonlyArray<Content.Block>, never, R> =>
  Effect.catchTags(self, {
    Declined: () => Effect.succeed([Content.text("Declined.")]),
    Dismissed: () => Effect.succeed([Content.text("Dismissed.")])
  })

const capital = {
  messages: [{ role: "user", content: { type: "text", text: "What is the capital of France?" } }],
  maxTokens: 100
}

const asking = Layer.mergeAll(
  McpServer.tool(
    Tool.make("test_input_required_result_elicitation", { description: "Asks for a name." }),
    () =>
      Input.form("user_name", { message: "What is your name?", schema: name }).pipe(
        Effect.map((answer) => [Content.text(`Hello, ${answer.name}!`)]),
        orSay
      )
  ),
  McpServer.tool(
    Tool.make("test_input_required_result_sampling", { description: "Asks a language model." }),
    () =>
      Effect.map(Input.sample("capital_question", capital), (answer) => [
        Content.text(`The model said: ${JSON.stringify(answer.content)}`)
      ])
  ),
  McpServer.tool(
    Tool.make("test_input_required_result_list_roots", { description: "Asks for the roots." }),
    () => Effect.map(Input.roots("client_roots"), (roots) => [Content.text(roots.map((root) => root.uri).join("\n"))])
  ),
  ...["test_input_required_result_request_state", "test_input_required_result_tampered_state"].map((tool) =>
    McpServer.tool(
      Tool.make(tool, { description: "Asks for a confirmation, with a state." }),
      () =>
        Input.form("confirm", { message: "Please confirm.", schema: Schema.Struct({ ok: Schema.Boolean }) }).pipe(
          Effect.as([Content.text("state-ok")]),
          orSay
        )
    )
  ),
  McpServer.tool(
    Tool.make("test_input_required_result_multiple_inputs", { description: "Asks for several things." }),
    () =>
      Input.all({
        user_name: Input.form("user_name", { message: "What is your name?", schema: name }),
        capital_question: Input.sample("capital_question", capital),
        client_roots: Input.roots("client_roots")
      }).pipe(
        Effect.map((answers) => [Content.text(`Hello, ${answers.user_name.name}!`)]),
        orSay
      )
  ),
  McpServer.tool(
    Tool.make("test_input_required_result_multi_round", { description: "Asks twice." }),
    () =>
      Effect.gen(function*() {
        const first = yield* Input.form("step1", { message: "Step 1: What is your name?", schema: name })
        const color = yield* Input.form("step2", {
          message: "Step 2: What is your favorite color?",
          schema: Schema.Struct({ color: Schema.String })
        })
        return [Content.text(`${first.name} likes ${color.color}.`)]
      }).pipe(orSay)
  ),
  McpServer.tool(
    Tool.make("test_input_required_result_capabilities", { description: "Asks for what the client can answer." }),
    () =>
      Effect.gen(function*() {
        const { clientCapabilities } = yield* Invocation.Invocation
        if (clientCapabilities.elicitation !== undefined) {
          yield* Input.form("user_name", { message: "What is your name?", schema: name })
        }
        if (clientCapabilities.sampling !== undefined) yield* Input.sample("capital_question", capital)
        if (clientCapabilities.roots !== undefined) yield* Input.roots("client_roots")
        return [Content.text("Done.")]
      }).pipe(orSay)
  ),
  McpServer.prompt(
    Prompt.make("test_input_required_result_prompt", { description: "Asks for a context." }),
    () =>
      Input.form("user_context", {
        message: "What context should the prompt use?",
        schema: Schema.Struct({ context: Schema.String })
      }).pipe(
        Effect.map(({ context }) => `The context: ${context}`),
        Effect.catchTags({
          Declined: () => Effect.succeed("No context."),
          Dismissed: () => Effect.succeed("No context.")
        })
      )
  )
)

const resources = Layer.mergeAll(
  McpServer.resource(
    Resource.make("test://static-text", { name: "static-text", description: "A text.", mimeType: "text/plain" }),
    () => Effect.succeed("This is the content of the static text resource.")
  ),
  McpServer.resource(
    Resource.make("test://static-binary", { name: "static-binary", description: "An image.", mimeType: "image/png" }),
    () => Effect.succeed(png)
  ),
  McpServer.resourceTemplate(
    Resource.template("test://template/{id}/data", {
      name: "template",
      description: "Data by its id.",
      mimeType: "application/json",
      params: Schema.Struct({ id: Schema.String })
    }),
    ({ id }) => Effect.succeed(JSON.stringify({ id, data: `Data for ID: ${id}` }))
  )
)

const prompts = Layer.mergeAll(
  McpServer.prompt(
    Prompt.make("test_simple_prompt", { description: "A prompt without arguments." }),
    () => Effect.succeed("This is a simple prompt for testing.")
  ),
  McpServer.prompt(
    Prompt.make("test_prompt_with_arguments", {
      description: "A prompt with arguments.",
      args: Schema.Struct({
        arg1: Schema.String.annotate({ description: "The first argument." }),
        arg2: Schema.String.annotate({ description: "The second argument." })
      })
    }),
    ({ arg1, arg2 }) => Effect.succeed(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`),
    {
      complete: {
        arg1: (value) => Effect.succeed(["testing", "test1", "other"].filter((word) => word.startsWith(value)))
      }
    }
  ),
  McpServer.prompt(
    Prompt.make("test_prompt_with_embedded_resource", {
      description: "A prompt with a resource.",
      args: Schema.Struct({ resourceUri: Schema.String })
    }),
    ({ resourceUri }) =>
      Effect.succeed([
        Prompt.user(Content.embeddedResource({
          uri: resourceUri,
          mimeType: "text/plain",
          text: "Embedded resource content for testing."
        })),
        Prompt.user("Please process the embedded resource above.")
      ])
  ),
  McpServer.prompt(
    Prompt.make("test_prompt_with_image", { description: "A prompt with an image." }),
    () => Effect.succeed([Prompt.user(Content.image(png, "image/png")), Prompt.user("Please look at the image.")])
  )
)

/** Tools that change what the server offers, so that listeners hear of it. */
const changes = Layer.mergeAll(
  McpServer.tool(
    Tool.make("test_trigger_tool_change", { description: "Changes the list of tools." }),
    () =>
      toggle(McpServer.toolHandler(
        Tool.make("test_added_tool", { description: "Comes and goes." }),
        () => Effect.succeed([Content.text("Done.")])
      ))
  ),
  McpServer.tool(
    Tool.make("test_trigger_prompt_change", { description: "Changes the list of prompts." }),
    () =>
      toggle(McpServer.promptHandler(
        Prompt.make("test_added_prompt", { description: "Comes and goes." }),
        () => Effect.succeed("Done.")
      ))
  )
)

const toggle = (handler: McpServer.Handler<never>) =>
  Effect.gen(function*() {
    const server = yield* McpServer.McpServer
    if (!(yield* server.unregister(handler.kind, handler.name))) yield* Effect.orDie(server.register(handler))
    return [Content.text("Changed.")]
  })

export const endpoint = Layer.mergeAll(fixtures, asking, resources, prompts, changes).pipe(
  McpEndpoint.serve({ name: "everything-server", version: "0.1.0", logging: true })
)

if (import.meta.main) {
  NodeRuntime.runMain(NodeMcpEndpoint.launchHttp({ port: Number(process.argv[2] ?? 3001) })(endpoint))
}
