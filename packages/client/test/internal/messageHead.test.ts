import { describe, expect, it } from "@effect/vitest"
import * as fc from "fast-check"
import { headOf } from "../../src/internal/messageHead.ts"

describe("the head of a message", () => {
  it.each<readonly [string, Partial<ReturnType<typeof headOf>>]>([
    ["{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"a\":\"", { id: 7, hasMethod: false }],
    ["{ \"id\" : \"a\\\"b\" , \"jsonrpc\":", { id: "a\"b", hasMethod: false }],
    ["{\"result\":{\"id\":8,\"x\":[{\"id\":9}]},\"id\":7,", { id: 7, hasMethod: false }],
    ["{\"result\":{\"id\":8,", { id: undefined, hasMethod: false }],
    ["{\"a\":\"\\\"id\\\":5\",\"id\":7,", { id: 7, hasMethod: false }],
    ["{\"a\":\"id\",\"id\":7,", { id: 7, hasMethod: false }],
    ["{\"id\":12", { id: undefined, hasMethod: false }],
    ["{\"id\":1.5,", { id: undefined, hasMethod: false }],
    ["{\"id\":null,", { id: undefined, hasMethod: false }],
    ["{\"method\":\"notifications/progress\",\"params\":{", { id: undefined, hasMethod: true }],
    ["[{\"id\":7,", { id: undefined, hasMethod: false }],
    ["not json", { id: undefined, hasMethod: false }],
    ["", { id: undefined, hasMethod: false }]
  ])("%s", (text, head) => {
    expect(headOf(text)).toMatchObject(head)
  })

  it("finds the id of any message that is cut after it", () => {
    const id = fc.oneof(fc.integer(), fc.string())
    fc.assert(fc.property(id, fc.json(), fc.nat(), (id, before, keep) => {
      const head = `{"before":${before},"id":${JSON.stringify(id)},`
      const text = `${head}"result":{"id":"other","text":"${"x".repeat(keep % 100)}`
      expect(headOf(text).id).toBe(Object.is(id, -0) ? 0 : id)
    }))
  })

  it("finds the id behind a string of many megabytes", () => {
    const text = `{"result":{"text":"${"x".repeat(12 * 1024 * 1024)}"},"id":"\\u0061","jsonrpc":"2.0"}`
    expect(headOf(text)).toEqual({ id: "a", hasMethod: false, hasVersion: true })
  })

  it("any text is scanned without a throw", () => {
    fc.assert(fc.property(fc.string(), (text) => {
      headOf(text)
    }))
  })
})
