/**
 * What an endpoint's context function works with: what is known of a request before it is dispatched, and the error that
 * turns it away.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"

/**
 * What is known of a request before it is dispatched.
 *
 * @category models
 * @since 0.1.0
 */
export interface RequestInfo {
  /** `http`, `stdio`, `in-process`, or the name of a front of your own. */
  readonly transport: string
  /** The HTTP method. */
  readonly method: string | undefined
  /** The HTTP request target, such as `/mcp?tenant=a`. */
  readonly url: string | undefined
  /** An HTTP header by its name in lower case; always undefined where there are none. */
  readonly header: (name: string) => string | undefined
  /** The correlation of the request. It never authorizes. */
  readonly correlation: string
}

/**
 * Turns a request away: over HTTP with a status, headers and a short text, elsewhere with a JSON-RPC error that has the
 * text, and the status as `data.status`. The text goes to the client: put nothing secret in it.
 *
 * **Example** (Refusing a request without a tenant)
 *
 * ```ts
 * import { RequestContext } from "@fairlead/server"
 * import { Context, Effect } from "effect"
 *
 * class Tenant extends Context.Service<Tenant, { readonly name: string }>()("app/Tenant") {}
 *
 * export const contextOf = (request: RequestContext.RequestInfo) => {
 *   const name = request.header("x-tenant")
 *   return name === undefined
 *     ? Effect.fail(new RequestContext.Refused({ status: 403, message: "The x-tenant header is missing" }))
 *     : Effect.succeed(Context.make(Tenant, { name }))
 * }
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class Refused extends Data.TaggedError("Refused")<{
  /** The HTTP status, such as 401, 403 or 503. */
  readonly status: number
  /** One sentence for the client, without its full stop. */
  readonly message: string
  /** HTTP headers of the answer, such as `www-authenticate`. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}> {}
