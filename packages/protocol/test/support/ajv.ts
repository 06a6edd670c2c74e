import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import { readFileSync } from "node:fs"

/** Compiles a JSON Schema as it stands; a keyword or a format that Ajv does not know fails the test. */
export const compile = (document: object): ValidateFunction =>
  new Ajv2020({
    strict: true,
    strictTypes: false,
    strictTuples: false,
    allErrors: true,
    formats,
    keywords: ["x-mcp-header"]
  })
    .compile(document)

// Annotations only, as the protocol has them.
const formats = { byte: true, uri: true, "uri-template": true, uuid: true, "date-time": true, email: true } as const

const revision = JSON.parse(readFileSync(new URL("../fixtures/schema.json", import.meta.url), "utf8")) as {
  readonly $defs: { readonly [name: string]: object }
}
const ajv = new Ajv2020({ strict: false, allErrors: true, formats }).addSchema(revision, "revision")

/** The names of the definitions that the revision publishes. */
export const definitions: ReadonlyArray<string> = Object.keys(revision.$defs)

/** Checks values against a definition of the revision. */
export const published = (name: string): ValidateFunction => {
  const validate = ajv.getSchema(`revision#/$defs/${name}`)
  if (validate === undefined) throw new Error(`the revision does not define ${name}`)
  return validate as ValidateFunction
}

/** What is wrong with a value, as text; empty when nothing is. */
export const problems = (validate: ValidateFunction, value: unknown): string =>
  validate(value)
    ? ""
    : JSON.stringify(validate.errors?.map(({ instancePath, message }) => `${instancePath} ${message}`))
