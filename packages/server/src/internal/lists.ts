/**
 * The pages of lists. Where everybody sees the same, a page is made once for each state of the catalog; a list of one
 * page needs no cursor and so no crypto.
 */
import type * as Json from "@fairlead/protocol/Json"
import * as Revision from "@fairlead/protocol/Revision"
import * as Effect from "effect/Effect"
import type { View } from "./access.ts"
import type { Catalog, Listing } from "./catalog.ts"
import type { Kind } from "./entry.ts"
import { invalidParams, type RpcError } from "./reply.ts"
import type { Sealer } from "./sealing.ts"

export interface Lists {
  /** The text of a page's result, at once where it is known already. */
  readonly page: (kind: Kind, cursor: Json.Value | undefined, view: View | undefined) =>
    | string
    | RpcError
    | Effect.Effect<string, RpcError>
}

const itemsOf: Readonly<Record<Kind, string>> = {
  tool: Revision.latest.methods.get(Revision.method.listTools)!.items!,
  resource: Revision.latest.methods.get(Revision.method.listResources)!.items!,
  resourceTemplate: Revision.latest.methods.get(Revision.method.listResourceTemplates)!.items!,
  prompt: Revision.latest.methods.get(Revision.method.listPrompts)!.items!
}

/** How many ways to see one listing have their digests kept. */
const maxDigests = 32
const everything = "*"

const invalidCursor = () => invalidParams("The cursor is not valid")

/** What one walk through a list goes over: the same from its first page to its last. */
interface Walk {
  readonly kind: Kind
  readonly texts: ReadonlyArray<string>
  /** What cursors are bound to: the list, as it is, as it is seen. Replicas that offer the same agree on it. */
  readonly binding: Effect.Effect<ReadonlyArray<string>>
  /** The pages that are made already, by their offset. */
  readonly pages: Map<number, string> | undefined
}

export const makeLists = (catalog: Catalog, sealer: Sealer, pageSize: number): Lists => {
  // A changed list is another listing: what is known of one never answers for the next.
  const digests = new WeakMap<Listing, Map<string, string>>()
  const pagesOf = new WeakMap<Listing, Map<number, string>>()

  /** The digest of what is seen of a listing; `seen` says which that is. */
  const digestOf = (listing: Listing, seen: string, texts: ReadonlyArray<string>): Effect.Effect<string> =>
    Effect.suspend(() => {
      let known = digests.get(listing)
      if (known === undefined) digests.set(listing, known = new Map())
      const digest = known.get(seen)
      if (digest !== undefined) return Effect.succeed(digest)
      if (known.size >= maxDigests) known.clear()
      return Effect.tap(sealer.digest(texts), (digest) => Effect.sync(() => known.set(seen, digest)))
    })

  const render = (kind: Kind, texts: ReadonlyArray<string>, cursor: string | undefined) => {
    const next = cursor === undefined ? "" : `,"nextCursor":${JSON.stringify(cursor)}`
    return `{${JSON.stringify(itemsOf[kind])}:[${texts.join(",")}]${next},${catalog.listHint(kind)},${
      catalog.resultEnd(undefined)
    }`
  }

  const pageAt = ({ binding, kind, pages, texts }: Walk, offset: number): Effect.Effect<string> | string => {
    const known = pages?.get(offset)
    if (known !== undefined) return known
    const slice = texts.length <= pageSize && offset === 0 ? texts : texts.slice(offset, offset + pageSize)
    const next = offset + pageSize
    const keep = (page: string) => {
      pages?.set(offset, page)
      return page
    }
    if (next >= texts.length) return keep(render(kind, slice, undefined))
    return binding.pipe(
      Effect.flatMap((binding) => sealer.seal(next, binding)),
      Effect.map((cursor) => keep(render(kind, slice, cursor)))
    )
  }

  const pageAtCursor = (walk: Walk, cursor: string): Effect.Effect<string, RpcError> =>
    walk.binding.pipe(
      Effect.flatMap((binding) => sealer.open(cursor, binding)),
      Effect.mapError(invalidCursor),
      Effect.flatMap((offset): Effect.Effect<string, RpcError> => {
        if (typeof offset !== "number" || offset <= 0 || offset >= walk.texts.length) {
          return Effect.fail(invalidCursor())
        }
        const page = pageAt(walk, offset)
        return typeof page === "string" ? Effect.succeed(page) : page
      })
    )

  /** The walk of everybody. */
  const shared = (kind: Kind): Walk => {
    const listing = catalog.listing(kind)
    let pages = pagesOf.get(listing)
    if (pages === undefined) pagesOf.set(listing, pages = new Map())
    return {
      kind,
      texts: listing.texts,
      binding: Effect.map(digestOf(listing, everything, listing.texts), (digest) => ["cursor", kind, digest]),
      pages
    }
  }

  /** The walk of one who may not see everything. */
  const seenBy = (kind: Kind, view: View): Walk => {
    const listing = catalog.listing(kind)
    const visible = listing.entries.flatMap((entry, i) => view.sees(entry) ? [i] : [])
    const texts = visible.map((i) => listing.texts[i]!)
    return {
      kind,
      texts,
      // Of what is hidden nothing may show, not even by a cursor that is outdated when that changes.
      binding: Effect.map(digestOf(listing, visible.join(), texts), (digest) => ["cursor", kind, digest]),
      pages: undefined
    }
  }

  return {
    page: (kind, cursor, view) => {
      if (cursor !== undefined && typeof cursor !== "string") return invalidCursor()
      const walk = view === undefined ? shared(kind) : seenBy(kind, view)
      return cursor === undefined ? pageAt(walk, 0) : pageAtCursor(walk, cursor)
    }
  }
}
