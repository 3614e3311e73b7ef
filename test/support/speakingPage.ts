/**
 * A page in Chromium that holds a conversation. Its microphone is silent until it is told to say a recording, so that nothing depends on how long the
 * agent takes; it listens to the agent, and keeps what it hears.
 */
import { sampleRate } from "#core/audio/Mulaw.ts"
import { callsFrom } from "./callingPage.ts"
import type { Page } from "./chromium.ts"

/** Between two looks at the sound. */
const lookMillis = 50
/** After this much silence in a row, the agent has finished. Counted in looks: the page of a busy machine may look late. */
const silentLooks = 20

const opensMicrophone = `(async () => {
  // Only with a microphone does a page offer real addresses.
  await navigator.mediaDevices.getUserMedia({ audio: true })
  window.audio = new AudioContext({ sampleRate: ${sampleRate} })
  window.mouth = audio.createMediaStreamDestination()
  return mouth.stream
})()`

const listens = `(() => {
  const stream = new MediaStream([connection.getReceivers()[0].track])
  const ear = audio.createAnalyser()
  ear.fftSize = 512
  audio.createMediaStreamSource(stream).connect(ear)
  const samples = new Float32Array(ear.fftSize)
  window.agent = { hasSpoken: false, quiet: 0 }
  setInterval(() => {
    ear.getFloatTimeDomainData(samples)
    const isLoud = samples.some((sample) => Math.abs(sample) > 0.02)
    agent.quiet = isLoud ? 0 : agent.quiet + 1
    agent.hasSpoken ||= isLoud
  }, ${lookMillis})
  const parts = []
  window.recorder = new MediaRecorder(stream)
  recorder.ondataavailable = ({ data }) => parts.push(data)
  window.recorded = new Promise((resolve) => { recorder.onstop = () => resolve(new Blob(parts)) })
  recorder.start()
})()`

const state = `({
  lines: signals.flatMap(({ type, payload }) => type === "rtf-bot-text" ? [payload.text] : []),
  isOver: signals.some(({ type }) => type === "call-ended"),
  isAgentDone: agent.hasSpoken && agent.quiet >= ${silentLooks}
})`

const says = (samples: Int16Array) => `(async () => {
  const bytes = Uint8Array.from(atob("${Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength).toString("base64")}"), (one) => one.charCodeAt(0))
  const said = Float32Array.from(new Int16Array(bytes.buffer), (sample) => sample / 32768)
  const buffer = audio.createBuffer(1, said.length, ${sampleRate})
  buffer.copyToChannel(said, 0)
  const source = new AudioBufferSourceNode(audio, { buffer })
  source.connect(mouth)
  source.start()
  await new Promise((resolve) => { source.onended = resolve })
  agent.hasSpoken = false
})()`

const heard = `(async () => {
  recorder.stop()
  const sound = await (await recorded).arrayBuffer()
  const decoded = await new OfflineAudioContext(1, 1, ${sampleRate}).decodeAudioData(sound)
  return Array.from(decoded.getChannelData(0), (sample) => Math.round(sample * 32767))
})()`

interface PageState {
  /** What the agent has said so far, in writing. */
  readonly lines: ReadonlyArray<string>
  readonly isOver: boolean
  /** The agent has spoken since the page did, and has finished. */
  readonly isAgentDone: boolean
}

/** Calls from an open page, and has it listen. The casts hold because the expressions are ours. */
export const conversesFrom = async (page: Page, socket: string) => {
  await page.evaluate(callsFrom(opensMicrophone, socket))
  await page.evaluate(listens)
  return {
    state: async () => (await page.evaluate(state)) as PageState,
    /** Resolves at the end of the recording, of 8 kHz. */
    say: (samples: Int16Array) => page.evaluate(says(samples)),
    /** Ends the listening, and returns all that was heard, at 8 kHz. */
    heard: async () => Int16Array.from((await page.evaluate(heard)) as ReadonlyArray<number>)
  }
}
