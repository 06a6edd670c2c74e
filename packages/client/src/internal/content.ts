/**
 * Content blocks as they come: text, which is nearly all there is, is checked by hand, the rest by its schema.
 */
import * as Content from "@fairlead/protocol/Content"
import * as Json from "@fairlead/protocol/Json"
import * as Result from "effect/Result"
import type * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"
import { describe } from "./issues.ts"

type Decode = (input: unknown) => Result.Result<Content.Block, SchemaIssue.Issue>

const decoders: ReadonlyMap<string, Decode> = new Map<string, Decode>([
  ["text", SchemaParser.decodeUnknownResult(Content.Text)],
  ["image", SchemaParser.decodeUnknownResult(Content.Image)],
  ["audio", SchemaParser.decodeUnknownResult(Content.Audio)],
  ["resource_link", SchemaParser.decodeUnknownResult(Content.ResourceLink)],
  ["resource", SchemaParser.decodeUnknownResult(Content.EmbeddedResource)]
])

/** The blocks, or what is wrong with them. */
export const decodeContent = (value: Json.Value | undefined): ReadonlyArray<Content.Block> | string => {
  if (!Array.isArray(value)) return "`content` is not an array"
  for (let i = 0; i < value.length; i++) if (!isPlainText(value[i])) return decodeAll(value)
  return value as ReadonlyArray<Content.Block>
}

const isPlainText = (block: Json.Value): boolean =>
  Json.isObject(block) && block["type"] === "text" && typeof block["text"] === "string" &&
  block["annotations"] === undefined && block["_meta"] === undefined

const decodeAll = (value: ReadonlyArray<Json.Value>): ReadonlyArray<Content.Block> | string => {
  const blocks: Array<Content.Block> = []
  for (let i = 0; i < value.length; i++) {
    const item = value[i]!
    const decode = Json.isObject(item) && typeof item["type"] === "string" ? decoders.get(item["type"]) : undefined
    if (decode === undefined) return `content[${i}]: Expected a content block`
    const block = decode(item)
    if (Result.isFailure(block)) return describe(`content[${i}]`, block.failure)
    blocks.push(block.success)
  }
  return blocks
}
