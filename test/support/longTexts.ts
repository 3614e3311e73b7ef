/**
 * Runs in a worker thread: what strangers, models and agents write, read by everything that reads it in one go, as long as it may get or longer.
 * Tells which is being read, so that whoever waits knows which one never ends.
 */
import { parentPort } from "node:worker_threads"
import { valueFor } from "#adapters/voice/embedded/valueGrammar.ts"
import { sayOf } from "#adapters/voice/embedded/lines.ts"
import { literal } from "#adapters/voice/shared/Literal.ts"
import { Speakable } from "#adapters/voice/shared/Speakable.ts"
import { faultWith, refusalIn } from "#adapters/shared/PlivoDialectReplies.ts"
import { isSaid } from "#core/agent/regression/words.ts"
import { takenApart } from "#core/agent/SecretParts.ts"
import { plainSpeech } from "#core/voice/PlainSpeech.ts"
import { takesGzip } from "#gateway/request/Lasting.ts"
import { sentencesOf } from "#runtime/voice/Sentences.ts"
import { spokenText } from "#runtime/voice/SpokenText.ts"
import { nodeOf } from "#test/adapters/embeddedScene.ts"
import { planOf, started } from "./talk.ts"
import { definition, follower } from "./talkScript.ts"

/** So long that what takes time in proportion to its square takes many minutes. */
const long = 1_000_000
const repeated = (unit: string, length = long): string => unit.repeat(Math.ceil(length / unit.length))

const tool = { name: "book", description: "", parameters: { type: "object", properties: { day: { type: "object" } } } }
const answered = (text: string): void => {
  const answer = new Speakable("never", new Map([["book", tool]]))
  answer.push(text)
  answer.end(false)
}
const heard = (text: string): void => {
  const talk = started(planOf(definition({ greeting: "Hello." }), { voicemail_detection: { enabled: true, action: "hangup" } }), {
    model: follower
  })
  talk.says(text)
}

const readings: Readonly<Record<string, () => unknown>> = {
  "speech of dotted letters": () => spokenText(repeated("a.")),
  "speech of hyphens": () => spokenText(repeated("a-")),
  "speech of spaces": () => spokenText(`${repeated(" ")}x–`),
  "speech of a street of many names": () => spokenText(repeated("1 A")),
  "speech of a letter with many accents": () => spokenText(`a${repeated("\u0301\u0316")}`),
  "sentences of full stops": () => sentencesOf(repeated(".")),
  "sentences of initials": () => sentencesOf(repeated("A. ")),
  "an empty row of a table": () => plainSpeech(`|-${"|   ".repeat(40)}x`),
  "an address that ends in exclamation marks": () => plainSpeech(`http://${repeated("!")}x`),
  "a callee who repeats a machine's words": () => heard(repeated("person you are calling ")),
  "words of a test with many accents": () => isSaid("a", `a${repeated("\u0301\u0316")}`),
  "a prompt of exclamation marks": () => sayOf(nodeOf({ prompt: `${repeated("!")}x` })),
  "a variable of one letter": () => valueFor("number", { name: `${repeated("s")}_`, type: "number", prompt: "" }),
  "a model's call whose argument has no end": () => answered(`<tool_call>book<arg_key>${repeated(" ", 16_000)}</tool_call>`),
  "a model's call whose parameters have no end": () => answered(`<tool_call>book${repeated("<parameter=", 16_000)}</tool_call>`),
  "a model's values in quotes that are not closed": () => Array.from({ length: 5000 }, () => literal(repeated("'\\", 16_000))),
  "an agent's many addresses": () =>
    takenApart({ addresses: Array.from({ length: 20_000 }, () => `https://a.example/${"?".repeat(8000)}`) }),
  "a header with a long weight": () => takesGzip(`gzip;q=.${repeated("2")};`),
  "a carrier's long complaint": () =>
    refusalIn({ status: 400, server: "", retryAfterMillis: undefined, body: { api_id: "1", error: repeated("invalid ") } }, [
      { status: 400, words: faultWith("to", "destination"), is: { reason: "number_refused" } }
    ])
}

for (const [name, read] of Object.entries(readings)) {
  parentPort?.postMessage(name)
  read()
}
parentPort?.postMessage("nothing")
