/**
 * How a program tells that it listens, and how long its imports took.
 */

/** Tells the benchmark the port and the milliseconds from the start of the process to the end of the imports. */
export const ready = (port: number, importedAt: number): void => {
  process.send?.({ port, importMillis: importedAt })
}

process.on("disconnect", () => process.exit(0))
