/**
 * What handlers answer with and nobody can be sent. It is a defect of the handler: masked for the client, named in the
 * log.
 */

export class InvalidOutput extends Error {
  override readonly name = "InvalidOutput"
}

/** The JSON of a value; what has none would leave the message around it malformed. */
export const jsonText = (value: unknown, what: string): string => {
  const text: string | undefined = JSON.stringify(value)
  if (text === undefined) throw new InvalidOutput(`${what} is not JSON`)
  return text
}
