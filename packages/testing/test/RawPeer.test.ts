import { describe, expect, it } from "@effect/vitest"
import { JsonRpc } from "@fairlead/protocol"
import { RawPeer, TestRequest, Wire } from "@fairlead/testing"

const call = (name: string, args: object = {}, id: JsonRpc.RequestId = 1) =>
  TestRequest.make("tools/call", { name, arguments: args as never }, { id })

const script = (name: RawPeer.Behaviour, kind: RawPeer.ChannelKind = "exchange") =>
  RawPeer.script(call(name).body, kind)!

const isGood = (text: string) => Wire.check(text, { from: "server", method: "tools/call" }).length === 0

describe("RawPeer.script", () => {
  it("answers rightly when it is told to, and with an error to what it does not know", () => {
    expect(isGood(script("good").texts[0]!)).toBe(true)
    expect(JSON.parse(RawPeer.script(call("missing").body, "exchange")!.texts[0]!)).toMatchObject({
      id: 1,
      error: { code: -32602 }
    })
    expect(RawPeer.script(JsonRpc.encodeNotification("notifications/cancelled", {}), "shared")).toBeUndefined()
    expect(RawPeer.script("no JSON", "shared")).toBeUndefined()
  })

  it("breaks the protocol in every other way", () => {
    const broken: ReadonlyArray<RawPeer.Behaviour> = [
      "not-json",
      "not-an-object",
      "batch",
      "result-without-id",
      "request-from-server",
      "no-version",
      "result-and-error",
      "neither-result-nor-error",
      "result-not-an-object",
      "error-not-an-object",
      "fraction-as-code",
      "content-not-a-list",
      "no-result-type"
    ]
    for (const name of broken) expect([name, isGood(script(name).texts[0]!)]).toEqual([name, false])
  })

  it("gives the right answer after a stray message where ids alone connect the two", () => {
    expect(script("batch", "exchange").texts).toHaveLength(1)
    const [stray, good] = script("batch", "shared").texts
    expect(JSON.parse(stray!)).toEqual([JSON.parse(good!)])
  })

  it("makes answers of exactly the size asked for", () => {
    for (const [bytes, id] of [[200, 1], [1001, "an id"]] as const) {
      const { texts } = RawPeer.script(call("sized", { bytes }, id).body, "exchange")!
      expect(new TextEncoder().encode(texts[0]).length).toBe(bytes)
    }
  })
})

describe("RawPeer.fetch", () => {
  it("answers with a body or with events, and breaks the connection when told to", async () => {
    const whole = await RawPeer.fetch(call("good").toWeb())
    expect(whole.headers.get("content-type")).toBe("application/json")
    expect(isGood(await whole.text())).toBe(true)
    const events = await RawPeer.fetch(call("noise").toWeb())
    expect(events.headers.get("content-type")).toBe("text/event-stream")
    expect((await events.text()).split("\n\n")).toHaveLength(6)
    await expect(RawPeer.fetch(call("close").toWeb())).rejects.toThrow()
    const midway = await RawPeer.fetch(call("close-midway").toWeb())
    await expect(midway.text()).rejects.toThrow()
  })

  it("never answers when told to, until the request is aborted", async () => {
    const controller = new AbortController()
    const silent = RawPeer.fetch(new Request(call("silence").toWeb(), { signal: controller.signal }))
    controller.abort(new Error("enough"))
    await expect(silent).rejects.toThrow("enough")
  })
})

describe("RawPeer.lines", () => {
  it("takes lines and writes lines, however they are cut", () => {
    const written: Array<string> = []
    let closed = 0
    const peer = RawPeer.lines({
      write: (chunk) => written.push(new TextDecoder().decode(chunk)),
      close: () => {
        closed++
      }
    })
    const bytes = new TextEncoder().encode(`${call("good").body}\n${call("noise").body}\n${call("close").body}\n`)
    for (const byte of bytes) peer.feed(Uint8Array.of(byte))
    expect(written.map((text) => text.split("\n").length - 1)).toEqual([1, 5])
    expect(closed).toBe(1)
  })
})
