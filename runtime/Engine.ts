/**
 * The supervision tree:
 *
 *     Engine
 *     |- CampaignSupervisor   cluster entities: each running campaign has one owner in the whole cluster
 *     |  `- CampaignActor     decides when the next contact is dialed, and claims it
 *     |- CallSupervisor       local fibers of the node that dials
 *     |  `- CallActor         one per live attempt
 *     |     `- VoiceSession   audio in and out
 *     |- TrunkPool            one live trunk per telephony configuration
 *     |- events               delivers events to followers and webhooks, and the requests of agents' webhook nodes
 *     |- Recovered, sweep     settles the calls of an earlier process, and work that no event announced
 *     |- CallNodes            dispatches calls to engines that only carry them
 *     |- LeftElsewhere        watches the calls of call nodes, and of an engine that is leaving
 *     |- RecordingCompression compresses recordings after their calls
 *     |- delivery             stores files in the bucket, if there is one
 *     `- Housekeeping         deletes expired data
 *
 * Lower parts are built first and closed last: when the node stops, campaigns stop claiming, then calls get their time to end, then the trunks
 * close.
 */
import { Duration, Effect, Layer } from "effect"
import { MessageStorage, RunnerHealth, Runners, RunnerStorage, Sharding, ShardingConfig } from "effect/cluster"
import { AgentServices } from "#core/model/AgentServices.ts"
import { AgentVersions } from "#core/agent/AgentVersions.ts"
import { ConversationPlans } from "#core/agent/conversation/ConversationPlans.ts"
import { AttemptStore } from "#core/call/AttemptStore.ts"
import { WakeWaiting } from "#core/call/NumberHold.ts"
import { Dialer } from "#core/call/Dialer.ts"
import { LateCallStore } from "#core/call/LateCallStore.ts"
import { CarrierDeliveries } from "#core/provider/CarrierDeliveries.ts"
import { CampaignOwnership } from "#core/campaign/CampaignOwnership.ts"
import { FaultPauses } from "#core/campaign/FaultPause.ts"
import { CallKeeping } from "#core/file/CallKeeping.ts"
import { LiveFeedback } from "#core/run/LiveFeedback.ts"
import { CredentialSecrets } from "#core/credential/CredentialSecrets.ts"
import { CarrierNumbers } from "#core/telephony/CarrierNumbers.ts"
import { TelephonyPreparations } from "#core/telephony/TelephonyPreparations.ts"
import { TelephonyTests } from "#core/telephony/TelephonyTests.ts"
import { betweenEnginesMillis } from "#core/campaign/Pacing.ts"
import { PreparedSettings } from "#core/telephony/PreparedSettings.ts"
import { TrunkOutages } from "#core/telephony/TrunkOutages.ts"
import { TrunkSettings } from "#core/telephony/TrunkSettings.ts"
import { Signals } from "#core/Signals.ts"
import { TrunkSignals } from "#core/telephony/TrunkSignals.ts"
import { CallActor } from "./call/CallActor.ts"
import { CallJournal } from "./call/CallJournal.ts"
import { CallNames } from "./call/CallNames.ts"
import { CallsElsewhere } from "./call/CallsElsewhere.ts"
import { CallSupervisor } from "./call/CallSupervisor.ts"
import { ContextFetcher } from "./call/ContextFetcher.ts"
import * as SingleCalls from "./single/SingleCalls.ts"
import { CallRate, FirstDeparture } from "./dispatch/CallRate.ts"
import { CampaignActor } from "./campaign/CampaignActor.ts"
import * as ClockSteps from "./campaign/ClockSteps.ts"
import * as CampaignSupervisor from "./campaign/CampaignSupervisor.ts"
import { CampaignInboxes } from "./campaign/CampaignInbox.ts"
import { CarrierCallbacks } from "#core/provider/CarrierCallbacks.ts"
import * as CarrierNumberLists from "./trunk/CarrierNumberLists.ts"
import * as CallbackAddresses from "./trunk/CallbackAddresses.ts"
import * as PublicAddress from "./trunk/PublicAddress.ts"
import * as CarrierInbox from "./call/CarrierInbox.ts"
import * as CarrierSockets from "./call/CarrierSockets.ts"
import * as RefusedRequests from "./call/RefusedRequests.ts"
import { MediaSockets } from "./call/MediaSockets.ts"
import * as CallConversations from "./call/CallConversations.ts"
import { HttpTools } from "./conversation/HttpTools.ts"
import * as LateExtraction from "./conversation/LateExtraction.ts"
import { ConversationRecords } from "./conversation/ConversationRecords.ts"
import { Deadlines } from "./dispatch/Deadlines.ts"
import * as Housekeeping from "./Housekeeping.ts"
import * as events from "./events.ts"
import { WebhookSender } from "./webhook/WebhookSender.ts"
import { LocalJournal } from "./journal/LocalJournal.ts"
import { layerOptOuts, Promises } from "./journal/Promises.ts"
import * as NumberHolds from "./dispatch/NumberHolds.ts"
import * as LeftElsewhere from "./campaign/LeftElsewhere.ts"
import * as CallNode from "./nodes/CallNode.ts"
import { Dispatcher } from "./nodes/Dispatcher.ts"
import { CallNodes } from "./nodes/CallNodes.ts"
import { GRANT_MILLIS } from "./nodes/messages.ts"
import { EngineLock } from "./lock/EngineLock.ts"
import * as Mending from "./campaign/Mending.ts"
import { layerOwners, layerSweep, Recovered } from "./campaign/Recovery.ts"
import { Slots } from "./dispatch/Slots.ts"
import * as RecordingCompression from "./voice/RecordingCompression.ts"
import * as TelephonyPreparer from "./trunk/TelephonyPreparer.ts"
import * as TelephonyTester from "./trunk/TelephonyTester.ts"
import { CallFiles } from "./storage/CallFiles.ts"
import { Files } from "./storage/Files.ts"
import * as StorageRoom from "./storage/StorageRoom.ts"
import { TrunkPool } from "./trunk/TrunkPool.ts"
import { asEngine } from "./postgres/asEngine.ts"
import { MediaRoom } from "./voice/MediaRoom.ts"

/** Tells campaigns waiting for a number that it is free, whichever statement released it. */
const wakeWaiting = Layer.effect(
  WakeWaiting,
  Effect.map(CampaignInboxes, (inboxes) => inboxes.numberFreed)
).pipe(Layer.provide(CampaignInboxes.layer))

/** Below everything that creates files, so that it still stores those of the last calls when the node stops. */
const delivery = Layer.effectDiscard(Files.use((files) => files.deliver))

const storesWith = <R, S>(wake: Layer.Layer<never, never, R>, outages: Layer.Layer<TrunkOutages, never, S>) =>
  Layer.mergeAll(
    delivery,
    AttemptStore.layer.pipe(Layer.provide(wake)),
    CarrierDeliveries.layer,
    LateCallStore.layer,
    CampaignOwnership.layer,
    FaultPauses.layer,
    AgentServices.layer,
    AgentVersions.layer,
    ConversationPlans.layer,
    PreparedSettings.layer,
    outages,
    TrunkSettings.layer
  )

const firstDeparture = Layer.effect(
  FirstDeparture,
  Effect.gen(function* () {
    const { otherDialedUntil = Number.NEGATIVE_INFINITY } = (yield* EngineLock).taken
    const engines = (yield* CallsElsewhere).engines()
    // What the other engine allowed call nodes to send may have left a little later.
    const grantMillis = engines.some(({ schemaVersion }) => schemaVersion !== null) ? GRANT_MILLIS : 0
    return otherDialedUntil + grantMillis + betweenEnginesMillis
  })
).pipe(Layer.provide(CallsElsewhere.layer))

/** Coordination state, in memory. */
const coordination = Layer.mergeAll(
  Slots.layerMemory,
  MediaRoom.layer,
  CallRate.layerMemory.pipe(Layer.provide(firstDeparture)),
  CampaignInboxes.layer,
  CallKeeping.layer,
  CallsElsewhere.layer,
  Deadlines.layer
)
const optOuts = layerOptOuts.pipe(Layer.provideMerge(Promises.layer), Layer.provide(LocalJournal.layer))

/**
 * Nothing of it is stored: which campaigns need an owner is told by their rows. An engine that is leaving would take messages of its successor from
 * a storage that they share.
 */
const cluster = Sharding.layer.pipe(
  Layer.provideMerge(Runners.layerNoop),
  Layer.provideMerge(MessageStorage.layerMemory),
  Layer.provide([RunnerStorage.layerMemory, RunnerHealth.layerNoop]),
  Layer.provide(
    ShardingConfig.layer({
      entityTerminationTimeout: Duration.seconds(2),
      maxResidentEntities: "unbounded",
      simulateRemoteSerialization: false
    })
  )
)

const fetcher = ContextFetcher.layer.pipe(Layer.provide([CredentialSecrets.layer, WebhookSender.layer]))

const conversations = ConversationRecords.layer.pipe(Layer.provide([CallFiles.layer, StorageRoom.layer, LateExtraction.layer]))

const tools = HttpTools.layer.pipe(Layer.provide([CredentialSecrets.layer, WebhookSender.layer]))

const calls = CallSupervisor.layer.pipe(
  Layer.provideMerge(CallActor.layer.pipe(Layer.provide([fetcher, CallConversations.layer.pipe(Layer.provide(tools))]))),
  Layer.provideMerge(CallJournal.layer),
  Layer.provideMerge(conversations),
  Layer.provideMerge(CallNames.layer),
  Layer.provideMerge(MediaSockets.layer),
  Layer.provideMerge(LocalJournal.layer),
  Layer.provideMerge(TrunkPool.layer.pipe(Layer.provide(PublicAddress.layer))),
  Layer.provideMerge(CallbackAddresses.layer)
)

const campaigns = CampaignSupervisor.layer.pipe(Layer.provide(CampaignActor.layer))

const carriers = Layer.merge(asEngine(CarrierCallbacks, CarrierInbox.layer), CarrierSockets.layer).pipe(
  Layer.provide(RefusedRequests.layer)
)

const telephonyTests = asEngine(TelephonyTests, TelephonyTester.layer)

/**
 * Needs a database, the adapters, the agent's voice and services, files and their URLs, and the settings. Provides the API's `Signals`, `TrunkSignals`, `Dialer`,
 * `TelephonyPreparations`, `TelephonyTests`, `CarrierNumbers`, `CallKeeping`, events and `LiveFeedback`.
 */
export const layer = Layer.mergeAll(
  layerOwners.pipe(Layer.provideMerge(campaigns)),
  ClockSteps.layer,
  layerSweep,
  LeftElsewhere.layer,
  Mending.layer,
  NumberHolds.layer,
  Housekeeping.layer,
  RecordingCompression.layer,
  carriers,
  asEngine(Dialer, SingleCalls.layer),
  telephonyTests,
  asEngine(TelephonyPreparations, TelephonyPreparer.layer.pipe(Layer.provide(telephonyTests))),
  asEngine(CarrierNumbers, CarrierNumberLists.layer)
).pipe(
  Layer.provideMerge(asEngine(Signals, CampaignSupervisor.layerSignals)),
  Layer.provideMerge(asEngine(TrunkSignals, CallNodes.layerSignals)),
  Layer.provideMerge(cluster),
  Layer.provideMerge(CallNodes.layer.pipe(Layer.provide(wakeWaiting))),
  Layer.provideMerge(Recovered.layer),
  Layer.provideMerge(calls),
  Layer.provideMerge(Layer.mergeAll(coordination, optOuts, LiveFeedback.layer)),
  Layer.provideMerge(events.layer),
  Layer.provideMerge(storesWith(wakeWaiting, TrunkOutages.layer))
)

/** The part of the engine that carries calls, as a call node. Needs the same, but no lock. */
export const callNode = Layer.mergeAll(CallNode.layerLinks, CallNodes.layerNone, Mending.layerCallNode, carriers).pipe(
  Layer.provideMerge(calls),
  Layer.provideMerge(Layer.mergeAll(coordination, CallNode.optOutsLayer, CallNode.feedbackLayer)),
  Layer.provide(storesWith(CallNode.wakeLayer, CallNode.outagesLayer)),
  Layer.provide(Dispatcher.layer),
  Layer.provideMerge(CallNode.lockLayer)
)
