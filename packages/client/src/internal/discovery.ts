/**
 * `server/discover`.
 */
import * as Messages from "@fairlead/protocol/Messages"
import * as Revision from "@fairlead/protocol/Revision"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as SchemaParser from "effect/SchemaParser"
import type { Discovery } from "../McpClient.ts"
import * as McpClientError from "../McpClientError.ts"
import { type Logical, run } from "./exchange.ts"
import { describe } from "./issues.ts"

const decodeDiscovery = SchemaParser.decodeUnknownResult(Messages.Discover.result)

export const discover = (logical: Logical): Effect.Effect<Discovery, McpClientError.McpClientError> =>
  run(logical, (exchange) =>
    Effect.flatMap(exchange.send(Revision.method.discover, {}, []), ({ result }) => {
      const decoded = decodeDiscovery(result)
      if (Result.isFailure(decoded)) return Effect.fail(exchange.malformed(describe("result", decoded.failure)))
      const { _meta: meta, capabilities, instructions, supportedVersions } = decoded.success
      if (!supportedVersions.includes(Revision.latest.version)) {
        return Effect.fail(exchange.fail(new McpClientError.UnsupportedVersion({ supported: supportedVersions })))
      }
      return Effect.succeed<Discovery>({
        supportedVersions,
        capabilities,
        instructions: Option.fromUndefinedOr(instructions),
        serverInfo: Option.fromUndefinedOr(meta?.[Revision.meta.serverInfo]),
        hasCapability: (name) => Object.hasOwn(capabilities, name) && capabilities[name] !== undefined
      })
    }))
