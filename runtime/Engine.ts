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
 *     |- Recovered, sweep     settles the calls of an earlier process, and work that events have missed
 *     |- RecordingCompression compresses recordings after their calls
 *     |- delivery             brings files into the bucket, where they are kept in one
 *     `- Housekeeping         deletes expired data
 *
 * Lower parts are built first and closed last: when the node stops, campaigns stop claiming, then calls get their time to end, then the trunks
 * close.
 */
import { Duration, Effect, Layer } from "effect"
import { SingleRunner } from "effect/cluster"
import { Digest } from "effect/crypto"
import { AgentServices } from "#core/model/AgentServices.ts"
import { AgentVersions } from "#core/agent/AgentVersions.ts"
import { ConversationPlans } from "#core/agent/conversation/ConversationPlans.ts"
import { AttemptStore } from "#core/call/AttemptStore.ts"
import { WakeWaiting } from "#core/call/NumberHold.ts"
import { Dialer } from "#core/call/Dialer.ts"
import { LateCallStore } from "#core/call/LateCallStore.ts"
import { CarrierDeliveries } from "#core/provider/CarrierDeliveries.ts"
import { RecentOptOuts } from "#core/contact/RecentOptOuts.ts"
import { CampaignOwnership } from "#core/campaign/CampaignOwnership.ts"
import { FaultPauses } from "#core/campaign/FaultPause.ts"
import { CallKeeping } from "#core/file/CallKeeping.ts"
import { LiveFeedback } from "#core/run/LiveFeedback.ts"
import { CredentialSecrets } from "#core/credential/CredentialSecrets.ts"
import { CarrierNumbers } from "#core/telephony/CarrierNumbers.ts"
import { TelephonyPreparations } from "#core/telephony/TelephonyPreparations.ts"
import { TelephonyTests } from "#core/telephony/TelephonyTests.ts"
import { PreparedSettings } from "#core/telephony/PreparedSettings.ts"
import { TrunkOutages } from "#core/telephony/TrunkOutages.ts"
import { TrunkSettings } from "#core/telephony/TrunkSettings.ts"
import { Signals } from "#core/Signals.ts"
import { TrunkSignals } from "#core/telephony/TrunkSignals.ts"
import { CallActor } from "./call/CallActor.ts"
import { CallJournal } from "./call/CallJournal.ts"
import { CallNames } from "./call/CallNames.ts"
import { CallSupervisor } from "./call/CallSupervisor.ts"
import { ContextFetcher } from "./call/ContextFetcher.ts"
import * as SingleCalls from "./call/SingleCalls.ts"
import { CallRate } from "./dispatch/CallRate.ts"
import { CampaignActor } from "./campaign/CampaignActor.ts"
import * as ClockSteps from "./campaign/ClockSteps.ts"
import * as CampaignSupervisor from "./campaign/CampaignSupervisor.ts"
import { CampaignInboxes } from "./campaign/CampaignInbox.ts"
import { CarrierCallbacks } from "#core/provider/CarrierCallbacks.ts"
import * as CarrierNumberLists from "./trunk/CarrierNumberLists.ts"
import * as CallbackAddresses from "./trunk/CallbackAddresses.ts"
import * as CarrierInbox from "./call/CarrierInbox.ts"
import * as CarrierSockets from "./call/CarrierSockets.ts"
import { MediaSockets } from "./call/MediaSockets.ts"
import * as CallConversations from "./call/CallConversations.ts"
import { HttpTools } from "./conversation/HttpTools.ts"
import { ConversationRecords } from "./conversation/ConversationRecords.ts"
import { Deadlines } from "./dispatch/Deadlines.ts"
import * as Housekeeping from "./Housekeeping.ts"
import * as events from "./events.ts"
import { WebhookSender } from "./webhook/WebhookSender.ts"
import { LocalJournal } from "./journal/LocalJournal.ts"
import * as NumberHolds from "./dispatch/NumberHolds.ts"
import * as Mending from "./campaign/Mending.ts"
import { layerSweep, Recovered } from "./campaign/Recovery.ts"
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

/** Tells campaigns that wait for a number that it is free, whichever statement released it. */
const wakeWaiting = Layer.effect(
  WakeWaiting,
  Effect.map(CampaignInboxes, (inboxes) => inboxes.numberFreed)
).pipe(Layer.provide(CampaignInboxes.layer))

/** Below everything that makes files, so that it still stores those of the last calls when the node stops. */
const delivery = Layer.effectDiscard(Files.use((files) => files.deliver))

const stores = Layer.mergeAll(
  delivery,
  AttemptStore.layer.pipe(Layer.provide(wakeWaiting)),
  CarrierDeliveries.layer,
  LateCallStore.layer,
  CampaignOwnership.layer,
  FaultPauses.layer,
  AgentServices.layer,
  AgentVersions.layer,
  ConversationPlans.layer,
  PreparedSettings.layer,
  TrunkOutages.layer,
  TrunkSettings.layer
)

/** State for coordination: kept in memory by a single node, shared by several. */
const coordination = Layer.mergeAll(
  Slots.layerMemory,
  MediaRoom.layer,
  CallRate.layerMemory,
  CampaignInboxes.layer,
  CallKeeping.layer,
  Deadlines.layer,
  LiveFeedback.layer,
  RecentOptOuts.layer
)

const cluster = SingleRunner.layer({
  runnerStorage: "memory",
  shardingConfig: {
    entityMessagePollInterval: Duration.seconds(1),
    entityTerminationTimeout: Duration.seconds(2),
    maxResidentEntities: "unbounded",
    simulateRemoteSerialization: false
  }
}).pipe(Layer.provide(Digest.layerWebCrypto))

const fetcher = ContextFetcher.layer.pipe(Layer.provide([CredentialSecrets.layer, WebhookSender.layer]))

const conversations = ConversationRecords.layer.pipe(Layer.provide([CallFiles.layer, StorageRoom.layer]))

const tools = HttpTools.layer.pipe(Layer.provide([CredentialSecrets.layer, WebhookSender.layer]))

const calls = CallSupervisor.layer.pipe(
  Layer.provideMerge(CallActor.layer.pipe(Layer.provide([fetcher, CallConversations.layer.pipe(Layer.provide(tools))]))),
  Layer.provideMerge(CallJournal.layer),
  Layer.provideMerge(conversations),
  Layer.provideMerge(CallNames.layer),
  Layer.provideMerge(MediaSockets.layer),
  Layer.provideMerge(LocalJournal.layer),
  Layer.provideMerge(asEngine(TrunkSignals, TrunkPool.layerSignals)),
  Layer.provideMerge(TrunkPool.layer),
  Layer.provideMerge(CallbackAddresses.layer)
)

const campaigns = CampaignSupervisor.layer.pipe(Layer.provide(CampaignActor.layer))

const telephonyTests = asEngine(TelephonyTests, TelephonyTester.layer)

/**
 * Needs a database, the adapters, the agent's voice and services, files and their URLs, and the settings. Provides the API's `Signals`, `TrunkSignals`, `Dialer`,
 * `TelephonyPreparations`, `TelephonyTests`, `CarrierNumbers`, `CallKeeping`, events and `LiveFeedback`.
 */
export const layer = Layer.mergeAll(
  campaigns,
  ClockSteps.layer,
  layerSweep,
  Mending.layer,
  NumberHolds.layer,
  Housekeeping.layer,
  RecordingCompression.layer,
  asEngine(CarrierCallbacks, CarrierInbox.layer),
  CarrierSockets.layer,
  asEngine(Dialer, SingleCalls.layer),
  telephonyTests,
  asEngine(TelephonyPreparations, TelephonyPreparer.layer.pipe(Layer.provide(telephonyTests))),
  asEngine(CarrierNumbers, CarrierNumberLists.layer)
).pipe(
  Layer.provideMerge(asEngine(Signals, CampaignSupervisor.layerSignals)),
  Layer.provideMerge(cluster),
  Layer.provideMerge(Recovered.layer),
  Layer.provideMerge(calls),
  Layer.provideMerge(coordination),
  Layer.provideMerge(events.layer),
  Layer.provideMerge(stores)
)
