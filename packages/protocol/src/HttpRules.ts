/**
 * The HTTP header rules of the revision, read by client and server alike so that they cannot drift apart: which headers
 * a request has, which of its values they repeat, and how a value that is not plain ASCII is written.
 *
 * @since 0.1.0
 */
import type * as Result from "effect/Result"
import type * as Json from "./Json.ts"
import { httpRules as rules } from "./revision/current.ts"
import type { Revision } from "./revision/Definition.ts"

/**
 * The names of the headers that the protocol defines, in lower case.
 *
 * @category constants
 * @since 0.1.0
 */
export const headerNames = rules.headerNames

/**
 * The keyword of a tool's input schema that asks for a header: `x-mcp-header` (spec: streamable-http, Schema Extension).
 *
 * @category constants
 * @since 0.1.0
 */
export const annotation: string = rules.annotation

/**
 * One header that a tool's input schema asks for: its name in lower case, and the path of the argument it repeats.
 *
 * @category models
 * @since 0.1.0
 */
export interface ParameterHeader extends rules.ParameterHeader {}

/**
 * Why the header annotations of an input schema are not valid, and where.
 *
 * @category models
 * @since 0.1.0
 */
export interface PlanProblem extends rules.PlanProblem {}

/**
 * Writes a value as a header value: as it is where it is visible ASCII without outer spaces, else as
 * `=?base64?<base64 of UTF-8>?=`. A lone surrogate, which UTF-8 cannot hold, becomes U+FFFD (spec: streamable-http,
 * Value Encoding).
 *
 * @category codecs
 * @since 0.1.0
 */
export const encodeValue: (value: string) => string = rules.encodeValue

/**
 * Reads a header value; outer spaces are not part of it. Fails, with the reason, for characters outside visible ASCII
 * and for a base64 value with wrong padding, foreign characters or bytes that are not UTF-8.
 *
 * @category codecs
 * @since 0.1.0
 */
export const decodeValue: (header: string) => Result.Result<string, string> = rules.decodeValue

/**
 * The headers that an input schema asks for. Fails with {@link PlanProblem} for an annotation that is not an HTTP token,
 * is used twice ignoring case, stands on another type than string, integer or boolean, or cannot be reached through
 * `properties` alone (spec: streamable-http, Schema Extension).
 *
 * @category plans
 * @since 0.1.0
 */
export const plan: (schema: Json.Object) => Result.Result<ReadonlyArray<ParameterHeader>, PlanProblem> = rules.plan

/**
 * The parameter headers of a call: an absent or null argument has none.
 *
 * @category headers
 * @since 0.1.0
 */
export const parameterHeaders: (
  plan: ReadonlyArray<ParameterHeader>,
  args: Json.Object
) => ReadonlyArray<readonly [name: string, value: string]> = rules.parameterHeaders

/**
 * The path of the first argument that its header cannot repeat: an integer beyond the safe ones, a fraction, or anything
 * that is no text, number or boolean. Absent where there is none; a server refuses a call with one.
 *
 * @category validation
 * @since 0.1.0
 */
export const unrepeatable: (
  plan: ReadonlyArray<ParameterHeader>,
  args: Json.Object
) => ReadonlyArray<string> | undefined = rules.unrepeatable

/**
 * The headers of a request: version, method and, where the method has one, the name. `revision` is the one that is
 * spoken with its extensions (`Revision.extend`), whose methods may have names too; default: `Revision.latest`.
 *
 * @category headers
 * @since 0.1.0
 */
export const requestHeaders: (
  method: string,
  params: Json.Object,
  revision?: Revision
) => ReadonlyArray<readonly [name: string, value: string]> = rules.requestHeaders

/**
 * What is wrong with the version header of a request, if anything.
 *
 * @category validation
 * @since 0.1.0
 */
export const checkVersionHeader: (
  header: (name: string) => string | undefined,
  version: string
) => string | undefined = rules.checkVersionHeader

/**
 * What is wrong with the routing headers of a request, if anything. `routingName` is the parameter that the method's
 * name header repeats.
 *
 * @category validation
 * @since 0.1.0
 */
export const checkRoutingHeaders: (
  header: (name: string) => string | undefined,
  method: string,
  params: Json.Object,
  routingName: string | undefined
) => string | undefined = rules.checkRoutingHeaders

/**
 * What is wrong with the parameter headers of a call, if anything.
 *
 * @category validation
 * @since 0.1.0
 */
export const checkParameterHeaders: (
  header: (name: string) => string | undefined,
  plan: ReadonlyArray<ParameterHeader>,
  args: Json.Object
) => string | undefined = rules.checkParameterHeaders
