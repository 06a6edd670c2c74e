/**
 * The settings of a client, checked.
 */
import { ClientCapabilities, Implementation } from "@fairlead/protocol/Capabilities"
import * as Json from "@fairlead/protocol/Json"
import { InvalidConfig } from "@fairlead/protocol/Transport"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as SchemaParser from "effect/SchemaParser"
import type { InputMethod } from "../InputHandlers.ts"
import type { CacheOptions, Options } from "../McpClient.ts"
import { Cache } from "./cache.ts"
import type { Core } from "./core.ts"
import type { Handlers } from "./inputAnswers.ts"
import { describe } from "./issues.ts"
import { fixedMeta } from "./requestMeta.ts"
import { version } from "./version.ts"

export type Settings = Omit<Core, "transport" | "clock" | "live" | "closed">

const encodeInfo = SchemaParser.encodeUnknownResult(Implementation)
const encodeCapabilities = SchemaParser.encodeUnknownResult(ClientCapabilities)

export const settingsOf = (
  options: Options,
  handlers: Handlers | undefined
): Result.Result<Settings, InvalidConfig> => {
  const info = encodeInfo(options.info ?? { name: "fairlead", version })
  if (Result.isFailure(info)) return invalid("info", describe("info", info.failure))
  const capabilities = encodeCapabilities(options.capabilities ?? {})
  if (Result.isFailure(capabilities)) return invalid("capabilities", describe("capabilities", capabilities.failure))
  const timeout = durationOf(options.timeout, 30_000)
  if (timeout === undefined) return invalid("timeout", "it is not a duration of more than 0 milliseconds")
  const maxPages = options.maxPages ?? 256
  if (!isCount(maxPages)) return invalid("maxPages", "it is not an integer of 1 or more")
  const maxItems = options.maxItems ?? 10_000
  if (!isCount(maxItems)) return invalid("maxItems", "it is not an integer of 1 or more")
  const maxInputRounds = options.maxInputRounds ?? 10
  if (!isCount(maxInputRounds)) return invalid("maxInputRounds", "it is not an integer of 1 or more")
  const cached: CacheOptions = typeof options.cache === "object" ? options.cache : {}
  const maxEntries = cached.maxEntries ?? 256
  if (!isCount(maxEntries)) return invalid("cache", "`maxEntries` is not an integer of 1 or more")
  const methods = options.inputMethods ?? []
  const unknown = methods.find((method) => !Object.hasOwn(implied, method))
  if (unknown !== undefined) return invalid("inputMethods", "it has an unknown method")
  const answered = Object.entries(handlers ?? {}).flatMap(([method, handler]) =>
    handler === undefined ? [] : [method as InputMethod]
  )
  const declared = withImplied(capabilities.success as Json.Object, [...methods, ...answered])
  return Result.succeed({
    capabilities: declared,
    meta: fixedMeta(declared, info.success as Json.Object),
    maxInputRounds,
    handlers,
    timeout,
    maxPages,
    maxItems,
    label: options.label,
    cache: options.cache === undefined || options.cache === false ? undefined : new Cache(maxEntries, cached.context)
  })
}

export const invalid = (field: string, detail: string): Result.Result<never, InvalidConfig> =>
  Result.fail(new InvalidConfig({ field, detail }))

/** An integer of 1 or more. */
export const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 1

/** Milliseconds of a positive duration; `undefined` for anything else. */
export const durationOf = (input: Duration.Input | undefined, fallback: number): number | undefined => {
  if (input === undefined) return fallback
  const millis = Option.getOrUndefined(Option.map(Duration.fromInput(input), Duration.toMillis))
  return millis !== undefined && millis > 0 ? millis : undefined
}

/** The capability that answering a method needs. */
const implied: Readonly<Record<InputMethod, Json.Object>> = {
  form: { elicitation: { form: {} } },
  url: { elicitation: { url: {} } },
  sampling: { sampling: {} },
  roots: { roots: {} }
}

/** What is declared with what is implied; what is declared stays as it is. */
const withImplied = (declared: Json.Object, methods: ReadonlyArray<InputMethod>): Json.Object => {
  if (methods.length === 0) return declared
  // An elicitation declared empty is form mode; beside another mode it has to be spelled out (spec: client/elicitation).
  const { elicitation } = declared
  const spelled = Json.isObject(elicitation) && Object.keys(elicitation).length === 0
    ? { ...declared, elicitation: { form: {} } }
    : declared
  return methods.reduce((all, method) => merge(implied[method], all), spelled)
}

const merge = (self: Json.Object, over: Json.Object): Json.Object => {
  const result: Record<string, Json.Value> = { ...self, ...over }
  for (const [key, value] of Object.entries(self)) {
    const other = over[key]
    if (Json.isObject(value) && Json.isObject(other)) result[key] = merge(value, other)
  }
  return result
}
