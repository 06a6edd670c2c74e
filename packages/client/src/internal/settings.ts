/**
 * The settings of a client, checked.
 */
import { ClientCapabilities, Implementation } from "@fairlead/protocol/Capabilities"
import type * as Json from "@fairlead/protocol/Json"
import { InvalidConfig } from "@fairlead/protocol/Transport"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as SchemaParser from "effect/SchemaParser"
import type { Options } from "../McpClient.ts"
import type { Core } from "./core.ts"
import { describe } from "./issues.ts"
import { version } from "./version.ts"

export type Settings = Pick<Core, "info" | "capabilities" | "timeout" | "maxPages" | "maxItems" | "label">

const encodeInfo = SchemaParser.encodeUnknownResult(Implementation)
const encodeCapabilities = SchemaParser.encodeUnknownResult(ClientCapabilities)

export const settingsOf = (options: Options): Result.Result<Settings, InvalidConfig> => {
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
  return Result.succeed({
    info: info.success as Json.Object,
    capabilities: capabilities.success as Json.Object,
    timeout,
    maxPages,
    maxItems,
    label: options.label
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
