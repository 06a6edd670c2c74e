/**
 * The URL of an endpoint: what is accepted, and which hosts are this machine.
 */
import * as Result from "effect/Result"

/** An absolute http or https URL without anything that could carry a secret or be read in two ways; or why not. */
export const parseUrl = (input: string): Result.Result<URL, string> => {
  // The URL parser would quietly drop or turn these.
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u0020\u007f\\]/.test(input)) return Result.fail("it has spaces, control characters or backslashes")
  const parts = /^(https?):\/\/([^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?$/i.exec(input)
  if (parts === null) return Result.fail("it is not an absolute http or https URL")
  const [, , authority = "", path = "", query, fragment] = parts
  if (authority.includes("@")) return Result.fail("it has a user or a password")
  if (query !== undefined) return Result.fail("it has a query")
  if (fragment !== undefined) return Result.fail("it has a fragment")
  if (authority === "" || authority.includes("%")) return Result.fail("its host is not valid")
  if (authority.endsWith(":")) return Result.fail("its port is missing")
  if (/%(?![0-9A-Fa-f]{2})/.test(path)) return Result.fail("it has a bad percent escape")
  try {
    return Result.succeed(new URL(input))
  } catch {
    return Result.fail("its host or port is not valid")
  }
}

/** Whether a URL reaches this machine and no other: `localhost`, `127.0.0.0/8`, `::1`. */
export const isLoopback = ({ hostname }: URL): boolean =>
  hostname === "localhost" || hostname.endsWith(".localhost") || hostname === "[::1]" ||
  /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname)
