/** A conversation in writing: what is typed, and what is read. */
import { Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import t from "tap"
import type { LanguageModel } from "#core/model/LanguageModel.ts"
import { textTalk } from "#runtime/conversation/textTalk.ts"
import { run } from "#test/support/run.ts"
import { finished, planOf } from "#test/support/talk.ts"
import { definition, follower } from "#test/support/talkScript.ts"

const model: LanguageModel = {
  provider: "scripted",
  model: "one",
  answer: (request) => {
    const reply = follower(request)
    const pause = TestClock.adjust(request.purpose === "extract" ? "5 seconds" : "300 millis")
    return typeof reply === "string" ? Stream.never : Stream.unwrap(Effect.as(pause, Stream.fromIterable([...reply, finished])))
  }
}

const typed = (...lines: ReadonlyArray<string>) =>
  run(function* () {
    const shown: Array<string> = []
    const left = [...lines]
    const { disposition } = yield* textTalk({
      plan: planOf(definition({ greeting: "Hello {{first_name}}." })),
      model,
      runTool: () => Effect.die("there are no tools"),
      context: { first_name: "Ada" },
      write: (line) => void shown.push(line),
      read: async () => {
        const line = left.shift()
        shown.push(`you: ${line ?? "(hangs up)"}`)
        return line
      }
    })
    return { shown, disposition, left }
  })

t.test("given a callee who types one answer after the other", async (t) => {
  const { disposition, shown } = await typed("yes", "done", "never read")
  const told = shown.filter((line) => !line.startsWith("  variables"))
  t.strictSame(
    told,
    [
      "  node: start",
      "agent: Hello Ada.",
      "you: yes",
      "  calls yes {}",
      "  node: ask",
      '  yes: {"status":"done"}',
      "agent: At ask.",
      "  waits: first_token 300 + 300 ms, line 600 ms",
      "you: done",
      "  calls done {}",
      "  node: bye",
      '  done: {"status":"done"}',
      "agent: At bye.",
      "  waits: first_token 300 + 300 ms, line 600 ms"
    ],
    "then the agent has said everything before the next line is read"
  )
  t.equal(disposition, "user_qualified")
})

t.test("given keys", async (t) => {
  const { shown } = await typed("#1")
  t.ok(shown.includes("agent: At start."), "then they count as an answer")
})

t.test("given a callee who hangs up", async (t) => {
  const { disposition, shown } = await typed()
  t.equal(disposition, "user_hangup")
  t.equal(shown.at(-1), "you: (hangs up)", "then the agent says nothing more")
})

t.test("given a callee who wants no more calls", async (t) => {
  const { disposition, shown } = await typed("please stop calling me")
  t.ok(shown.includes("  the callee must not be called again"))
  t.equal(disposition, "user_disqualified")
})
