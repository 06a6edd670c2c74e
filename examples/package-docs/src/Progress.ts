import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** How far the reading of packages is. */
export interface Progress {
  readonly total: number
  done: number
  /** What is being read. */
  current: string
}

/** Where progress is shown: `process.stderr`, as standard output belongs to the protocol. */
export interface Output {
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
  readonly write: (text: string) => unknown
}

/**
 * Shows progress until the scope closes, if it takes longer than a second: a bar on a terminal, else a line every two
 * seconds.
 */
export const show: (progress: Progress, output: Output) => Effect.Effect<void, never, Scope.Scope> = Effect.fnUntraced(
  function*(progress, output) {
    let shown = false
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        if (shown) {
          output.write(output.isTTY ? "\r\x1b[K" : `Indexed the documentation of ${progress.total} packages\n`)
        }
      })
    )
    const step = Effect.sync(() => {
      shown = true
      output.write(output.isTTY ? `\r\x1b[K${bar(progress, output.columns ?? 80)}` : `${line(progress)}\n`)
    })
    const run = Effect.andThen(step, Effect.sleep(output.isTTY ? "100 millis" : "2 seconds"))
    yield* Effect.forkScoped(Effect.andThen(Effect.sleep("1 second"), Effect.forever(run)))
  }
)

const percent = ({ done, total }: Progress): number => total === 0 ? 100 : Math.floor((done / total) * 100)

const line = (progress: Progress): string =>
  `Indexing documentation: ${percent(progress)} % (${progress.done} of ${progress.total}) ${progress.current}`

/** A bar with percent and what is being read, no wider than the terminal. */
export const bar = (progress: Progress, columns: number): string => {
  const width = Math.max(10, Math.min(30, columns - 50))
  const filled = Math.round((percent(progress) / 100) * width)
  const text = `Indexing [${"#".repeat(filled)}${"-".repeat(width - filled)}] ${
    String(percent(progress)).padStart(3)
  } % ${progress.current}`
  return text.slice(0, Math.max(1, columns - 1))
}
