/**
 * The connections of a transport: undici's pool for one origin, with the settings checked.
 */
import type * as Undici from "@effect/platform-node/Undici"
import * as McpClientError from "@fairlead/client/McpClientError"
import { InvalidConfig } from "@fairlead/protocol/Transport"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { X509Certificate } from "node:crypto"
import * as Fs from "node:fs"
import type { Options } from "../NodeHttpTransport.ts"
import { filtered } from "./addresses.ts"
import { millisOf, notADuration } from "./millis.ts"

type PoolOptions = Pick<Options, "allowAddress" | "caFile" | "connectTimeout" | "idleTimeout" | "maxConnections">

export interface Pool {
  readonly dispatcher: Undici.Dispatcher
  readonly connectMillis: number
}

export const acquirePool: (
  options: PoolOptions,
  url: URL
) => Effect.Effect<Pool, McpClientError.McpClientError, Scope.Scope> = Effect.fnUntraced(
  function*(options: PoolOptions, url: URL) {
    const { allowAddress, caFile, maxConnections = 256 } = options
    const connectMillis = yield* readMillis("connectTimeout", options.connectTimeout ?? 10_000)
    const idleMillis = yield* readMillis("idleTimeout", options.idleTimeout ?? 4000)
    if (!Number.isSafeInteger(maxConnections) || maxConnections < 1) {
      return yield* invalid("maxConnections", "it is not an integer of 1 or more")
    }
    if (caFile !== undefined && url.protocol !== "https:") return yield* invalid("caFile", "the URL is not https")
    const ca = caFile === undefined ? undefined : yield* readCertificates(caFile)
    // Loaded with the first transport: it takes a while, and who only serves needs none of it.
    const { buildConnector, Pool } = yield* Effect.promise(() => import("@effect/platform-node/Undici"))
    const connect = { allowH2: false, timeout: connectMillis, ...ca === undefined ? {} : { ca } }
    const dispatcher = yield* Effect.acquireRelease(
      Effect.sync(() =>
        new Pool(url.origin, {
          allowH2: false,
          connections: maxConnections,
          keepAliveTimeout: idleMillis,
          keepAliveMaxTimeout: idleMillis,
          connect: allowAddress === undefined
            ? connect
            : filtered(allowAddress, (lookup) => buildConnector({ ...connect, lookup }))
        })
      ),
      (pool) => Effect.promise(() => pool.destroy())
    )
    return { dispatcher, connectMillis }
  }
)

const invalid = (field: string, detail: string) =>
  Effect.fail(McpClientError.make(new InvalidConfig({ field, detail })))

const readMillis = (field: string, input: Duration.Input) => {
  const millis = millisOf(input)
  return millis === undefined ? invalid(field, notADuration) : Effect.succeed(millis)
}

const block = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** Errors name no path: it is the user's. */
const readCertificates = (file: string) =>
  Effect.flatMap(
    Effect.try({ try: () => Fs.readFileSync(file, "utf8"), catch: () => "it cannot be read" }).pipe(
      Effect.flatMap((text) => Effect.try({ try: () => parse(text), catch: () => "a certificate cannot be read" })),
      Effect.result
    ),
    (read) => {
      if (read._tag === "Failure") return invalid("caFile", read.failure)
      return read.success.length === 0 ? invalid("caFile", "it has no certificate") : Effect.succeed(read.success)
    }
  )

const parse = (text: string): Array<string> =>
  Array.from(text.matchAll(block), ([certificate]) => new X509Certificate(certificate).toString())
