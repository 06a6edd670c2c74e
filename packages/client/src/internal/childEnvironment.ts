/**
 * The environment of a child process: what a program needs to find its home, its language and other programs, and not
 * the secrets of this one.
 */

const safe = new Set([
  // POSIX
  "HOME",
  "LANG",
  "LOGNAME",
  "PATH",
  "SHELL",
  "TERM",
  "TMPDIR",
  "USER",
  // Windows
  "APPDATA",
  "COMSPEC",
  "HOMEDRIVE",
  "HOMEPATH",
  "LOCALAPPDATA",
  "PATHEXT",
  "PROCESSOR_ARCHITECTURE",
  "PROGRAMDATA",
  "PROGRAMFILES",
  "PROGRAMFILES(X86)",
  "PROGRAMW6432",
  "SYSTEMDRIVE",
  "SYSTEMROOT",
  "TEMP",
  "TMP",
  "USERNAME",
  "USERPROFILE",
  "WINDIR"
])

type Environment = Readonly<Record<string, string | undefined>>

/** Runtimes without `process.env` have none. */
const own = (): Environment => (globalThis as { readonly process?: { readonly env?: Environment } }).process?.env ?? {}

/** The variables that a child gets by default; by default of this process. Their names have no case, as on Windows. */
export const safeEnvironment = (environment: Environment = own()): Record<string, string> => {
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(environment)) {
    const upper = name.toUpperCase()
    if (value !== undefined && (safe.has(upper) || upper.startsWith("LC_"))) kept[name] = value
  }
  return kept
}
