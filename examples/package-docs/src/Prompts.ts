/**
 * The prompts of the package-docs server: what a person picks in a host, which brings the pages it is about along.
 */
import { Prompt } from "@fairlead/protocol"
import * as Schema from "effect/Schema"
import * as Markdown from "./Markdown.ts"

const Package = Schema.NonEmptyString.annotate({ description: "The package, as it is installed." })

/** Explains an export with its documentation at hand. */
export const ExplainExport = Prompt.make("explain_export", {
  title: "Explain an export",
  description: "What an export is for, how it is used and what to use beside it.",
  args: Schema.Struct({
    package: Schema.NonEmptyString.annotate({ description: "The package or module: `effect/Effect`." }),
    export: Schema.NonEmptyString.annotate({ description: "Its name: `timeout`." })
  })
})

/** Answers how something is done, with the pages that a search finds. */
export const HowDoI = Prompt.make("how_do_i", {
  title: "How do I …",
  description: "How something is done with the installed versions.",
  args: Schema.Struct({
    task: Schema.NonEmptyString.annotate({ description: "What is to be done: `retry a request with backoff`." }),
    package: Schema.optionalKey(Schema.NonEmptyString.annotate({ description: "With this package; any if not given." }))
  })
})

const version = /(?:^|[^\d.])(\d+)\.(\d+)\.(\d+)(-[0-9A-Za-z.-]+)?/

/** Says what has changed up to the installed version. */
export const WhatChanged = Prompt.make("what_changed", {
  title: "What changed",
  description: "What is new, changed and broken up to the installed version, by the package's changelog.",
  args: Schema.Struct({
    package: Package,
    from: Schema.optionalKey(
      Schema.String.check(Schema.isPattern(/^v?\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/)).annotate({
        description: "The version that you come from: `4.0.0`. The latest changes if not given."
      })
    )
  })
})

/** The parts of a changelog about versions after one, the newest first, at most `limit` characters. */
export const changesSince = (changelog: string, from: string | undefined, limit: number): string => {
  const out: Array<string> = []
  let length = 0
  for (const { text, title } of Markdown.sections(changelog)) {
    if (from !== undefined && version.test(title) && !isAfter(title, from)) {
      break
    }
    if (length + text.length > limit) {
      out.push(text.slice(0, limit - length), "… cut")
      break
    }
    out.push(text)
    length += text.length
  }
  return out.join("\n\n")
}

/** The versions that a changelog has headings for. */
export const versionsOf = (
  changelog: string
): ReadonlyArray<string> => [
  ...new Set(
    changelog.split("\n").flatMap((line) => {
      const found = line.startsWith("#") ? version.exec(line) : null
      return found === null ? [] : [`${found[1]}.${found[2]}.${found[3]}${found[4] ?? ""}`]
    })
  )
]

// Releases come after their pre-releases, and those in the order of their names.
const isAfter = (a: string, b: string): boolean => {
  const [one, other] = [a, b].map((text) => version.exec(text))
  for (let i = 1; i <= 3; i++) {
    const difference = Number(one?.[i]) - Number(other?.[i])
    if (difference !== 0) {
      return difference > 0
    }
  }
  const [pre, otherPre] = [one?.[4], other?.[4]]
  return otherPre !== undefined &&
    (pre === undefined || pre.localeCompare(otherPre, "en", { numeric: true }) > 0)
}
