/**
 * What every transport must do, as a suite of tests: order, concurrency, evidence, deadlines, cancellation, limits,
 * malformed answers, progress, close and leaks. It is a function of a transport, and registers its tests with whatever
 * runner you give it: `@effect/vitest`, `vitest` and `node:test` all fit.
 *
 * The transport is connected twice: to an endpoint of `ContractServer.layer`, which keeps to the protocol, and to a
 * `RawPeer`, which does not.
 *
 * @since 0.1.0
 */
import type { Transport } from "@fairlead/protocol/Transport"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as bounds from "./internal/contract/bounds.ts"
import * as calls from "./internal/contract/calls.ts"
import * as closing from "./internal/contract/closing.ts"
import * as context from "./internal/contract/context.ts"
import { type Case, connect, type Connection, type Environment, maxResponseBytes } from "./internal/contract/harness.ts"
import * as limits from "./internal/contract/limits.ts"
import * as malformed from "./internal/contract/malformed.ts"
import type { ChannelKind } from "./RawPeer.ts"

/**
 * What a transport under test has to be made with.
 *
 * @category options
 * @since 0.1.0
 */
export interface Limits {
  /** The largest answer that it takes, in bytes. */
  readonly maxResponseBytes: number
}

/**
 * A transport, connected in the ways that the suite needs. The layers are built afresh for each connection.
 *
 * @category options
 * @since 0.1.0
 */
export interface Subject {
  /** Whether each request has an answer of its own, as in HTTP, or ids tell the answers of one channel apart. */
  readonly channel: ChannelKind
  /** The transport, connected to an endpoint of `ContractServer.layer`. */
  readonly server: (limits: Limits) => Layer.Layer<Transport, unknown>
  /** The transport, connected to a `RawPeer`. Default: none, and its cases have to stand in `notApplicable`. */
  readonly raw?: ((limits: Limits) => Layer.Layer<Transport, unknown>) | undefined
  /** The transport, pointed at nothing. Default: none, and its cases have to stand in `notApplicable`. */
  readonly unreachable?: Layer.Layer<Transport, unknown> | undefined
  /**
   * Cases that cannot occur, by id or by what they need, each with the reason: nothing is skipped in silence. A name
   * that is not one of a case, and a case that has neither what it needs nor a reason, fail the suite.
   */
  readonly notApplicable?: { readonly [caseOrNeed: string]: string } | undefined
  /**
   * What the process holds open, as `process.getActiveResourcesInfo` tells it, for the case that looks for leaks.
   * Default: nothing is seen but fibers and requests.
   */
  readonly resources?: (() => ReadonlyArray<string>) | undefined
  /** How long one case may take, in real time. Default: 20 seconds. */
  readonly caseTimeout?: Duration.Input | undefined
}

/**
 * What the suite needs of a test runner.
 *
 * @category options
 * @since 0.1.0
 */
export interface Runner {
  readonly describe: (name: string, body: () => void) => unknown
  readonly it:
    & ((name: string, body: () => Promise<void>) => unknown)
    & { readonly skip: (name: string, body: () => Promise<void>) => unknown }
  readonly afterAll: (body: () => Promise<void>) => unknown
}

/**
 * A case of the suite.
 *
 * @category models
 * @since 0.1.0
 */
export interface ContractCase {
  /** A stable name, for `Subject.notApplicable`. */
  readonly id: string
  readonly title: string
  /** What of a {@link Subject} it is run with. */
  readonly needs: "server" | "raw" | "unreachable"
}

const all: ReadonlyArray<Case> = [
  ...calls.cases,
  ...bounds.cases,
  ...limits.cases,
  ...malformed.cases,
  ...context.cases,
  ...closing.cases
]

/**
 * The cases, in the order in which they run.
 *
 * @category models
 * @since 0.1.0
 */
export const cases: ReadonlyArray<ContractCase> = all

/**
 * Registers the suite for a transport.
 *
 * **Example** (The suite for the in-process transport)
 *
 * ```ts no-run
 * import { InProcess } from "@fairlead/server"
 * import { ContractServer, TransportContract } from "@fairlead/testing"
 * import { Layer } from "effect"
 * import { afterAll, describe, it } from "vitest"
 *
 * TransportContract.suite("InProcess", {
 *   channel: "shared",
 *   server: ({ maxResponseBytes }) =>
 *     InProcess.layer({ maxResponseLength: maxResponseBytes }).pipe(Layer.provide(ContractServer.layer)),
 *   notApplicable: {
 *     raw: "the peer is always an endpoint",
 *     unreachable: "the peer is in the same process"
 *   }
 * }, { afterAll, describe, it })
 * ```
 *
 * @category suites
 * @since 0.1.0
 */
export const suite = (name: string, subject: Subject, { afterAll, describe, it }: Runner): void => {
  const notApplicable = checkReasons(name, subject)
  describe(name, () => {
    const { close, environment } = environmentOf(subject)
    const caseTimeout = Duration.fromInputUnsafe(subject.caseTimeout ?? "20 seconds")
    afterAll(close)
    for (const one of all) {
      const reason = notApplicable.get(one.id)
      if (reason === undefined) it(one.title, () => run(one, environment, caseTimeout))
      else it.skip(`${one.title} [not applicable: ${reason}]`, () => Promise.resolve())
    }
  })
}

/** The reasons by case; throws where one is missing, or stands for nothing. */
const checkReasons = (name: string, subject: Subject): ReadonlyMap<string, string> => {
  const given = subject.notApplicable ?? {}
  const has = { server: true, raw: subject.raw !== undefined, unreachable: subject.unreachable !== undefined }
  const reasons = new Map<string, string>()
  for (const { id, needs } of all) {
    const reason = given[id] ?? (has[needs] ? undefined : given[needs])
    if (reason !== undefined) reasons.set(id, reason)
    else if (!has[needs]) throw new Error(`${name}: the case ${id} needs ${needs}, or a reason in notApplicable`)
  }
  for (const [key, reason] of Object.entries(given)) {
    const isNeed = (key === "raw" || key === "unreachable") && !has[key]
    if (!isNeed && !all.some(({ id }) => id === key)) throw new Error(`${name}: notApplicable names no case: ${key}`)
    if (reason.trim() === "") throw new Error(`${name}: notApplicable gives no reason for ${key}`)
  }
  return reasons
}

const run = (one: Case, environment: Environment, caseTimeout: Duration.Duration): Promise<void> =>
  Effect.runPromise(
    Effect.scoped(one.run(environment)).pipe(
      Effect.timeoutOrElse({
        duration: caseTimeout,
        orElse: () => Effect.die(new Error(`The case ${one.id} did not end within ${Duration.format(caseTimeout)}`))
      })
    )
  )

const missing = Effect.die(new Error("The subject has no such connection"))

const environmentOf = (subject: Subject): {
  readonly environment: Environment
  readonly close: () => Promise<void>
} => {
  const limits: Limits = { maxResponseBytes }
  const scope = Scope.makeUnsafe()
  let shared: Promise<Connection> | undefined
  const freshServer = Effect.suspend(() => connect(subject.server(limits), { checked: true }))
  return {
    environment: {
      channel: subject.channel,
      server: Effect.promise(() => shared ??= Effect.runPromise(Scope.provide(freshServer, scope))),
      freshServer,
      freshRaw: Effect.suspend(() =>
        subject.raw === undefined ? missing : connect(subject.raw(limits), { checked: false })
      ),
      unreachable: subject.unreachable ?? Layer.effectContext(missing),
      resources: subject.resources ?? (() => [])
    },
    close: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}
