/**
 * Content blocks as they come: text, which is nearly all there is, is checked by hand, the rest by its schema.
 */
import * as Content from "@fairlead/protocol/Content"
import * as Json from "@fairlead/protocol/Json"
import * as Result from "effect/Result"
import * as SchemaParser from "effect/SchemaParser"
import { describe } from "./issues.ts"

const decodeBlock = SchemaParser.decodeUnknownResult(Content.Block)

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
    const block = decodeBlock(value[i])
    if (Result.isFailure(block)) return describe(`content[${i}]`, block.failure)
    blocks.push(block.success)
  }
  return blocks
}
