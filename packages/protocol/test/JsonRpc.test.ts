import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Json, JsonRpc } from "@fairlead/protocol"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { almostJson, decimalText } from "./support/arbitraries.ts"
import { failure, success } from "./support/results.ts"

const exactId = Arbitrary.map(
  Arbitrary.schema(Schema.BigInt),
  (n) => new Json.ExactNumber(String(n < 0n ? n - 2n ** 60n : n + 2n ** 60n))
)
const ids = Arbitrary.map(
  Arbitrary.all([
    Arbitrary.schema(Schema.String),
    Arbitrary.schema(Schema.Int),
    exactId,
    Arbitrary.schema(Schema.Literals([0, 1, 2]))
  ]),
  ([string, integer, exact, which]): JsonRpc.RequestId => which === 0 ? string : which === 1 ? integer : exact
)
const objects = Schema.Record(Schema.String, Schema.Json)

const same = (actual: unknown, expected: unknown) =>
  assert.strictEqual(Json.stringify(actual), Json.stringify(expected))

describe("JsonRpc", () => {
  describe("ids", () => {
    it.each([
      "0",
      "-1",
      "1",
      "\"\"",
      "\"1\"",
      "\"é\"",
      "9007199254740991",
      "9007199254740993",
      "-123456789012345678901234567890"
    ])(
      "the id %s keeps its type and value",
      (id) => {
        const message = success(JsonRpc.decode(`{"jsonrpc":"2.0","id":${id},"method":"m"}`))
        assert.strictEqual(message._tag, "Request")
        const request = message as JsonRpc.Request
        assert.isTrue(JsonRpc.isRequestId(request.id))
        assert.strictEqual(JsonRpc.encodeResult(request.id, "{}"), `{"jsonrpc":"2.0","id":${id},"result":{}}`)
        assert.strictEqual(
          JsonRpc.encodeRequest(request.id, "m", {}),
          `{"jsonrpc":"2.0","id":${id},"method":"m","params":{}}`
        )
      }
    )

    it.each([
      "null",
      "1.5",
      "true",
      "false",
      "{}",
      "[]",
      "1e400",
      "0.10000000000000000000000001",
      "{\"~fairlead/protocol/Json/ExactNumber\":1,\"source\":\"1\"}"
    ])(verifies("BASE-4")("a request with the id %s is refused, not taken for a notification"), (id) => {
      const invalid = failure(JsonRpc.decode(`{"jsonrpc":"2.0","id":${id},"method":"m"}`))
      assert.strictEqual(invalid.error.code, -32600)
      assert.strictEqual(invalid.id, undefined)
    })

    it("the same number as text and as number are different keys", () => {
      const keys = [1, "1", "\"1", new Json.ExactNumber("9007199254740993"), "9007199254740993", "", 0, "0", -1].map(
        JsonRpc.idKey
      )
      assert.strictEqual(new Set(keys).size, keys.length)
      assert.strictEqual(
        JsonRpc.idKey(new Json.ExactNumber("90071992547409930")),
        JsonRpc.idKey(new Json.ExactNumber("90071992547409930"))
      )
    })

    it.prop("ids of different type or value have different keys", [ids, ids], ([a, b]) => {
      assert.strictEqual(JsonRpc.idKey(a) === JsonRpc.idKey(b), JSON.stringify(a) === JSON.stringify(b))
    })
  })

  describe("round trips", () => {
    it.prop("a request", [ids, Schema.String, objects], ([id, method, params]) => {
      same(success(JsonRpc.decode(JsonRpc.encodeRequest(id, method, params), 1000)), {
        _tag: "Request",
        id,
        method,
        params
      })
    })

    it.prop("a notification", [Schema.String, objects], ([method, params]) => {
      same(success(JsonRpc.decode(JsonRpc.encodeNotification(method, params), 1000)), {
        _tag: "Notification",
        method,
        params
      })
    })

    it.prop("a result", [ids, objects], ([id, result]) => {
      same(success(JsonRpc.decode(JsonRpc.encodeResult(id, Json.stringify(result)), 1000)), {
        _tag: "Success",
        id,
        result
      })
    })

    it.prop(
      verifies("BASE-11")("an error repeats the id of its request, or omits one that could not be read"),
      [ids, Schema.Int, Schema.String, Schema.Json, Schema.Boolean],
      ([id, code, message, data, readable]) => {
        const error = { code, message, data }
        const text = JsonRpc.encodeError(readable ? id : undefined, error)
        assert.strictEqual("id" in JSON.parse(text), readable)
        same(
          success(JsonRpc.decode(text, 1000)),
          readable ? { _tag: "Failure", id, error } : { _tag: "Failure", error }
        )
      }
    )

    it.prop("numbers in params, results and error data keep their digits", [decimalText], ([number]) => {
      const value = { n: success(Json.parse(number)) }
      const written = Json.stringify(value)
      for (
        const text of [
          JsonRpc.encodeRequest(1, "m", value),
          JsonRpc.encodeNotification("m", value),
          JsonRpc.encodeResult(1, written),
          JsonRpc.encodeError(1, { code: 1, message: "", data: value })
        ]
      ) {
        assert.include(text, written)
        const { _tag, ...message } = success(JsonRpc.decode(text)) as JsonRpc.Message & {
          readonly [key: string]: unknown
        }
        assert.include(Json.stringify(message), written)
      }
    })

    it.prop(
      verifies("STDIO-2")("an encoded message has no line break"),
      [ids, Schema.String, objects],
      ([id, text, params]) => {
        const value = { ...params, text: `${text}\n\r\u2028` }
        for (
          const message of [
            JsonRpc.encodeRequest(id, text, value),
            JsonRpc.encodeNotification(text, value),
            JsonRpc.encodeError(id, { code: 1, message: text, data: value })
          ]
        ) {
          assert.notMatch(message, /[\r\n]/)
          assert.isTrue(message.isWellFormed())
        }
      }
    )
  })

  describe("refusals", () => {
    it("a text that is not JSON is a parse error without an id", () => {
      for (const text of ["", "{", "nope", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"", "\ufeff{}"]) {
        assert.deepStrictEqual(failure(JsonRpc.decode(text)), {
          id: undefined,
          error: { code: -32700, message: "The text is not valid JSON" }
        })
      }
    })

    it("a text that nests too deep is an invalid request", () => {
      const deep = (levels: number) =>
        `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":${"[".repeat(levels)}${"]".repeat(levels)}}}`
      success(JsonRpc.decode(deep(62)))
      assert.strictEqual(failure(JsonRpc.decode(deep(63))).error.code, -32600)
      assert.strictEqual(failure(JsonRpc.decode(deep(3), 4)).error.code, -32600)
    })

    it("a batch is refused", () => {
      for (const text of ["[]", "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}]"]) {
        const { error, id } = failure(JsonRpc.decode(text))
        assert.strictEqual(id, undefined)
        assert.deepStrictEqual(error, { code: -32600, message: "Batches are not supported: send one message" })
      }
    })

    it.each([
      ["null", undefined],
      ["1", undefined],
      ["\"text\"", undefined],
      ["12345678901234567890", undefined],
      ["{}", undefined],
      ["{\"id\":99,\"method\":\"tools/list\"}", 99],
      ["{\"jsonrpc\":\"1.0\",\"id\":\"a\",\"method\":\"m\"}", "a"],
      ["{\"jsonrpc\":2.0,\"id\":1,\"method\":\"m\"}", 1],
      ["{\"jsonrpc\":\"2.0\",\"id\":1}", 1],
      ["{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":null}", 1],
      ["{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":5}", 1],
      ["{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":[]}", 1],
      ["{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":null}", 1],
      ["{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":12345678901234567890}", 1],
      ["{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":\"p\"}", undefined],
      ["{\"jsonrpc\":\"2.0\",\"result\":{}}", undefined],
      ["{\"jsonrpc\":\"2.0\",\"id\":null,\"result\":{}}", undefined],
      ["{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":null}", 1],
      ["{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":[]}", 1],
      ["{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"text\"}", 1],
      ["{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\"error\":{\"code\":1,\"message\":\"\"}}", 1],
      ["{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":null}", 1],
      ["{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{}}", 1],
      ["{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1.5,\"message\":\"\"}}", 1],
      ["{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":\"1\",\"message\":\"\"}}", 1],
      ["{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1}}", 1],
      ["{\"jsonrpc\":\"2.0\",\"id\":true,\"error\":{\"code\":1,\"message\":\"\"}}", undefined]
    ])("%s is no message, and its id is kept where it can be read", (text, id) => {
      const invalid = failure(JsonRpc.decode(text))
      assert.strictEqual(invalid.error.code, -32600)
      assert.strictEqual(invalid.id, id)
    })
  })

  it("absent parameters are the empty object", () => {
    assert.deepStrictEqual(success(JsonRpc.decode("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}")), {
      _tag: "Request",
      id: 1,
      method: "m",
      params: {}
    })
    assert.deepStrictEqual(success(JsonRpc.decode("{\"jsonrpc\":\"2.0\",\"method\":\"m\"}")), {
      _tag: "Notification",
      method: "m",
      params: {}
    })
  })

  it("an error may have a null id, no id or data of any type", () => {
    for (const id of ["", "\"id\":null,"]) {
      assert.deepStrictEqual(success(JsonRpc.decode(`{"jsonrpc":"2.0",${id}"error":{"code":-32600,"message":"no"}}`)), {
        _tag: "Failure",
        id: undefined,
        error: { code: -32600, message: "no" }
      })
    }
    for (const data of [null, 0, false, "", [], {}]) {
      const message = success(JsonRpc.fromJson({ jsonrpc: "2.0", id: "a", error: { code: 1, message: "", data } }))
      assert.deepStrictEqual((message as JsonRpc.Failure).error.data as unknown, data)
    }
    assert.strictEqual(
      JsonRpc.encodeError(1, { code: 1, message: "", data: undefined }),
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1,\"message\":\"\"}}"
    )
  })

  it("unknown members beside the envelope are ignored", () => {
    assert.strictEqual(
      success(JsonRpc.decode("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"extra\":1}"))._tag,
      "Request"
    )
    assert.strictEqual(
      success(JsonRpc.decode("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\"extra\":1}"))._tag,
      "Success"
    )
  })

  it.prop("nothing that looks like JSON throws", [almostJson], ([text]) => {
    JsonRpc.decode(text)
    JsonRpc.decode(`{${text}}`)
  }, { arbitrary: { runs: 500 } })

  it.prop("no JSON value throws", [Schema.Json, Schema.Json, Schema.Json], ([id, method, rest]) => {
    JsonRpc.fromJson(id as Json.Value)
    JsonRpc.fromJson({ jsonrpc: "2.0", id: id as Json.Value, method: method as Json.Value, params: rest as Json.Value })
    JsonRpc.fromJson({ jsonrpc: "2.0", id: id as Json.Value, result: rest as Json.Value })
    JsonRpc.fromJson({
      jsonrpc: "2.0",
      id: id as Json.Value,
      error: { code: method as Json.Value, message: rest as Json.Value }
    })
  })
})
