import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { HttpRules, JsonRpc, Revision } from "@fairlead/protocol"

const metaKeys = [
  ["name", true],
  ["a", true],
  ["9", true],
  ["a-b_c.d", true],
  ["com.example/name", true],
  ["com.example/", true],
  ["com/x", true],
  ["c-o-m.ex4mple/a.b", true],
  ["a.b.c.d.e/f", true],
  ["com.example/A_b-c.9", true],
  ["", false],
  ["/name", false],
  [".name", false],
  ["name.", false],
  ["-name", false],
  ["name-", false],
  ["_name", false],
  ["na me", false],
  ["naïve", false],
  ["com.example/name/more", false],
  ["com..example/name", false],
  [".com/name", false],
  ["com./name", false],
  ["4com/name", false],
  ["com.4example/name", false],
  ["com-/name", false],
  ["-com/name", false],
  ["com_x/name", false],
  ["com.example/-name", false],
  ["com.example/name_", false],
  ["com.example/na\nme", false],
  ["name\n", false],
  ["com.exämple/name", false]
] as const

const reserved = [
  ["io.modelcontextprotocol/anything", true],
  ["dev.mcp/x", true],
  ["org.modelcontextprotocol.api/x", true],
  ["com.mcp.tools/x", true],
  ["io.modelcontextprotocol/", true],
  ["progressToken", true],
  ["traceparent", true],
  ["tracestate", true],
  ["baggage", true],
  ["io.modelcontextprotocol/protocolVersion", true],
  ["com.example.mcp/x", false],
  ["com.example.modelcontextprotocol/x", false],
  ["mcp/x", false],
  ["modelcontextprotocol.io/x", false],
  ["com.mcpx/x", false],
  ["mcp", false],
  ["com.mcp", false],
  ["progresstoken", false],
  ["io.github.fairlead/timeout-ms", false]
] as const

describe("Revision", () => {
  it.each(metaKeys)(verifies("META-1")("the _meta key %j has the form of the spec: %s"), (key, expected) => {
    assert.strictEqual(Revision.isMetaKey(key), expected)
  })

  it.each(reserved)(verifies("META-3")("the _meta key %j is reserved: %s"), (key, expected) => {
    assert.strictEqual(Revision.isReservedMetaKey(key), expected)
  })

  it("every key that the revision defines is well-formed and reserved", () => {
    for (const key of Revision.latest.metaKeys) {
      assert.isTrue(Revision.isMetaKey(key), key)
      assert.isTrue(Revision.isReservedMetaKey(key), key)
    }
  })

  it("a key of a hundred thousand characters is judged in linear time", () => {
    assert.isFalse(Revision.isMetaKey(`${"a".repeat(100_000)}!`))
    assert.isFalse(Revision.isMetaKey(`${"a.".repeat(50_000)}!`))
    assert.isFalse(Revision.isMetaKey(`com.example/${"a-".repeat(50_000)}`))
  })

  it.each(
    [
      ["com.example/feature", true],
      ["io.modelcontextprotocol/tasks", true],
      ["com/x", true],
      ["feature", false],
      ["/feature", false],
      ["com.example/", false],
      ["com.example", false],
      ["com.4x/feature", false],
      ["com.example/a/b", false],
      ["", false]
    ] as const
  )(verifies("VER-6", "EXT-1")("the extension identifier %j is legal: %s"), (id, expected) => {
    assert.strictEqual(Revision.isExtensionId(id), expected)
  })

  describe("extend", () => {
    const extension: Revision.Extension = {
      id: "com.example/jobs",
      methods: new Map([
        ["jobs/get", { routingName: "jobId" }],
        ["tools/call", { routingName: "stolen" }]
      ]),
      notifications: new Map([
        ["notifications/jobs", { from: "server", filter: "jobIds" }],
        ["notifications/progress", { from: "client" }]
      ]),
      resultTypes: new Set(["job", "complete"]),
      listenFilters: new Set(["jobIds"]),
      metaKeys: new Set(["com.example/job"])
    }
    const extended = Revision.extend(Revision.latest, extension)

    it(
      verifies("EXT-2")("adds methods, notifications, result types, listen filters, _meta keys and name headers"),
      () => {
        assert.deepStrictEqual(extended.methods.get("jobs/get"), { routingName: "jobId" })
        assert.deepStrictEqual(extended.notifications.get("notifications/jobs"), { from: "server", filter: "jobIds" })
        assert.isTrue(extended.resultTypes.has("job"))
        assert.isTrue(extended.listenFilters.has("jobIds"))
        assert.isTrue(extended.metaKeys.has("com.example/job"))
        assert.deepStrictEqual(HttpRules.requestHeaders("jobs/get", { jobId: "j 1" }, extended), [
          ["mcp-protocol-version", Revision.latest.version],
          ["mcp-method", "jobs/get"],
          ["mcp-name", "j 1"]
        ])
      }
    )

    it("never changes what the revision defines, nor the revision itself", () => {
      assert.strictEqual(extended.version, Revision.latest.version)
      for (const [name, method] of Revision.latest.methods) assert.strictEqual(extended.methods.get(name), method)
      for (const [name, notification] of Revision.latest.notifications) {
        assert.strictEqual(extended.notifications.get(name), notification)
      }
      for (const key of Revision.latest.metaKeys) assert.isTrue(extended.metaKeys.has(key))
      for (const filter of Revision.latest.listenFilters) assert.isTrue(extended.listenFilters.has(filter))
      assert.isFalse(Revision.latest.methods.has("jobs/get"))
      assert.isFalse(Revision.latest.resultTypes.has("job"))
      assert.strictEqual(HttpRules.requestHeaders("jobs/get", { jobId: "j 1" }).length, 2)
    })

    it("an extension that adds nothing changes nothing, and extensions add up", () => {
      assert.deepStrictEqual(Revision.extend(Revision.latest, { id: "com.example/none" }), Revision.latest)
      const both = Revision.extend(extended, {
        id: "com.example/more",
        methods: new Map([["more/get", {}], ["jobs/get", {}]])
      })
      assert.isTrue(both.methods.has("more/get"))
      assert.deepStrictEqual(both.methods.get("jobs/get"), { routingName: "jobId" })
    })
  })

  it("the core has these methods, with these marks", () => {
    const of = (mark: (method: Revision.Method) => unknown) =>
      [...Revision.latest.methods].filter(([, method]) => mark(method)).map(([name]) => name)
    assert.deepStrictEqual(of(() => true), Object.values(Revision.method))
    assert.deepStrictEqual(of((m) => m.routingName), ["tools/call", "resources/read", "prompts/get"])
    assert.deepStrictEqual(of((m) => m.asksForInput), ["tools/call", "resources/read", "prompts/get"])
    assert.deepStrictEqual(of((m) => m.items), [
      "tools/list",
      "resources/list",
      "resources/templates/list",
      "prompts/list"
    ])
    assert.deepStrictEqual(of((m) => m.cacheable), [
      "server/discover",
      "tools/list",
      "resources/list",
      "resources/templates/list",
      "resources/read",
      "prompts/list"
    ])
    assert.deepStrictEqual(of((m) => m.streams), ["subscriptions/listen"])
    assert.deepStrictEqual([...Revision.latest.notifications.keys()], Object.values(Revision.notification))
    assert.deepStrictEqual([...Revision.latest.resultTypes], ["complete", "input_required"])
  })

  it("only the listen notifications have a filter, and each filter has a notification", () => {
    const filters = [...Revision.latest.notifications.values()].flatMap(({ filter }) =>
      filter === undefined ? [] : [filter]
    )
    assert.deepStrictEqual(new Set(filters), Revision.latest.listenFilters)
  })

  it.each(
    [
      [-32700, 400],
      [-32600, 400],
      [-32601, 404],
      [-32602, 200],
      [-32603, 200],
      [-32020, 400],
      [-32021, 400],
      [-32022, 400],
      [1, 200]
    ] as const
  )("the error %s is answered with the status %s", (code, status) => {
    assert.strictEqual(Revision.httpStatusOf(code), status)
  })

  it("the codes are those of JSON-RPC and three of the revision", () => {
    const { headerMismatch, missingRequiredClientCapability, unsupportedProtocolVersion, ...rest } = Revision.codes
    assert.deepStrictEqual(rest, JsonRpc.codes)
    assert.deepStrictEqual([headerMismatch, missingRequiredClientCapability, unsupportedProtocolVersion], [
      -32020,
      -32021,
      -32022
    ])
  })
})
