/** What a recognizer reports late in a pause: it may be the beginning of more, even if it sounds complete. */
import t from "tap"
import { deadlineOf, initialTurn, nextTurn, type TurnEvent, type TurnState } from "#core/voice/Turn.ts"

const options = { ownsTurns: false }

/** What is committed if each text is judged `judgedAfter` milliseconds after it arrived. */
const committed = (events: ReadonlyArray<TurnEvent>, probabilityOf: (text: string) => number, judgedAfter: number) => {
  const commits: Array<string> = []
  const waiting = [...events]
  let state: TurnState = initialTurn
  for (let now = 0; now < 8000; now++) {
    const due: Array<TurnEvent> = waiting.filter(({ at }) => at === now)
    if (now >= (deadlineOf(state, options) ?? Number.POSITIVE_INFINITY)) due.push({ _tag: "Passed", at: now })
    for (const event of due) {
      const step = nextTurn(state, event, options)
      state = step.state
      for (const command of step.commands) {
        if (command._tag === "Commit") commits.push(command.text)
        if (command._tag !== "Judge") continue
        const { revision, text } = command
        waiting.push({ _tag: "Judged", at: now + judgedAfter, revision, probability: probabilityOf(text) })
      }
    }
  }
  return commits
}

const text = (at: number, words: string, isFinal: boolean): TurnEvent => ({
  _tag: "Transcribed",
  at,
  text: words,
  isFinal,
  isForced: isFinal
})

/** An open answer, and its rest after most of a second. */
const hesitant = (rest: string): ReadonlyArray<TurnEvent> => [
  { _tag: "VoiceStarted", at: 10 },
  { _tag: "VoicePaused", at: 1100, since: 1000 },
  text(1150, "on monday or", true),
  text(1900, rest, false),
  { _tag: "VoiceStarted", at: 1960 },
  { _tag: "VoicePaused", at: 2600, since: 2500 },
  text(2650, rest, true)
]

t.test("given an open answer, when more of it is understood late in the pause, then the turn is not over", async (t) => {
  const probabilityOf = (words: string) => (words.endsWith(".") ? 0.95 : 0.1)
  for (const judgedAfter of [1, 50]) {
    t.strictSame(committed(hesitant("maybe on"), probabilityOf, judgedAfter), ["on monday or maybe on"], "before it is judged")
    t.strictSame(
      committed(hesitant("on tuesday."), probabilityOf, judgedAfter),
      ["on monday or on tuesday."],
      "nor when it sounds complete"
    )
  }
})
