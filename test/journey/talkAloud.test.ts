/** `npm run talk -- --voice`: an agent hears a recording by the recognizer that ships, and both sides are saved. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import t from "tap"
import { encode, frameSize } from "#core/audio/Mulaw.ts"
import { stereoWav } from "#runtime/terminal/stereoWav.ts"
import { headerBytes } from "#runtime/voice/RecordingHeader.ts"
import { keptSpeech } from "#test/support/keptSpeech.ts"
import { moonshineRoot, moonshineUnavailable } from "#test/support/moonshine.ts"

const silence = (seconds: number) => new Int16Array(8000 * seconds)
/** Whoever is called waits for the end of the greeting, and answers; and again when the agent asks again, because a busy machine may hear too late. */
const answer = [1, 2].flatMap(() => [...silence(10), ...keptSpeech("rms", "Yes, speaking.")])

function* framesOf(samples: Int16Array) {
  for (let at = 0; at + frameSize <= samples.length; at += frameSize) {
    const frame = encode(samples.subarray(at, at + frameSize))
    yield [frame, frame] as const
  }
}

/** How much of one side of a recording is loud. */
const loudSeconds = (path: string, side: 0 | 1): number => {
  const file = readFileSync(path)
  const samples = new Int16Array(file.buffer.slice(file.byteOffset + headerBytes, file.byteOffset + file.length))
  return samples.filter((sample, at) => at % 2 === side && Math.abs(sample) > 500).length / 8000
}

const talk = async (folder: string, ...words: ReadonlyArray<string>) => {
  const program = spawn(process.execPath, ["runtime/talk.ts", "--voice", ...words], {
    env: { DATA_DIR: folder, HEARING: "moonshine-base", POCKETSPHINX_DIR: "off" },
    stdio: ["ignore", "pipe", "pipe"]
  })
  let output = ""
  for (const stream of [program.stdout, program.stderr]) stream.on("data", (chunk: Buffer) => void (output += chunk.toString()))
  const [code] = await once(program, "exit")
  return { code, output }
}

t.test("given a callee in a recording", { skip: (await moonshineUnavailable()) ?? false, timeout: 600_000 }, async (t) => {
  const folder = t.testdir({})
  symlinkSync(moonshineRoot, join(folder, "models"))
  const [answers, call] = [join(folder, "answers.wav"), join(folder, "call.wav")]
  writeFileSync(answers, stereoWav(framesOf(Int16Array.from(answer))))
  const { code, output } = await talk(folder, "--wav", answers, "--save", call)
  t.match(output, /^agent: Hello, .* Am I speaking with Ada\?$/m)
  t.match(output, /^you: .*(yes|speaking)/im, "then the agent hears the answer")
  t.match(output, /^ {2}waits: recognition \d+ ms, end_of_turn \d+ ms, .*first_audio \d+ ms$/m, "and each stage of its turn is told")
  t.match(output, /"nodes_visited"/, "and what has been gathered at the end")
  t.equal(code, 0, output)
  t.ok(loudSeconds(call, 0) > 0.2 && loudSeconds(call, 1) > 1, "and the callee is left in the file, the agent right")
})

t.test("given a file without sound, then it is said at once", async (t) => {
  const folder = t.testdir({ "empty.wav": "" })
  t.match(await talk(folder, "--wav", join(folder, "empty.wav")), { code: 1, output: /empty\.wav is no WAV file with sound\nUsage: / })
})
