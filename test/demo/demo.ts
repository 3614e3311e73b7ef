/**
 * Shows what the engine does, from an empty folder to the last recording: starts the service and a far end with callees, uploads a list, runs a
 * campaign and some conversations through the API, and compares every outcome with the one that is expected for the dialed number.
 */
import { monitorEventLoopDelay } from "node:perf_hooks"
import { Api, type Run } from "./Api.ts"
import { conversationsThrough } from "./Appointments.ts"
import { contactsOf, csvOf } from "./Callees.ts"
import { Conversations } from "./Conversations.ts"
import { DemoFailed } from "./DemoFailed.ts"
import { type Display, plainDisplay, styled, terminalDisplay } from "./Display.ts"
import { type FarEnd, startEmulator, startRealAsterisk } from "./FarEnd.ts"
import { help, type Options, readOptions } from "./Options.ts"
import { reportOf, type Sample } from "./Report.ts"
import { dispositionOf, keysOf, numberOf, secondsOf } from "./RunRecord.ts"
import { shown, startService } from "./Service.ts"
import { speak } from "./speak.ts"
import { summarize } from "./Summary.ts"
import type { Speech } from "./TalkingCallee.ts"
import { watch } from "./Watch.ts"

const rate = 40
const ringSeconds = 15
/** Longer than any other callee stays on the line, even if a busy machine is slow to speak or to detect a machine. */
const maxCallSeconds = 30
/** The least that the API accepts. */
const retryDelaySeconds = 30
const greeting =
  "Hello {{first_name}}, this is the Trunkline demo calling about your order {{order}}. Press 1 if you would like a call back."

const definition = {
  nodes: [
    { id: "1", type: "startCall", position: { x: 0, y: 0 }, data: { name: "Start", prompt: "Greet.", greeting_type: "text", greeting } }
  ],
  edges: []
}

/** Of this process, in which the callees live, while they are called. */
const standstills = monitorEventLoopDelay()
const interrupted = new AbortController()
let display: Display | undefined
/** Stops what was started, to be run in reverse order. */
const stops: Array<() => Promise<void>> = []
const stopLater = (stop: () => Promise<void>) => {
  stops.push(stop)
  interrupted.signal.throwIfAborted()
}

const stopAll = async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
}

const sampleOf = async (api: Api, runs: ReadonlyArray<Run>): Promise<Sample | undefined> => {
  const spoken = runs.filter((run) => dispositionOf(run) === "user_hangup" && run.transcript_url !== null && run.recording_url !== null)
  const [run] = spoken.toSorted((a, b) => Number(keysOf(b) !== "") - Number(keysOf(a) !== "") || secondsOf(b) - secondsOf(a))
  if (run === undefined) return undefined
  return {
    number: numberOf(run),
    transcript: await api.transcript(run),
    transcriptKey: run.transcript_url ?? "",
    recordingKey: run.recording_url ?? ""
  }
}

/** Undefined: callees at this far end cannot talk. */
const speakFor = async ({ letTalk, provider }: FarEnd, on: Display): Promise<Speech | undefined> => {
  if (letTalk === undefined) return undefined
  return on.step(
    "speech",
    "speaking what callees will say",
    () => speak(conversationsThrough(provider)),
    ({ agent, callees }) => `${callees.size} sentences of callees and ${agent.size} that they listen for, spoken by flite`
  )
}

const prepare = async (options: Options, on: Display) => {
  const farEnd = options.asterisk
    ? await on.step("callees", "installing Asterisk into .cache, the first time takes a while", startRealAsterisk, ({ name }) => name)
    : await on.step(
        "callees",
        "starting the emulator",
        () => startEmulator(options.provider),
        ({ name }) => name
      )
  stopLater(farEnd.stop)
  const { data, port, slots } = options
  const { apiUrl, provider } = farEnd
  const speech = await speakFor(farEnd, on)
  const service = await on.step(
    "service",
    "starting, with its own Postgres",
    () => startService({ data, port, slots, rate, ringSeconds, provider, apiUrl, speech, signal: interrupted.signal }),
    ({ folder, startMillis, url }) => `${url}, ready in ${(startMillis / 1000).toFixed(1)} s with its own Postgres in ${shown(folder)}`
  )
  stopLater(service.stop)
  return { farEnd, service, speech }
}
type Prepared = Awaited<ReturnType<typeof prepare>>

/** Undefined: callees at this far end cannot talk. */
const converse = async (
  api: Api,
  on: Display,
  { farEnd, speech }: Prepared,
  campaign: Parameters<typeof Conversations.prepare>[3]
): Promise<Conversations | undefined> => {
  if (speech === undefined) return undefined
  return on.step(
    "talks",
    "creating their agent and campaign",
    () => Conversations.prepare(api, farEnd, speech, campaign),
    ({ count }) => `${count} callees who hold conversations, beside the others and under the same slots`
  )
}

const runCampaign = async (options: Options, on: Display, prepared: Prepared) => {
  const { farEnd, service } = prepared
  const api = new Api(service.url, service.key)
  const { slots } = options
  const contacts = contactsOf(farEnd.mode, options.contacts)
  await api.ready()
  const telephony = await on.step(
    "telephony",
    "creating the configuration",
    async () => {
      const created = await api.createTelephonyConfig("demo", farEnd.config)
      if (farEnd.callerId !== undefined) await api.addPhoneNumber(created.id, farEnd.callerId)
      return created
    },
    () => farEnd.described
  )
  const agent = await on.step(
    "agent",
    "creating it",
    async () => {
      const { id } = await api.createAgent("Demo caller", definition)
      return api.configureAgent(id, { max_call_duration: maxCallSeconds, voicemail_detection: { enabled: true } })
    },
    ({ name }) => `${name}: greets by name, collects keys, leaves machines alone`
  )
  const list = csvOf(contacts)
  const source = await on.step(
    "contacts",
    "uploading the list",
    () => api.upload("demo.csv", list),
    () => `${contacts.length} in a CSV of ${(Buffer.byteLength(list) / 1024).toFixed(1)} KiB`
  )
  const settings = {
    name: "Demo",
    workflow_id: agent.id,
    source_type: "csv",
    source_id: source,
    telephony_configuration_id: telephony.id,
    max_concurrency: slots,
    retry_config: { max_retries: 1, retry_delay_seconds: retryDelaySeconds, retry_on_voicemail: false }
  }
  const campaign = await on.step(
    "campaign",
    "creating it",
    () => api.createCampaign(settings),
    () => `${slots} slots, at most ${rate} calls/s, busy and no answer once more after ${retryDelaySeconds} s`
  )
  const conversations = await converse(api, on, prepared, { telephonyId: telephony.id, slots })
  standstills.enable()
  await api.longestStandstill()
  await api.startCampaign(campaign.id)
  const ended = await watch(api, campaign, { slots, conversations, signal: interrupted.signal }, on)
  const progress = await api.progress(campaign.id)
  const stallMillis = { callees: standstills.max / 1e6, service: await api.longestStandstill() }
  const runs = await api.allRuns(campaign.id)
  const [held, sample] = [await conversations?.outcome(), await sampleOf(api, runs)]
  return { contacts, campaign: ended, progress, runs, conversations: held, sample, stallMillis }
}

const tell = async (options: Options, on: Display): Promise<boolean> => {
  const began = performance.now()
  on.say("", `  ${styled("bold", "Trunkline")} calls ${options.contacts} people${options.asterisk ? "" : ", and talks with some more"}`, "")
  const prepared = await prepare(options, on)
  const { farEnd, service } = prepared
  const { sample, ...came } = await Promise.race([runCampaign(options, on, prepared), service.died])
  const seconds = (performance.now() - began) / 1000
  const summary = summarize({
    ...came,
    farEnd,
    seen: await farEnd.calls(),
    warnings: service.warnings(),
    slots: options.slots,
    rate,
    seconds
  })
  const place = { url: service.url, folder: service.folder, key: service.key, isKept: options.keep }
  if (options.json) process.stdout.write(`${JSON.stringify({ ...summary, data: service.folder, sample: sample ?? null })}\n`)
  else on.say(...reportOf(summary, sample, place))
  if (options.keep && !interrupted.signal.aborted) {
    await Promise.race([service.died, new Promise<void>((resolve) => interrupted.signal.addEventListener("abort", () => resolve()))])
  }
  return summary.ok
}

const main = async (): Promise<number> => {
  const options = readOptions(process.argv.slice(2))
  if (options.help) {
    process.stdout.write(help)
    return 0
  }
  display = options.json ? plainDisplay(process.stderr) : process.stdout.isTTY ? terminalDisplay() : plainDisplay(process.stdout)
  return (await tell(options, display)) ? 0 : 1
}

/** npm may forward a Ctrl-C that the terminal has already sent us. */
const sameMillis = 1000
let askedAt = 0
const interrupt = () => {
  // A second Ctrl-C ends the demo at once.
  if (interrupted.signal.aborted && performance.now() > askedAt + sameMillis) process.exit(130)
  if (interrupted.signal.aborted) return
  askedAt = performance.now()
  interrupted.abort(new DemoFailed("Stopped."))
}
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, interrupt)

try {
  process.exitCode = await main()
} catch (error) {
  process.exitCode = interrupted.signal.aborted ? 130 : 1
  process.stderr.write(`\n${error instanceof DemoFailed ? error.message : error instanceof Error ? error.stack : String(error)}\n`)
} finally {
  display?.close()
  await stopAll()
}
