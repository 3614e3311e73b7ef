/** Reads the settings, composes the engine with its gateway, and launches both. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Cause, Console, Context, Effect, Exit, Layer, Logger, Redacted } from "effect"
import { hostname } from "node:os"
import { fileURLToPath } from "node:url"
import { Agents } from "#core/agent/Agents.ts"
import { AgentServices } from "#core/model/AgentServices.ts"
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
import { LinkMakers } from "#core/organization/LinkMakers.ts"
import { Organizations } from "#core/organization/Organizations.ts"
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
import { Gateway } from "#gateway/http/server.ts"
import { ServerInfo } from "#gateway/ports/ServerInfo.ts"
import packageJson from "../package.json" with { type: "json" }
import { Config, publicUrlOf } from "./config/config.ts"
import { OwnPlaces } from "./egress/OwnPlaces.ts"
import * as egress from "./egress/policy.ts"
import * as Engine from "./Engine.ts"
import { EngineLock } from "./lock/EngineLock.ts"
import * as logins from "./identity/logins.ts"
import { goFirst } from "./process/ownPriority.ts"
import { CallSupervisor } from "./call/CallSupervisor.ts"
import * as plugins from "./plugins.ts"
import * as ports from "./ports.ts"
import * as postgres from "./postgres/postgres.ts"
import { CallFiles } from "./storage/CallFiles.ts"
import * as StorageRoom from "./storage/StorageRoom.ts"
import * as CsvSource from "./storage/CsvSource.ts"
import * as NationalNumbers from "./telephony/NationalNumbers.ts"
import * as files from "./files.ts"
import { RecordingBytes } from "./storage/RecordingBytes.ts"
import * as secrets from "./secrets/Secrets.ts"
import * as telemetry from "./metrics/telemetry.ts"
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
const compatibility = Layer.unwrap(Effect.map(Config, (settings) => Layer.succeed(Compatibility, settings.compatibility)))
const recordingFormat = Layer.unwrap(Effect.map(Config, (settings) => Layer.succeed(DefaultRecordingFormat, settings.recordingFormat)))
const rateLimit = Layer.unwrap(Effect.map(Config, ({ callRate }) => Layer.succeed(DefaultRateLimit, callRate)))

const gateway = Layer.unwrap(Effect.map(Config, ({ host, port, trustedProxies = [] }) => Api.layer({ host, port, trustedProxies })))
const tools = HttpTools.layer.pipe(Layer.provide([CredentialSecrets.layer, WebhookSender.layer]))
const agentTests = AgentTester.layer.pipe(Layer.provide(AgentServices.layer))
const textChats = InactiveChats.layer.pipe(
  Layer.provideMerge(TextChats.layer),
  Layer.provide([AgentServices.layer, chatTalk.layer.pipe(Layer.provide(tools))])
)
const api = Layer.mergeAll(Campaigns.layer, Calls.layer, Idempotency.layer, agentTests, textChats).pipe(
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
      resources.layer
    )
  ),
  Layer.provideMerge(
    Layer.merge(TelephonyConfigs.layer, Layer.merge(PhoneNumbers.layer, NumberImports.layer).pipe(Layer.provide(NationalNumbers.layer)))
  ),
  Layer.provide(rateLimit)
)

const isAnyAddress = (host: string): boolean => host === "0.0.0.0" || host === "::"

const OnReady = Context.Reference<() => void>("runtime/OnReady", { defaultValue: () => () => {} })

/** Prints the first API key, the set-up code for the first account and the URLs: the only lines of standard output besides the log. */
const welcome = Layer.effectDiscard(
  Effect.gen(function* () {
    const { apiKey, host, nodeAddress, orgConcurrency, signup } = yield* Config
    const organizations = yield* Organizations
    const { key } = yield* organizations.bootstrap(apiKey, orgConcurrency)
    if (key !== undefined) yield* Console.log(`API key (shown once): ${Redacted.value(key)}`)
    const code = signup === "invite" ? yield* organizations.setUpCode : undefined
    if (code !== undefined) yield* Console.log(`Set-up code for the first account (shown once): ${Redacted.value(code)}`)
    const url = yield* Effect.flatMap(ServerInfo, ({ url }) => url)
    const { port } = yield* Gateway
    yield* OwnPlaces.use((own) => Effect.sync(() => own.add(port)))
    yield* EngineLock.use((lock) => Effect.sync(() => lock.listensAt(`${nodeAddress ?? (isAnyAddress(host) ? hostname() : host)}:${port}`)))
    const { url: metrics } = yield* MetricsServer
    if (metrics !== undefined) {
      yield* OwnPlaces.use((own) => Effect.sync(() => own.add(Number(new URL(metrics).port))))
      yield* Console.log(`Metrics for Prometheus are at ${metrics}`)
    }
    if (!goFirst())
      yield* Effect.logInfo("the priority of calls could not be raised: they share the processor with everything else on this machine")
    yield* Console.log(`Trunkline is ready at ${url}  (API: ${url}/api/v1, documentation: ${url}/docs)`)
    yield* Effect.map(OnReady, (onReady) => onReady())
  })
).pipe(Layer.provide(Organizations.layer))

/**
 * Closed first when the engine stops: nothing is dialed any more, and calls get their time to end while carriers still reach the gateway, with
 * the audio of calls and with how they ended.
 */
const farewell = Layer.effectDiscard(
  Effect.gen(function* () {
    const { dialNoMore } = yield* EngineLock
    const { drain } = yield* CallSupervisor
    yield* Effect.addFinalizer(() => Effect.andThen(Effect.sync(dialNoMore), drain))
  })
)

const service = Layer.merge(welcome, farewell).pipe(
  Layer.provide([gateway, ports.metricsServer]),
  Layer.provide(ports.admission),
  Layer.provide(Layer.mergeAll(api, ports.layer, serverInfo)),
  Layer.provide(Engine.layer),
  Layer.provide(publicFiles.layer.pipe(Layer.provide([FileLinks.layer, serverInfo]))),
  Layer.provide(voice),
  // Built once no other engine writes, and before anything reads a secret.
  Layer.provideMerge(Layer.merge(secrets.layer, postgres.wallLayer)),
  Layer.provide(postgres.schemaLayer),
  // Acquired before anything that may dial is built, and released after it has closed.
  Layer.provideMerge(EngineLock.layer),
  Layer.provide(egress.layer.pipe(Layer.provideMerge(OwnPlaces.layer))),
  Layer.provide(Layer.merge(plugins.layer.pipe(Layer.provideMerge(FliteVoices.layer())), postgres.layer)),
  Layer.provide([files.layer, compatibility, recordingFormat])
)

/** The reason why the engine could not run: one line for an expected error, otherwise with the whole cause. */
const explained = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  return error instanceof Error && "_tag" in error ? error.message : Cause.pretty(cause)
}

/** Runs until another engine takes over the database. */
const running = Effect.flatMap(EngineLock, ({ replaced }) => replaced)

interface Launch {
  /** Called once the engine has said that it is ready. */
  readonly onReady?: () => void
  /** For tests, which replace services with it. */
  readonly extra?: Layer.Layer<never>
}

export const launch = ({ extra = Layer.empty, onReady = () => {} }: Launch = {}) =>
  NodeRuntime.runMain(
    running.pipe(
      Effect.provide(service.pipe(Layer.provide(telemetry.layer), Layer.provide(extra), Layer.provide(Config.layer))),
      Effect.tapCause((cause) =>
        Cause.hasInterruptsOnly(cause) ? Effect.void : Console.error(`Trunkline could not run: ${explained(cause)}`)
      ),
      Effect.provide(Logger.layer([])),
      Effect.provideService(OnReady, onReady)
    ),
    {
      disableErrorReporting: true,
      teardown: (exit, done) => done(Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause) ? 0 : 1)
    }
  )

if (process.argv[1] === fileURLToPath(import.meta.url)) launch()
