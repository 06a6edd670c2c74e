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
  "PROGRAMFILES",
  "SYSTEMDRIVE",
  "SYSTEMROOT",
  "TEMP",
  "TMP",
  "USERNAME",
  "USERPROFILE"
])

/** The variables of this process that a child gets by default. Runtimes without `process.env` have none. */
export const safeEnvironment = (): Record<string, string> => {
  const { process } = globalThis as { process?: { readonly env?: Record<string, string | undefined> } }
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(process?.env ?? {})) {
    const upper = name.toUpperCase()
    if (value !== undefined && (safe.has(upper) || upper.startsWith("LC_"))) kept[name] = value
  }
  return kept
}
