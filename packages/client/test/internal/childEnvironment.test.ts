import { describe, expect, it } from "@effect/vitest"
import { safeEnvironment } from "../../src/internal/childEnvironment.ts"

describe("the environment of a child", () => {
  it("has what programs need on Windows, however it is written, and no secrets", () => {
    const needed = {
      ComSpec: "C:\\Windows\\system32\\cmd.exe",
      PATHEXT: ".COM;.EXE",
      Path: "C:\\Windows",
      ProgramData: "C:\\ProgramData",
      ProgramFiles: "C:\\Program Files",
      "ProgramFiles(x86)": "C:\\Program Files (x86)",
      ProgramW6432: "C:\\Program Files",
      SystemRoot: "C:\\Windows",
      USERPROFILE: "C:\\Users\\ada",
      windir: "C:\\Windows"
    }
    expect(safeEnvironment({ ...needed, API_TOKEN: "s3cret", NODE_OPTIONS: "--inspect", TEMP: undefined })).toEqual(
      needed
    )
  })

  it("has what programs need elsewhere", () => {
    const needed = { HOME: "/home/ada", LANG: "C.UTF-8", LC_ALL: "C", PATH: "/bin", SHELL: "/bin/sh", TMPDIR: "/tmp" }
    expect(safeEnvironment({ ...needed, AWS_SECRET_ACCESS_KEY: "s3cret", LD_PRELOAD: "x.so" })).toEqual(needed)
  })

  it("is that of this process by default", () => {
    expect(safeEnvironment()["PATH"]).toBe(process.env["PATH"])
  })
})
