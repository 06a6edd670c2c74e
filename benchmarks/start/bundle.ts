/**
 * The size of a minimal client, as a bundler leaves it.
 */
import * as Path from "node:path"
import { gzipSync } from "node:zlib"
import { rolldown } from "rolldown"

/** Bytes of a bundle, minified. */
export const bundle = async (client: string): Promise<{ readonly bytes: number; readonly gzipped: number }> => {
  const built = await rolldown({
    input: Path.join(import.meta.dirname, "clients", client),
    platform: "browser",
    resolve: { conditionNames: ["@fairlead/source", "import", "browser", "default"] },
    logLevel: "silent"
  })
  const { output } = await built.generate({ format: "esm", minify: true, codeSplitting: false })
  await built.close()
  const code = output.map((part) => part.type === "chunk" ? part.code : "").join("")
  return { bytes: Buffer.byteLength(code), gzipped: gzipSync(code).length }
}
