/**
 * The pages of lists. Where everybody sees the same, a page is made once for each revision of the catalog; a list of one
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

const invalidCursor = () => invalidParams("The cursor is not valid")

export const makeLists = (catalog: Catalog, sealer: Sealer, pageSize: number): Lists => {
  const known = new Map<string, string>()
  const revisions = new Map<Kind, number>()

  const render = (kind: Kind, texts: ReadonlyArray<string>, cursor: string | undefined) => {
    const next = cursor === undefined ? "" : `,"nextCursor":${JSON.stringify(cursor)}`
    return `{${JSON.stringify(itemsOf[kind])}:[${texts.join(",")}]${next},${catalog.listHint(kind)},${
      catalog.resultEnd(undefined)
    }`
  }

  /** A cursor belongs to a list, as it was, as it was seen. */
  const binding = (kind: Kind, seen: string) => ["cursor", kind, String(catalog.revision(kind)), seen]

  const pageAt = (
    kind: Kind,
    { texts }: Pick<Listing, "texts">,
    offset: number,
    seen: string
  ): Effect.Effect<string> | string => {
    const slice = texts.length <= pageSize && offset === 0 ? texts : texts.slice(offset, offset + pageSize)
    const next = offset + pageSize
    if (next >= texts.length) return render(kind, slice, undefined)
    return Effect.map(sealer.seal(next, binding(kind, seen)), (cursor) => render(kind, slice, cursor))
  }

  const fromCursor = (
    kind: Kind,
    cursor: string,
    listing: Pick<Listing, "texts">,
    seen: string,
    keep: (offset: number, text: string) => void
  ): Effect.Effect<string, RpcError> =>
    Effect.matchEffect(sealer.open(cursor, binding(kind, seen)), {
      onFailure: () => Effect.fail(invalidCursor()),
      onSuccess: (offset) => {
        if (typeof offset !== "number" || offset <= 0 || offset >= listing.texts.length) {
          return Effect.fail(invalidCursor())
        }
        const page = pageAt(kind, listing, offset, seen)
        return typeof page === "string"
          ? Effect.succeed(page)
          : Effect.tap(page, (text) => Effect.sync(() => keep(offset, text)))
      }
    })

  const shared: Lists["page"] = (kind, cursor, _view) => {
    if (revisions.get(kind) !== catalog.revision(kind)) {
      revisions.set(kind, catalog.revision(kind))
      for (const key of known.keys()) if (key.startsWith(`${kind}:`)) known.delete(key)
    }
    const keep = (offset: number, text: string) => {
      known.set(`${kind}:${offset}`, text)
    }
    const listing = catalog.listing(kind)
    if (typeof cursor === "string") return fromCursor(kind, cursor, listing, "", keep)
    const ready = known.get(`${kind}:0`)
    if (ready !== undefined) return ready
    const page = pageAt(kind, listing, 0, "")
    if (typeof page !== "string") return Effect.tap(page, (text) => Effect.sync(() => keep(0, text)))
    keep(0, page)
    return page
  }

  const seenBy: (view: View) => Lists["page"] = (view) => (kind, cursor) => {
    const { entries, texts } = catalog.listing(kind)
    const visible = entries.flatMap((entry, i) => view.sees(entry) ? [i] : [])
    const listing = { texts: visible.map((i) => texts[i]!) }
    return Effect.flatMap(
      listing.texts.length > pageSize ? sealer.digest(visible) : Effect.succeed(""),
      (seen): Effect.Effect<string, RpcError> => {
        if (typeof cursor === "string") return fromCursor(kind, cursor, listing, seen, () => {})
        const page = pageAt(kind, listing, 0, seen)
        return typeof page === "string" ? Effect.succeed(page) : page
      }
    )
  }

  return {
    page: (kind, cursor, view) => {
      if (cursor !== undefined && typeof cursor !== "string") return invalidCursor()
      return view === undefined ? shared(kind, cursor, view) : seenBy(view)(kind, cursor, view)
    }
  }
}
