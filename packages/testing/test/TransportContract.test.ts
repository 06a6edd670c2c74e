import { afterAll, describe, expect, it } from "@effect/vitest"
import { type Json, JsonRpc, Transport } from "@fairlead/protocol"
import { InProcess } from "@fairlead/server"
import { ContractServer, TransportContract } from "@fairlead/testing"
import { Effect, Layer, Semaphore } from "effect"
import { type Faults, toEndpoint, toRawPeer } from "./support/memoryTransport.ts"

type Service = Transport.Transport["Service"]
type Send = Service["send"]

const inProcess = ({ maxResponseBytes }: TransportContract.Limits) =>
  InProcess.layer({ maxResponseLength: maxResponseBytes }).pipe(Layer.provide(ContractServer.layer))

const rawOfInProcess = "the peer is always an endpoint of ours, which keeps to the protocol"

TransportContract.suite("InProcess", {
  channel: "shared",
  server: inProcess,
  resources: () => process.getActiveResourcesInfo(),
  notApplicable: { raw: rawOfInProcess, unreachable: "the peer is in the same process" }
}, { afterAll, describe, it })

const memory = (faults: Faults = {}): TransportContract.Subject => ({
  channel: "shared",
  server: ({ maxResponseBytes }) => toEndpoint(maxResponseBytes, faults).pipe(Layer.provide(ContractServer.layer)),
  raw: ({ maxResponseBytes }) => toRawPeer(maxResponseBytes, faults),
  notApplicable: { unreachable: "the peer is in the same process" }
})

TransportContract.suite("a transport of a user's own", memory(), { afterAll, describe, it })

/** Runs the suite without a runner: the ids of the cases that fail. */
const failuresOf = async (subject: TransportContract.Subject): Promise<ReadonlyArray<string>> => {
  const tests: Array<readonly [title: string, body: () => Promise<void>]> = []
  const closers: Array<() => Promise<void>> = []
  const collect = (title: string, body: () => Promise<void>) => {
    tests.push([title, body])
  }
  TransportContract.suite("collected", subject, {
    describe: (_, body) => body(),
    it: Object.assign(collect, { skip: () => {} }),
    afterAll: (body) => closers.push(body)
  })
  const failed: Array<string> = []
  for (const [title, body] of tests) {
    const id = TransportContract.cases.find((one) => one.title === title)!.id
    await body().catch(() => failed.push(id))
  }
  await Promise.all(closers.map((close) => close()))
  return failed
}

/** A subject whose calls hang: its cases need not wait for long. */
const hanging = (subject: TransportContract.Subject): TransportContract.Subject => ({
  ...subject,
  caseTimeout: "500 millis"
})

/** The in-process transport with another way of sending. */
const wrong = (change: (inner: Service) => Send): TransportContract.Subject => ({
  channel: "shared",
  server: (limits) =>
    Layer.effect(Transport.Transport, Effect.map(Transport.Transport, (inner) => ({ ...inner, send: change(inner) })))
      .pipe(Layer.provide(inProcess(limits))),
  notApplicable: { raw: rawOfInProcess, unreachable: "the peer is in the same process" }
})

describe("a wrong transport is caught", () => {
  it("that never says that a request may have left", async () => {
    const failed = await failuresOf(wrong((inner) => (request) => inner.send({ ...request, sent: () => {} })))
    expect(failed).toEqual(expect.arrayContaining(["sent-once", "deadline-after", "token", "close-in-flight"]))
    expect(failed).not.toContain("sequence")
  })

  it("that says so again and again", async () => {
    const failed = await failuresOf(wrong((inner) => (request) => {
      const sent = () => {
        request.sent()
        request.sent()
      }
      return inner.send({ ...request, sent })
    }))
    expect(failed).toEqual(["sent-once"])
  })

  it("that does not cancel at the server", async () => {
    const failed = await failuresOf(hanging(wrong((inner) => (request) =>
      Effect.callback((resume) => {
        Effect.runFork(inner.send(request)).addObserver(resume)
      })
    )))
    expect(failed).toEqual(
      expect.arrayContaining(["interruption", "token", "abort-signal", "timeout", "close-of-one-client", "leaks"])
    )
  })

  it("that takes 1 for \"1\"", async () => {
    const failed = await failuresOf(hanging(wrong((inner) => (request) => {
      const id = Number(request.id)
      if (typeof request.id !== "string" || !Number.isInteger(id) || request.id === "") return inner.send(request)
      const text = JsonRpc.encodeRequest(id, request.method, request.params)
      return inner.send({ ...request, id, text })
    })))
    expect(failed).toContain("ids")
  })

  it("that rounds numbers", async () => {
    const rounded = (value: Json.Value): Json.Value => JSON.parse(JSON.stringify(value)) as Json.Value
    const failed = await failuresOf(
      wrong((inner) => (request) =>
        Effect.map(inner.send(request), (incoming) =>
          incoming.response._tag === "Success"
            ? { response: { ...incoming.response, result: rounded(incoming.response.result) as Json.Object } }
            : incoming)
      )
    )
    expect(failed).toEqual(["numbers"])
  })

  it("that loses progress, or delivers it in another order", async () => {
    const lost = await failuresOf(wrong((inner) => (request) => inner.send({ ...request, notify: () => {} })))
    expect(lost).toEqual(["progress", "progress-of-two"])
    const shuffled = await failuresOf(wrong((inner) => (request) => {
      const waiting: Array<JsonRpc.Notification> = []
      return Effect.tap(
        inner.send({ ...request, notify: (one) => waiting.unshift(one) }),
        () => Effect.sync(() => waiting.forEach(request.notify))
      )
    }))
    expect(shuffled).toEqual(["progress", "progress-of-two"])
  })

  it("that sends one request at a time", async () => {
    const queue = Effect.runSync(Semaphore.make(1))
    const failed = await failuresOf(hanging(wrong((inner) => (request) => queue.withPermits(1)(inner.send(request)))))
    expect(failed).toContain("out-of-order")
  })

  it("that counts its limit wrongly by one", async () => {
    const off = (by: number): TransportContract.Subject => ({
      channel: "shared",
      server: ({ maxResponseBytes }) => inProcess({ maxResponseBytes: maxResponseBytes + by }),
      notApplicable: { raw: rawOfInProcess, unreachable: "the peer is in the same process" }
    })
    expect(await failuresOf(off(-1))).toEqual(["limit-exact", "limit-over"])
    expect(await failuresOf(off(1))).toEqual(["limit-over"])
  })

  it("that says that nothing was sent when the connection breaks", async () => {
    const failed = await failuresOf(hanging(memory({ claimsNotSent: true })))
    expect(failed).toEqual(expect.arrayContaining(["closed-before-answer", "closed-midway", "close-of-the-transport"]))
  })

  it("that matches ids without their type, fails on noise, or waits where the answer is broken", async () => {
    expect(await failuresOf(hanging(memory({ looseIds: true })))).toEqual(
      expect.arrayContaining(["ids", "stray-id-of-another-type"])
    )
    expect(await failuresOf(hanging(memory({ failsOnNoise: true })))).toEqual(
      expect.arrayContaining(["noise", "stray-not-json"])
    )
    expect(await failuresOf(hanging(memory({ waitsForBetter: true })))).toEqual(
      expect.arrayContaining(["broken-no-version", "broken-result-and-error"])
    )
  })

  it("that gives progress to the wrong call", async () => {
    expect(await failuresOf(hanging(memory({ broadcasts: true })))).toEqual(
      expect.arrayContaining(["progress-of-two", "foreign-progress"])
    )
  })

  it("whose cases that cannot occur have no reason, or stand for nothing", async () => {
    const { notApplicable: _, ...subject } = wrong((inner) => inner.send)
    await expect(failuresOf(subject)).rejects.toThrow("the case unreachable needs unreachable, or a reason")
    const both = { raw: "r", unreachable: "u" }
    await expect(failuresOf({ ...subject, notApplicable: { ...both, nothing: "n" } })).rejects.toThrow("names no case")
    await expect(failuresOf({ ...subject, notApplicable: { ...both, raw: " " } })).rejects.toThrow("gives no reason")
  })
})
