/** `npm run talk` as a person at a terminal uses it. */
import { spawn } from "node:child_process"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import t from "tap"
import { definition } from "#test/support/talkScript.ts"

const program = fileURLToPath(new URL("../../runtime/talk.ts", import.meta.url))

const talk = (args: ReadonlyArray<string>, typed: ReadonlyArray<string>) =>
  new Promise<{ readonly status: number | null; readonly shown: string; readonly errors: string }>((resolve) => {
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

t.test("given a template and a name", async (t) => {
  const { shown, status } = await talk(["Appointment reminder", "--with", "first_name=Grace"], ["please stop calling me"])
  t.equal(status, 0)
  t.match(shown, /agent: Hello, this is the assistant of Acme\. Am I speaking with Grace\?/, "then the agent greets by that name")
  t.match(shown, /you: please stop calling me\n {2}the callee must not be called again/, "then an opt-out is taken")
  t.match(shown, /disposition: user_disqualified\n/, "and is how the call ends")
})

t.test("given a definition in a file", async (t) => {
  const folder = t.testdir({})
  const file = join(folder, "agent.json")
  await writeFile(file, JSON.stringify({ name: "Mine", workflow_definition: definition({ greeting: "Do you agree?" }) }))
  const { shown, status } = await talk([file], ["yes"])
  t.equal(status, 0)
  t.match(shown, /agent: Do you agree\?\nyou: yes\n(?:.*\n)*? {2}node: ask\n/, "then it is followed along its edges")
  const silent = await talk([file], [])
  t.match(silent.shown, /you: \(hangs up\)\n(?:.*\n)*disposition: user_hangup\n/, "and a callee who says nothing hangs up")
})

t.test("given what cannot be used", async (t) => {
  const wrong = async (why: RegExp, ...args: ReadonlyArray<string>) => {
    const { errors, shown, status } = await talk(args, [])
    t.match({ status, shown, errors }, { status: 1, shown: "", errors: why })
  }
  const folder = t.testdir({ "agent.json": "{", "empty.json": "{}" })
  await wrong(/^nothere is neither a file nor a template: Appointment reminder, /, "nothere")
  await wrong(/holds no agent/, join(folder, "agent.json"))
  await wrong(/has no node of the type startCall/, join(folder, "empty.json"))
  await wrong(/^--with needs name=value, not first_name\nUsage: npm run talk/, "--with", "first_name")
  await wrong(/--modle/, "--modle", "x")
})
