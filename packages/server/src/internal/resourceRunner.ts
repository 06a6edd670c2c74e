/**
 * Runs reads of resources: decodes the parameters of a template, runs the handler, encodes the contents.
 */
import * as Resource from "@fairlead/protocol/Resource"
import type * as UriTemplate from "@fairlead/protocol/UriTemplate"
import * as Effect from "effect/Effect"
import * as SchemaParser from "effect/SchemaParser"
import { cacheMembers } from "./cacheHint.ts"
import { encodeContents } from "./content.ts"
import type { ResultParts, Run } from "./entry.ts"
import { matched } from "./matched.ts"
import { invalidParams, type RpcError } from "./reply.ts"

type ReadEffect = Effect.Effect<Resource.Answer, Resource.NotFound>

/** The error for a URI that nothing answers to (spec: server/resources, Error Handling). */
export const unknownResource = (uri: string): RpcError => invalidParams("Unknown resource", { data: { uri } })

const makeRead = ({ cache, mimeType }: Pick<Resource.Resource, "cache" | "mimeType">) => {
  const hint = cacheMembers(cache)
  const finish = (uri: string, answer: Resource.Answer): Effect.Effect<ResultParts, RpcError> => {
    const contents = Resource.contentsOf(uri, mimeType, answer)
    // No contents would say that there is something (spec: server/resources, Error Handling).
    if (contents.length === 0) return Effect.fail(unknownResource(uri))
    return Effect.map(
      encodeContents(contents, `What was read of ${uri}`),
      (contents) => ({ members: `"contents":${contents},${hint}`, meta: undefined })
    )
  }
  return (uri: string, run: () => ReadEffect) =>
    Effect.matchEffect(Effect.suspend(run), {
      onSuccess: (answer) => finish(uri, answer),
      onFailure: (failure: unknown) =>
        failure instanceof Resource.NotFound ? Effect.fail(unknownResource(uri)) : Effect.die(failure)
    })
}

export const makeResourceRunner = (resource: Resource.Resource, handle: () => ReadEffect): Run<string> => {
  const read = makeRead(resource)
  return (uri) => read(uri, handle)
}

export const makeTemplateRunner = (
  template: Resource.AnyTemplate,
  handle: (params: unknown, uri: string) => ReadEffect
): Run<{ readonly uri: string; readonly values: UriTemplate.Values }> => {
  const read = makeRead(template)
  const decode = SchemaParser.decodeUnknownEffect(template.codec)
  return ({ uri, values }) =>
    matched(decode(values), {
      onSuccess: (params) => read(uri, () => handle(params, uri)),
      // A URI whose parameters cannot be decoded is none of these resources.
      onFailure: () => Effect.fail(unknownResource(uri))
    })
}
