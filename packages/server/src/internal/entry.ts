/**
 * What a catalog holds of each registration.
 */
import type * as Json from "@fairlead/protocol/Json"
import type * as Resource from "@fairlead/protocol/Resource"
import type * as Tool from "@fairlead/protocol/Tool"
import type * as UriTemplate from "@fairlead/protocol/UriTemplate"
import type * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { RpcError } from "./reply.ts"

/** The kinds of things a server offers. */
export type Kind = "tool" | "resource" | "resourceTemplate" | "prompt"

/** The members of a result object as JSON, without how it ended and its metadata, and the metadata. */
export interface ResultParts {
  readonly members: string
  readonly meta: Json.Object | undefined
}

export type Run<A> = (input: A) => Effect.Effect<ResultParts, RpcError>

interface Base {
  /** The name in its kind: a URI or a URI template for resources. */
  readonly name: string
  readonly declaration: Json.Object
  /** The services the handler was registered with. */
  readonly context: Context.Context<never>
}

export interface ToolEntry extends Base {
  readonly kind: "tool"
  readonly tool: Tool.Any
  readonly run: Run<Json.Object>
}

export interface ResourceEntry extends Base {
  readonly kind: "resource"
  readonly run: Run<string>
}

export interface TemplateEntry extends Base {
  readonly kind: "resourceTemplate"
  readonly template: Resource.AnyTemplate
  readonly run: Run<{ readonly uri: string; readonly values: UriTemplate.Values }>
  readonly completers: Completers
}

export interface PromptEntry extends Base {
  readonly kind: "prompt"
  readonly run: Run<Json.Object>
  readonly completers: Completers
}

export type Entry = ToolEntry | ResourceEntry | TemplateEntry | PromptEntry

/** What completes the value of one argument: what is written so far, and the arguments that are known. */
export type Completer = (request: {
  readonly value: string
  readonly context: Readonly<Record<string, string>>
}) => Effect.Effect<ResultParts, RpcError>

export type Completers = ReadonlyMap<string, Completer>
