/**
 * `subscriptions/listen`: opening a stream, what comes on it, how it ends, and opening it again.
 */
import * as Call from "@fairlead/protocol/Call"
import type * as Json from "@fairlead/protocol/Json"
import type * as JsonRpc from "@fairlead/protocol/JsonRpc"
import * as Notifications from "@fairlead/protocol/Notification"
import * as Revision from "@fairlead/protocol/Revision"
import * as Timer from "@fairlead/protocol/Timer"
import { Cancelled, InvalidConfig } from "@fairlead/protocol/Transport"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as SchemaParser from "effect/SchemaParser"
import type * as Scope from "effect/Scope"
import * as McpClientError from "../McpClientError.ts"
import * as Subscription from "../Subscription.ts"
import { type Backoff, backoffOf, delayOf } from "./backoff.ts"
import { type Exchange, type Logical, run } from "./exchange.ts"
import { Mailbox } from "./mailbox.ts"
import { isCount } from "./settings.ts"

type Error = McpClientError.McpClientError

const { notification: names } = Revision

/** Opens a stream that lasts as long as the scope. */
export const listen = (
  logical: Logical,
  filter: Subscription.Filter,
  options: Subscription.Options
): Effect.Effect<Subscription.Subscription, Error, Scope.Scope> =>
  Effect.gen(function*() {
    const settings = settingsOf(options)
    if (settings instanceof InvalidConfig) return yield* McpClientError.make(settings, logical.correlation)
    const opened = yield* Deferred.make<void, Error>()
    const listener = new Listener(logical, filter, settings, opened)
    const fiber = yield* Effect.forkScoped(Call.detach(listener.run))
    // Who gives up while it opens leaves nothing behind, though the scope lives on.
    yield* Effect.onError(Deferred.await(opened), () => Fiber.interrupt(fiber))
    return listener
  })

interface Settings {
  readonly bufferSize: number
  readonly reconnect: Backoff | undefined
}

const settingsOf = ({ bufferSize = 1024, reconnect }: Subscription.Options): Settings | InvalidConfig => {
  if (!isCount(bufferSize)) {
    return new InvalidConfig({ field: "bufferSize", detail: "it is not an integer of 1 or more" })
  }
  const backoff = backoffOf("reconnect", reconnect)
  return backoff instanceof InvalidConfig ? backoff : { bufferSize, reconnect: backoff }
}

const decodeAcknowledged = SchemaParser.decodeUnknownResult(Notifications.Acknowledged)

class Listener implements Subscription.Subscription {
  confirmed: Subscription.Filter = {}
  readonly #logical: Logical
  readonly #params: Json.Object
  readonly #settings: Settings
  readonly #opened: Deferred.Deferred<void, Error>
  readonly #mailbox: Mailbox
  #wasOpened = false
  /** The request that opens it. */
  #exchange: Exchange | undefined
  /** When it was opened last. */
  #since: number | undefined

  constructor(
    logical: Logical,
    filter: Subscription.Filter,
    settings: Settings,
    opened: Deferred.Deferred<void, Error>
  ) {
    this.#logical = logical
    this.#params = { notifications: wanted(filter) }
    this.#settings = settings
    this.#opened = opened
    this.#mailbox = new Mailbox(settings.bufferSize)
  }

  get stream(): Subscription.Subscription["stream"] {
    return this.#mailbox.stream
  }

  next(wait: Duration.Input): ReturnType<Subscription.Subscription["next"]> {
    return this.#mailbox.next(wait)
  }

  /** Listens until nothing more can come. */
  get run(): Effect.Effect<void> {
    return this.#attempts(0).pipe(
      Effect.matchCause({
        onSuccess: () => this.#end(Cause.done()),
        onFailure: (cause) => {
          const failure = cause.reasons.find((reason) => reason._tag === "Fail")
          this.#end(Effect.fail(failure?.error ?? this.#cancelled()))
        }
      }),
      Effect.onInterrupt(() => Effect.sync(() => this.#end(Effect.fail(this.#cancelled()))))
    )
  }

  #cancelled(): Error {
    return McpClientError.make(
      new Cancelled({ evidence: this.#wasOpened ? "MaybeSent" : this.#exchange?.evidence ?? "NotSent" }),
      this.#logical.correlation
    )
  }

  #end(ending: Effect.Effect<never, Error | Cause.Done>): void {
    this.#mailbox.end(ending)
    // Where it was opened this changes nothing.
    Deferred.doneUnsafe(this.#opened, Effect.catch(ending, (error) => Effect.fail(error as Error)))
  }

  #attempts(failed: number): Effect.Effect<void, Error> {
    const { reconnect } = this.#settings
    const once = run(this.#logical, (exchange) => this.#once(exchange))
    if (reconnect === undefined) return once
    return Effect.catch(once, (error) =>
      Effect.withFiber((fiber) => {
        const held = this.#since === undefined ? 0 : Timer.now(fiber.context) - this.#since
        this.#since = undefined
        const attempts = held >= reconnect.cap ? 0 : failed
        if (!this.#wasOpened || attempts >= reconnect.attempts || !wasLost(error)) return Effect.fail(error)
        return Effect.flatMap(delayOf(reconnect, attempts), (delay) =>
          Effect.andThen(
            run(this.#logical, () => Effect.sleep(delay), { timeout: Infinity, evidence: "MaybeSent" }),
            this.#attempts(attempts + 1)
          ))
      }))
  }

  /** One stream, from its request to its end. */
  #once(exchange: Exchange): Effect.Effect<void, Error> {
    return Effect.withFiber((fiber) => {
      this.#exchange = exchange
      const stopped = Deferred.makeUnsafe<void, Error>()
      let isOpen = false
      const broken = (detail: string) => Deferred.doneUnsafe(stopped, Effect.fail(exchange.malformed(detail)))
      const notify = ({ method, params }: JsonRpc.Notification, id: JsonRpc.RequestId): void => {
        if (method === names.cancelled) {
          // A server may tear a stream down this way too (spec: basic/patterns/cancellation).
          if (params["requestId"] !== id) return
          const told = logReason(this.#logical.core.label, params["reason"])
          Deferred.doneUnsafe(stopped, isOpen ? told : Effect.andThen(told, Effect.fail(unopened())))
          return
        }
        if (subscriptionOf(params) !== id) {
          if (method === names.acknowledged) broken("the acknowledgement is of another subscription")
          return
        }
        if (method === names.acknowledged) {
          if (isOpen) return
          const decoded = decodeAcknowledged(params)
          if (Result.isFailure(decoded)) return void broken("the acknowledgement has no filter")
          isOpen = true
          exchange.lift()
          this.#open(decoded.success.notifications, Timer.now(fiber.context))
        } else if (!isOpen) broken("a notification came before the acknowledgement")
        else {
          const notification = notificationOf(method, params)
          if (notification !== undefined) this.#tell(notification)
        }
      }
      const unopened = () => exchange.malformed("the stream ended before the acknowledgement")
      const sent = Effect.flatMap(
        exchange.send(Revision.method.listen, this.#params, [], notify),
        () => isOpen ? Effect.void : Effect.fail(unopened())
      )
      return Effect.raceFirst(sent, Deferred.await(stopped))
    })
  }

  #tell(notification: Subscription.Notification): void {
    this.#logical.core.cache?.invalidate(notification)
    this.#mailbox.push(notification)
  }

  #open(confirmed: Subscription.Filter, now: number): void {
    this.confirmed = confirmed
    this.#since = now
    if (this.#wasOpened) this.#tell(new Subscription.Missed())
    this.#wasOpened = true
    Deferred.doneUnsafe(this.#opened, Effect.void)
  }
}

/** What the server says of it, as far as a log can hold it. */
const logReason = (label: string | undefined, reason: Json.Value | undefined): Effect.Effect<void> =>
  Effect.logInfo("The server cancelled a subscription", {
    ...(label === undefined ? {} : { client: label }),
    ...(typeof reason === "string" ? { reason: reason.slice(0, 200) } : {})
  })

/** Whether opening it again can help: not after a deadline, which is the same for every attempt. */
const wasLost = (error: Error): boolean =>
  error.isRetryable({ idempotent: true }) && !(error.reason._tag === "TimedOut" && error.reason.bound === "deadline")

const wanted = (filter: Subscription.Filter): Json.Object =>
  Object.fromEntries(
    Object.entries(filter).filter(([key, value]) => value !== undefined && Revision.latest.listenFilters.has(key))
  )

const subscriptionOf = (params: Json.Object): Json.Value | undefined => {
  const meta = params["_meta"]
  return typeof meta === "object" && meta !== null
    ? (meta as Json.Object)[Revision.meta.subscriptionId]
    : undefined
}

const notificationOf = (method: string, params: Json.Object): Subscription.Notification | undefined => {
  switch (method) {
    case names.toolsListChanged:
      return new Subscription.ToolsListChanged()
    case names.promptsListChanged:
      return new Subscription.PromptsListChanged()
    case names.resourcesListChanged:
      return new Subscription.ResourcesListChanged()
    case names.resourceUpdated: {
      const { uri } = params
      return typeof uri === "string" ? new Subscription.ResourceUpdated({ uri }) : undefined
    }
    default:
      return undefined
  }
}
