/** Reads the settings, composes the engine with its gateway, and launches both. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Cause, Clock, Console, Context, Effect, Exit, Layer, Logger, Redacted, Scope } from "effect"
import { fileURLToPath } from "node:url"
import { Agents } from "#core/agent/Agents.ts"
import { AgentServices } from "#core/model/AgentServices.ts"
import { BrowserRuns } from "#core/call/BrowserRuns.ts"
import { Calls } from "#core/call/Calls.ts"
import { TextChats } from "#core/chat/TextChats.ts"
import { CredentialSecrets } from "#core/credential/CredentialSecrets.ts"
import { Campaigns, DefaultRateLimit } from "#core/campaign/Campaigns.ts"
import { OptOuts } from "#core/contact/OptOuts.ts"
import { Uploads } from "#core/file/Uploads.ts"
import { Compatibility } from "#core/Compatibility.ts"
import { Folders } from "#core/folder/Folders.ts"
import { Idempotency } from "#core/Idempotency.ts"
import * as accounts from "#core/services/accounts.ts"
import { Engines } from "#core/node/Engines.ts"
import { LinkMakers } from "#core/organization/LinkMakers.ts"
import { Organizations } from "#core/organization/Organizations.ts"
import { callPricesLayer } from "#core/usage/ServicePrices.ts"
import { PlayedRecordings } from "#core/recording/PlayedRecordings.ts"
import * as resources from "#core/services/resources.ts"
import { Reports } from "#core/report/Reports.ts"
import { DefaultRecordingFormat } from "#core/file/RecordingFormat.ts"
import { Retentions } from "#core/file/Retentions.ts"
import { Runs } from "#core/run/Runs.ts"
import { NumberImports } from "#core/telephony/NumberImports.ts"
import { PhoneNumbers } from "#core/telephony/PhoneNumbers.ts"
import { TelephonyConfigs } from "#core/telephony/TelephonyConfigs.ts"
import * as Api from "#gateway/api.ts"
import { FileLinks } from "#gateway/file/FileLinks.ts"
import * as publicFiles from "#gateway/file/publicFiles.ts"
import { MetricsServer } from "#gateway/metricsServer.ts"
import { Gateway } from "#gateway/http/Gateway.ts"
import { ServerInfo } from "#gateway/ports/ServerInfo.ts"
import packageJson from "../package.json" with { type: "json" }
import { Config, publicUrlOf } from "./config/config.ts"
import { OwnPlaces } from "./egress/OwnPlaces.ts"
import * as egress from "./egress/policy.ts"
import * as Engine from "./Engine.ts"
import { Charge } from "./lock/Charge.ts"
import { DatabaseTime, EngineClock } from "./lock/EngineClock.ts"
import { EngineLock } from "./lock/EngineLock.ts"
import { Handover } from "./lock/Handover.ts"
import { DeciderMetrics } from "./metrics/DeciderMetrics.ts"
import * as CallNode from "./nodes/CallNode.ts"
import { awaitDispatcher, Carriage } from "./nodes/Carriage.ts"
import * as PassedRequests from "./nodes/PassedRequests.ts"
import { StandingBy } from "./nodes/StandingBy.ts"
import * as logins from "./identity/logins.ts"
import { Started } from "./process/Started.ts"
import { goFirst } from "./process/ownPriority.ts"
import * as events from "./events.ts"
import * as farewell from "./farewell.ts"
import { ownAddress } from "./lock/ownAddress.ts"
import * as Deafness from "#core/model/Deafness.ts"
import { KeyTrials } from "#core/model/KeyTrials.ts"
import * as plugins from "./plugins.ts"
import * as ports from "./ports.ts"
import * as priceFile from "./priceFile.ts"
import * as postgres from "./postgres/postgres.ts"
import * as forgotten from "./redis/forgotten.ts"
import * as redis from "./redis/Redis.ts"
import * as sharedBudgets from "./redis/sharedBudgets.ts"
import { CallFiles } from "./storage/CallFiles.ts"
import { StepDown } from "./StepDown.ts"
import * as StorageRoom from "./storage/StorageRoom.ts"
import * as CsvSource from "./storage/CsvSource.ts"
import * as NationalNumbers from "./telephony/NationalNumbers.ts"
import * as files from "./files.ts"
import { RecordingBytes } from "./storage/RecordingBytes.ts"
import * as secrets from "./secrets/Secrets.ts"
import * as telemetry from "./metrics/telemetry.ts"
import * as tracing from "./trace/tracing.ts"
import * as AgentTester from "./conversation/AgentTester.ts"
import * as chatTalk from "./conversation/chatTalk.ts"
import { HttpTools } from "./conversation/HttpTools.ts"
import * as InactiveChats from "./conversation/InactiveChats.ts"
import { WebhookSender } from "./webhook/WebhookSender.ts"
import { FliteVoices } from "./voice/FliteVoices.ts"
import { MediaRoom } from "./voice/MediaRoom.ts"
import { RecordedSpeech } from "./voice/RecordedSpeech.ts"
import * as SpokenTts from "./voice/SpokenTts.ts"
import { VoiceAgent } from "#runtime/voice/VoiceAgent.ts"

const recorded = RecordedSpeech.layer.pipe(Layer.provide([PlayedRecordings.layer, RecordingBytes.layerFiles]))
const voice = VoiceAgent.layer.pipe(Layer.provide([SpokenTts.layer(), recorded, CallFiles.layer, StorageRoom.layer, MediaRoom.layer]))
const serverInfo = Layer.unwrap(
  Effect.map(Config, (settings) => ServerInfo.layer({ urlOf: (port) => publicUrlOf(settings, port), version: packageJson.version }))
)
const keyTrials = Layer.effect(
  KeyTrials,
  Effect.map(Config, ({ triesKeys }) => triesKeys)
)
const compatibility = Layer.unwrap(Effect.map(Config, (settings) => Layer.succeed(Compatibility, settings.compatibility)))
const recordingFormat = Layer.unwrap(Effect.map(Config, (settings) => Layer.succeed(DefaultRecordingFormat, settings.recordingFormat)))
const rateLimit = Layer.unwrap(Effect.map(Config, ({ callRate }) => Layer.succeed(DefaultRateLimit, callRate)))

/** An engine that does not decide yet may share the port of the API with one on this machine that does: it gets that when it takes over. */
const gateway = Layer.unwrap(
  Effect.gen(function* () {
    const { host, port, trustedProxies = [] } = yield* Config
    const { isTaken } = yield* Charge
    return Api.layer({ host, mayWait: !isTaken(), port, trustedProxies })
  })
)
const tools = HttpTools.layer.pipe(Layer.provide([CredentialSecrets.layer, WebhookSender.layer]))
const agentTests = AgentTester.layer.pipe(Layer.provide(AgentServices.layer))
const textChats = TextChats.layer.pipe(Layer.provide([AgentServices.layer, callPricesLayer, chatTalk.layer.pipe(Layer.provide(tools))]))
const api = Layer.mergeAll(Campaigns.layer, BrowserRuns.layer, Calls.layer, Idempotency.layer, agentTests, textChats).pipe(
  Layer.provide(CsvSource.layer),
  Layer.provideMerge(
    Layer.mergeAll(
      Agents.layer,
      Folders.layer,
      OptOuts.layer,
      Reports.layer,
      Retentions.layer,
      Runs.layer,
      Uploads.layer,
      accounts.layer.pipe(Layer.provide(logins.layer)),
      FileLinks.layer,
      LinkMakers.layer,
      Engines.layer,
      resources.layer
    )
  ),
  Layer.provideMerge(
    Layer.merge(TelephonyConfigs.layer, Layer.merge(PhoneNumbers.layer, NumberImports.layer).pipe(Layer.provide(NationalNumbers.layer)))
  ),
  Layer.provide([rateLimit, Deafness.layer]),
  Layer.provideMerge(events.seen),
  Layer.provideMerge(Engine.asked)
)

/** Where clients, carriers and other engines connect. Built once, and open as long as the engine runs, whether it decides or only carries calls. */
const front = Layer.mergeAll(gateway, ports.metricsServer).pipe(
  Layer.provide(Layer.mergeAll(Engine.carriers, CallNode.layerLinks, PassedRequests.layer)),
  Layer.provideMerge(Layer.mergeAll(api, ports.layer, serverInfo)),
  Layer.provide(Layer.mergeAll(ports.admission, ports.requestTraces, ports.turnServers))
)

const OnReady = Context.Reference<() => void>("runtime/OnReady", { defaultValue: () => () => {} })

const notFirst = "the priority of calls could not be raised: they share the processor with everything else on this machine"

/**
 * Makes the first API key before the API listens, so that it accepts API_KEY from its first request. It is printed at once: if the start then fails, the
 * next one does not make it again.
 */
const firstKey = Layer.effectDiscard(
  Effect.gen(function* () {
    const { apiKey, orgConcurrency } = yield* Config
    const { key } = yield* Organizations.use((_) => _.bootstrap(apiKey, orgConcurrency))
    if (key !== undefined) yield* Console.log(`API key (shown once): ${Redacted.value(key)}`)
  })
)

/**
 * Prints how to create the first account, with a new set-up code at each start until there is one: an earlier output may be lost, or have been read by
 * others. Only the engine that has the lock gets here, so a standby engine does not void the code that this one has printed.
 */
const inviteFirst = Effect.fnUntraced(function* (url: string) {
  const { signup } = yield* Config
  const code = signup === "invite" ? yield* Organizations.use((_) => _.newSetUpCode) : undefined
  if (code === undefined) return
  const setUpCode = Redacted.value(code)
  const account = `{"email": "...", "password": "...", "setup_code": "${setUpCode}"}`
  yield* Console.log(
    `Nobody has an account yet. Create the owner's at ${url}/console with the set-up code ${setUpCode}, which is valid until the next start or takeover, ` +
      `or fill in this command and run it:\ncurl ${url}/api/v1/auth/signup -H 'Content-Type: application/json' -d '${account}'`
  )
})

/** Prints the URLs: with the first key and the first account's command, the only lines of standard output besides the log. */
const welcome = Layer.effectDiscard(
  Effect.gen(function* () {
    const config = yield* Config
    const site = yield* ServerInfo
    const port = yield* Gateway.use(({ arrive }) => arrive)
    yield* site.listensOn(port)
    const url = yield* site.url
    yield* OwnPlaces.use((own) => Effect.sync(() => own.add(port)))
    yield* EngineLock.use((lock) => Effect.sync(() => lock.listensAt(ownAddress(config, port))))
    yield* inviteFirst(url)
    yield* Effect.map(Started, ({ finish }) => finish())
    yield* Console.log(`Trunkline is ready at ${url}  (console: ${url}/console, API: ${url}/api/v1, documentation: ${url}/docs)`)
    yield* Effect.map(OnReady, (onReady) => onReady())
  })
)

/** What an engine needs of the machine and its settings, whether it decides or only carries calls. */
const ground = Layer.mergeAll(
  files.layer,
  compatibility,
  keyTrials,
  recordingFormat,
  priceFile.layer,
  Started.layer,
  Charge.layer,
  Handover.layer,
  DeciderMetrics.layer,
  StandingBy.layer,
  forgotten.layer,
  sharedBudgets.layer
).pipe(Layer.provideMerge(redis.layer))
const network = egress.layer.pipe(Layer.provideMerge(OwnPlaces.layer))
const outside = Layer.merge(plugins.layer.pipe(Layer.provideMerge(FliteVoices.layer())), postgres.layer)

/** Acquired before anything that decides is built, and released after it has closed. */
const lock = Layer.effectDiscard(StandingBy.use(({ end }) => end)).pipe(Layer.provideMerge(EngineLock.layer))

/** Once, whether the engine decides or only carries calls. */
const notices = Layer.effectDiscard(
  Effect.gen(function* () {
    const { url } = yield* MetricsServer
    if (url !== undefined) {
      yield* OwnPlaces.use((own) => Effect.sync(() => own.add(Number(new URL(url).port))))
      yield* Console.log(`Metrics for Prometheus are at ${url}`)
    }
    if (!goFirst()) yield* Effect.logInfo(notFirst)
  })
)

/** From now on the API answers everything here. */
const decides = Layer.effectDiscard(Handover.use(({ done }) => Effect.sync(done)))

const service = Layer.mergeAll(welcome, farewell.layer(Gateway), InactiveChats.layer, StepDown.layer).pipe(
  Layer.provide(notices),
  Layer.provide(front),
  Layer.provide(decides),
  Layer.provide(firstKey.pipe(Layer.provideMerge(Organizations.layer))),
  Layer.provide(Engine.layer),
  Layer.provide(publicFiles.layer.pipe(Layer.provide([FileLinks.layer, serverInfo]))),
  Layer.provide(voice),
  // Built once no other engine writes, and before anything reads a secret.
  Layer.provideMerge(postgres.wallLayer.pipe(Layer.provideMerge(secrets.layer))),
  Layer.provide(postgres.schemaLayer),
  Layer.provideMerge(lock),
  Layer.provide(network),
  Layer.provide(outside),
  Layer.provide(ground)
)

const callNode = Carriage.layer(Gateway).pipe(
  Layer.provide(notices),
  Layer.provide(front),
  Layer.provideMerge(Engine.callNode),
  Layer.provide(publicFiles.layer.pipe(Layer.provide([FileLinks.layer, serverInfo]))),
  Layer.provide(voice),
  Layer.provideMerge(postgres.wallLayer.pipe(Layer.provideMerge(secrets.layerReading))),
  Layer.provide(Layer.effectDiscard(StandingBy.use(({ begin }) => begin(awaitDispatcher)))),
  Layer.provide(network),
  Layer.provideMerge(outside),
  Layer.provideMerge(ground)
)

/** Why the engine could not run: one line for an expected error, otherwise the whole cause. */
const explained = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  return error instanceof Error && "_tag" in error ? error.message : Cause.pretty(cause)
}

/**
 * Waits for the lock, and decides from then on; carries calls for the engine that has it until then. Runs until another engine takes over the
 * database, settles this one's calls, or is to decide in its place. What both need is built once, and kept when the lock comes.
 */
const running = Effect.gen(function* () {
  const memoMap = yield* Layer.makeMemoMap
  const own = yield* Effect.scope
  const [carrying, deciding] = yield* Effect.all([Scope.fork(own), Scope.fork(own)])
  const carry = Effect.gen(function* () {
    const context = yield* Layer.buildWithMemoMap(callNode, memoMap, carrying)
    const { end, over } = Context.get(context, Carriage)
    yield* Context.get(context, StandingBy).begun(end)
    yield* over
  })
  const decide = Effect.flatMap(Layer.buildWithMemoMap(service, memoMap, deciding), (context) =>
    Effect.raceFirst(Context.get(context, EngineLock).replaced, Context.get(context, StepDown).due)
  )
  yield* Effect.raceFirst(decide, carry)
}).pipe(Effect.scoped)

interface Launch {
  /** Called once the engine has reported that it is ready. */
  readonly onReady?: () => void
  /** Lets tests replace services. */
  readonly extra?: Layer.Layer<never>
  readonly clock?: EngineClock
}

export const launch = ({ clock = new EngineClock(), extra = Layer.empty, onReady = () => {} }: Launch = {}) =>
  NodeRuntime.runMain(
    running.pipe(
      Effect.provide(
        tracing
          .layer(packageJson.version)
          .pipe(Layer.provideMerge(telemetry.layer), Layer.provideMerge(extra), Layer.provideMerge(Config.layer))
      ),
      Effect.tapCause((cause) =>
        Cause.hasInterruptsOnly(cause) ? Effect.void : Console.error(`Trunkline could not run: ${explained(cause)}`)
      ),
      Effect.provide(Logger.layer([])),
      Effect.provideService(OnReady, onReady),
      Effect.provideService(Clock.Clock, clock),
      Effect.provideService(DatabaseTime, clock)
    ),
    {
      disableErrorReporting: true,
      teardown: (exit, done) => done(Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause) ? 0 : 1)
    }
  )

if (process.argv[1] === fileURLToPath(import.meta.url)) launch()
