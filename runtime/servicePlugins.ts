/** The services of speech and language: the built-in ones, recognizers that this machine has or fetches, and those of npm packages. */
import { Effect, Stream } from "effect"
import { availableParallelism } from "node:os"
import { builtInServices, usualServices } from "#adapters/services.ts"
import { fliteProvider } from "#adapters/voice/flite/flite.ts"
import { leadInOf, leadInText } from "#adapters/voice/moonshine/LeadIn.ts"
import type { LeadIn } from "#adapters/voice/moonshine/TranscriptionModel.ts"
import { makeModelShelf } from "#adapters/voice/moonshine/ModelShelf.ts"
import type { MoonshineSize } from "#adapters/voice/moonshine/MoonshineFiles.ts"
import { moonshineProvider } from "#adapters/voice/moonshine/provider.ts"
import { findOwnModel } from "#adapters/voice/moonshine/OwnModel.ts"
import { makeTranscriber, type TranscriptionModels } from "#adapters/voice/moonshine/Transcriber.ts"
import { pocketsphinxProvider } from "#adapters/voice/pocketsphinx/provider.ts"
import { makeRecognition } from "#adapters/voice/pocketsphinx/Recognition.ts"
import { findSphinx } from "#adapters/voice/pocketsphinx/SphinxFiles.ts"
import { isAddressName, isSecret } from "#core/model/ModelSecrets.ts"
import { soundOf, type TextToSpeech } from "#core/model/TextToSpeech.ts"
import { type AnyServiceProvider, none, ServiceRegistry } from "#core/model/ServiceRegistry.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { npmEnvironment } from "./config/config.ts"
import { countPool } from "./metrics/SpeechMetrics.ts"
import { FliteVoices } from "./voice/FliteVoices.ts"
import { BadAdapter, isInstalled, isProviderName, isRecord, loadPackage } from "./adapterPackage.ts"

// Those who speak at once are more than one core can follow. The calls themselves go first.
const processes = Math.min(4, availableParallelism())
const recognitionTimeout = "10 seconds"
const mostWaiting = 8 * processes

const transcriptionIdle = "5 minutes"
const leadInAgain = "5 seconds"

/** What the setting HEARING may name besides a folder. The smaller model is fetched first. */
const moonshineSizes: Readonly<Record<string, ReadonlyArray<MoonshineSize>>> = {
  moonshine: ["tiny", "base"],
  "moonshine-tiny": ["tiny"],
  "moonshine-base": ["base"]
}

interface HearingOptions {
  /** The setting HEARING. */
  readonly hearing: string
  /** The folder that models are fetched into. */
  readonly models: string
}

interface PocketsphinxOptions {
  /** Undefined if it is to be used where it is installed. */
  readonly folder: string | undefined
  /** How many callees it recognizes while they speak. */
  readonly listening: number
}

export const layerOf = Effect.fnUntraced(function* (packages: ReadonlyArray<string>, options: HearingOptions & PocketsphinxOptions) {
  const flite = yield* FliteVoices
  const services = [
    ...builtInServices,
    fliteProvider(flite),
    ...(yield* moonshineBy(options, flite.speaker("slt"))),
    ...(yield* pocketsphinxIn(options)),
    ...(yield* Effect.forEach(packages, load))
  ]
  const names = services.map(({ manifest }) => `${manifest.kind} provider ${manifest.provider}`)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) return yield* new BadAdapter({ message: `SERVICES names a second ${twice}` })
  return ServiceRegistry.layerOf(services, usualServices)
})

/** A voice that is too busy to speak it is asked again. */
const leadInBy = (voice: TextToSpeech): Effect.Effect<LeadIn> =>
  SteadyTime.now.pipe(
    Effect.flatMap((neededAt) => Stream.runCollect(soundOf(voice.speak(leadInText, { isAnswered: false, neededAt })))),
    Effect.map((pieces) => leadInOf(Buffer.concat(pieces))),
    Effect.catch(() =>
      Effect.delay(
        Effect.suspend(() => leadInBy(voice)),
        leadInAgain
      )
    )
  )

const transcriberOf = Effect.fnUntraced(function* (models: () => TranscriptionModels) {
  const transcriber = yield* makeTranscriber({
    models,
    atOnce: processes,
    timeout: recognitionTimeout,
    idle: transcriptionIdle,
    mostWaiting
  })
  const running = () => Math.min(processes, transcriber.depth())
  yield* countPool("moonshine", { running, waiting: () => transcriber.depth() - running() })
  return transcriber
})

const moonshineBy = Effect.fnUntraced(function* ({ hearing, models: root }: HearingOptions, voice: TextToSpeech) {
  if (hearing === "off") return []
  const sizes = moonshineSizes[hearing]
  if (sizes !== undefined) {
    const { models, unready } = yield* makeModelShelf({ root, sizes, leadIn: leadInBy(voice), environment: npmEnvironment() })
    return [moonshineProvider({ transcriber: yield* transcriberOf(models), model: hearing, languages: ["en"], unready })]
  }
  const own = findOwnModel(hearing)
  if (typeof own === "string")
    return yield* new BadAdapter({ message: `HEARING names ${hearing}, which is no folder with a model: ${own}` })
  const { languages, model } = own
  const transcriber = yield* transcriberOf(() => ({ careful: model, quick: undefined }))
  return [moonshineProvider({ transcriber, model: model.name, languages, unready: () => undefined })]
})

const pocketsphinxIn = Effect.fnUntraced(function* ({ folder, listening }: PocketsphinxOptions) {
  const files = folder === "off" ? undefined : findSphinx(folder ?? "/")
  if (files !== undefined) {
    const recognition = yield* makeRecognition({ files, listening, mostWaiting, processes, timeout: recognitionTimeout })
    const whole = () => Math.min(processes, recognition.depth())
    const running = () => recognition.listening() + whole()
    yield* countPool("pocketsphinx", { running, waiting: () => recognition.depth() - whole() })
    return [pocketsphinxProvider(recognition)]
  }
  return folder === undefined || folder === "off"
    ? []
    : yield* new BadAdapter({ message: `POCKETSPHINX_DIR names ${folder}, which PocketSphinx is not in` })
})

const load = Effect.fnUntraced(function* (name: string) {
  if (!isInstalled(name)) {
    return yield* new BadAdapter({ message: `SERVICES names ${name}, which is not a package installed in ${process.cwd()}` })
  }
  const service = yield* loadPackage(name, {
    what: "a service",
    written: "defineLanguageModel({...}), defineRecognizer({...}), defineTextToSpeech({...}) or defineEndOfTurn({...})",
    faultOf
  })
  // Cast: `faultOf` has checked every part of the contract that can be checked before it is opened.
  return service as unknown as AnyServiceProvider
})

/** What opens a service of each kind that packages may bring. */
const openers: Readonly<Record<string, string>> = { end_of_turn: "open", llm: "open", stt: "recognizer", tts: "speaker" }

const faultOf = (service: Readonly<Record<string, unknown>>): string | undefined => {
  const { fields, manifest } = service
  if (!isRecord(manifest)) return "it has no manifest"
  const { contract, kind, provider } = manifest
  if (contract !== 1) return `it follows version ${String(contract)} of the contract of services, not 1`
  const opener = typeof kind === "string" && Object.hasOwn(openers, kind) ? openers[kind] : undefined
  if (opener === undefined) return `its kind is ${JSON.stringify(kind)}, not one of ${Object.keys(openers).join(", ")}`
  if (!isProviderName(provider) || provider === none) return `its provider name is not [a-z0-9_], or is ${none}`
  if (!isRecord(fields)) return "it has no fields"
  const unfit = Object.entries(fields).flatMap(([name, field]) => fieldFault(name, field) ?? [])
  if (unfit[0] !== undefined) return unfit[0]
  return typeof service[opener] === "function" && typeof service["faultsOf"] === "function" ? undefined : `it has no ${opener} function`
}

/** Configurations are masked, and secrets kept from other addresses, by the names of their members. */
const fieldFault = (name: string, field: unknown): string | undefined => {
  if (!isRecord(field)) return `its field ${name} is not made by Credential`
  if (field["sensitive"] === true && !isSecret(name))
    return `its secret field ${name} needs a name that says so, such as api_key, token, secret or password`
  return field["isAddress"] === true && !isAddressName(name)
    ? `its address field ${name} needs a name that ends in _url, _host or _endpoint`
    : undefined
}
