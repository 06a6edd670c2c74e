/**
 * A tool that reports progress as fast as it may, and counts.
 */
import { Content, Tool } from "@fairlead/protocol"
import { Invocation, McpServer } from "@fairlead/server"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import { turns } from "./serve.ts"

export const total = 100_000
export const text = "x".repeat(200)

export interface BurstState {
  reported: number
  done: boolean
  exit: Exit.Exit<unknown, unknown> | undefined
}

export const burst = () => {
  const state: BurstState = { reported: 0, done: false, exit: undefined }
  const layer = McpServer.tool(Tool.make("burst"), () =>
    Effect.gen(function*() {
      while (state.reported < total) {
        yield* Invocation.progress({ progress: state.reported + 1, message: text })
        state.reported++
      }
      state.done = true
      return [Content.text("done")]
    }).pipe(Effect.onExit((exit) =>
      Effect.sync(() => {
        state.exit = exit
      })
    )))
  return { layer, state }
}

/** Waits until the number of reports stands still. */
export const standstill = (state: BurstState): Effect.Effect<void> =>
  Effect.gen(function*() {
    let last = -1
    while (last !== state.reported) {
      last = state.reported
      yield* turns(200)
    }
  })
