/** Runs one of the programs that check agents, as a person at a terminal does. */
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import type { Test } from "tap"

interface Ended {
  readonly status: number | null
  readonly shown: string
  readonly errors: string
}

/** `typed`: the lines that are typed. */
const runProgram = (name: string, args: ReadonlyArray<string>, typed: ReadonlyArray<string> = []) =>
  new Promise<Ended>((resolve) => {
    const program = fileURLToPath(new URL(`../../runtime/${name}.ts`, import.meta.url))
    const child = spawn(process.execPath, [program, ...args], { stdio: "pipe" })
    let shown = ""
    let errors = ""
    child.stdout.on("data", (text) => {
      shown += text
    })
    child.stderr.on("data", (text) => {
      errors += text
    })
    child.stdin.end(typed.map((line) => `${line}\n`).join(""))
    child.on("close", (status) => resolve({ status, shown, errors }))
  })

export const programOf = (name: "checkAgent" | "talk") => ({
  run: (args: ReadonlyArray<string>, typed?: ReadonlyArray<string>) => runProgram(name, args, typed),
  /** It says why, and does nothing. */
  refuses: async (t: Test, why: RegExp, ...args: ReadonlyArray<string>) => {
    t.match(await runProgram(name, args), { status: 1, shown: "", errors: why })
  }
})
