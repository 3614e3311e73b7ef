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
 *     |- CallNodes            dispatches calls to the other engines
 *     |- LeftElsewhere        watches the calls of other engines
 *     |- RecordingCompression compresses recordings after their calls
 *     |- delivery             stores files in the bucket, if there is one
 *     `- Housekeeping         deletes expired data
 *
 * Lower parts are built first and closed last: when the node stops, campaigns stop claiming, then calls get their time to end, then the trunks
 * close. An engine that stands by has the parts that carry calls, which it keeps when it gets the lock.
 */
import { Clock, Duration, Effect, Layer } from "effect"
import { MessageStorage, RunnerHealth, Runners, RunnerStorage, Sharding, ShardingConfig } from "effect/cluster"
import { AgentServices } from "#core/model/AgentServices.ts"
import { OrganizationModels } from "#core/model/OrganizationModels.ts"
import { AgentVersions } from "#core/agent/AgentVersions.ts"
import { ConversationPlans } from "#core/agent/conversation/ConversationPlans.ts"
import { AttemptStore } from "#core/call/AttemptStore.ts"
import { Dialer } from "#core/call/Dialer.ts"
import { LateCallStore } from "#core/call/LateCallStore.ts"
import { CarrierDeliveries } from "#core/provider/CarrierDeliveries.ts"
import { CampaignOwnership } from "#core/campaign/CampaignOwnership.ts"
import { FaultPauses } from "#core/campaign/FaultPause.ts"
import { CallKeeping } from "#core/file/CallKeeping.ts"
import { CredentialSecrets } from "#core/credential/CredentialSecrets.ts"
import { CarrierNumbers } from "#core/telephony/CarrierNumbers.ts"
import { TelephonyPreparations } from "#core/telephony/TelephonyPreparations.ts"
import { TelephonyTests } from "#core/telephony/TelephonyTests.ts"
import { betweenEnginesMillis } from "#core/campaign/Pacing.ts"
import { PreparedSettings } from "#core/telephony/PreparedSettings.ts"
import { TrunkSettings } from "#core/telephony/TrunkSettings.ts"
import { Signals } from "#core/Signals.ts"
import { callPricesLayer } from "#core/usage/ServicePrices.ts"
import { nowOf } from "#core/SteadyTime.ts"
import { TrunkSignals } from "#core/telephony/TrunkSignals.ts"
import { CallActor } from "./call/CallActor.ts"
import { CallJournal } from "./call/CallJournal.ts"
import { CallNames } from "./call/CallNames.ts"
import { CallsElsewhere } from "./call/CallsElsewhere.ts"
import { CallSupervisor } from "./call/CallSupervisor.ts"
import { ContextFetcher } from "./call/ContextFetcher.ts"
import { BrowserCalls } from "#core/call/BrowserCalls.ts"
import * as Browsers from "./browser/BrowserCalls.ts"
import { BrowserTrunk } from "./browser/BrowserTrunk.ts"
import * as SingleCalls from "./single/SingleCalls.ts"
import { CallRate } from "./dispatch/CallRate.ts"
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
import { Promises } from "./journal/Promises.ts"
import * as NumberHolds from "./dispatch/NumberHolds.ts"
import * as LeftElsewhere from "./campaign/LeftElsewhere.ts"
import * as CallNode from "./nodes/CallNode.ts"
import { Dispatcher } from "./nodes/Dispatcher.ts"
import { RemoteTransfers } from "./nodes/RemoteTransfers.ts"
import { CallNodes } from "./nodes/CallNodes.ts"
import * as FormerCalls from "./nodes/FormerCalls.ts"
import { GRANT_MILLIS } from "./nodes/messages.ts"
import { EngineLock } from "./lock/EngineLock.ts"
import { given, later } from "./lock/Handover.ts"
import { lastDeparture } from "./lock/Incumbent.ts"
import { DeciderMetrics } from "./metrics/DeciderMetrics.ts"
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

/** Below everything that creates files, so that it still stores those of the last calls when the node stops. */
const delivery = Layer.effectDiscard(Files.use((files) => files.deliver))

const stores = Layer.mergeAll(
  delivery,
  AttemptStore.layer.pipe(Layer.provideMerge(CallNode.wakeLayer)),
  CarrierDeliveries.layer,
  LateCallStore.layer,
  CampaignOwnership.layer,
  FaultPauses.layer,
  AgentServices.layer,
  OrganizationModels.layer,
  AgentVersions.layer,
  ConversationPlans.layer,
  PreparedSettings.layer,
  CallNode.outagesLayer,
  TrunkSettings.layer
)

/** The engines that were there before this one got the lock. */
const met = Layer.effectDiscard(CallsElsewhere.meetAll).pipe(Layer.provideMerge(CallsElsewhere.layer))

/** What this engine, or one before it, may have allowed to leave counts toward the same rates. */
const firstDeparture = Layer.effectDiscard(
  Effect.gen(function* () {
    const { former } = (yield* EngineLock).taken
    const engines = (yield* CallsElsewhere).engines()
    const { carried } = yield* CallNode.Carrying
    const { begin } = yield* CallRate
    // What the other engine allowed call nodes to send may have left a little later; what left here is known.
    const grantMillis = engines.some(({ schemaVersion }) => schemaVersion !== null) ? GRANT_MILLIS : 0
    const leftUntil = former === undefined ? Number.NEGATIVE_INFINITY : lastDeparture(former, grantMillis)
    begin(Math.max(leftUntil, carried.leftAt) + betweenEnginesMillis)
  })
)

/** The calls that this engine has carried until now report here, and so do their numbers. */
const decidesHere = Layer.effectDiscard(
  Effect.gen(function* () {
    const { numberFreed, watcher } = yield* CampaignInboxes
    const { carried } = yield* CallNode.Carrying
    carried.watchedBy(watcher)
    yield* carried.renewAll
    ;(yield* Dispatcher).isHere((message) => {
      if (message._tag === "NumberFreed") numberFreed(message.campaignIds)
    })
  })
)

/** Coordination state, in memory, of the calls here. */
const coordination = Layer.mergeAll(Slots.layerMemory, MediaRoom.layer, CallRate.layerMemory, CallKeeping.layer, Deadlines.layer)
const transfers = RemoteTransfers.departuresLayer.pipe(Layer.provideMerge(RemoteTransfers.layer), Layer.provide(CallRate.layerMemory))
const optOuts = CallNode.optOutsLayer.pipe(Layer.provideMerge(Promises.layer), Layer.provide(LocalJournal.layer))

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
  Layer.provideMerge(CallJournal.layer.pipe(Layer.provide(callPricesLayer))),
  Layer.provideMerge(conversations),
  Layer.provideMerge(CallNames.layer),
  Layer.provideMerge(MediaSockets.layer),
  Layer.provideMerge(LocalJournal.layer),
  Layer.provideMerge(BrowserTrunk.layer),
  Layer.provideMerge(TrunkPool.layer.pipe(Layer.provide(PublicAddress.layer))),
  Layer.provideMerge(CallbackAddresses.layer)
)

/** Carries calls, whoever decides about them. An engine that gets the lock keeps it, with the calls that it has. */
const carrier = CallNode.Carrying.layer.pipe(
  Layer.provideMerge(calls),
  Layer.provideMerge(Layer.mergeAll(coordination, transfers, optOuts, CallNode.feedbackLayer, FormerCalls.heardLayer)),
  Layer.provideMerge(stores),
  Layer.provideMerge(Dispatcher.layer)
)

const campaigns = CampaignSupervisor.layer.pipe(Layer.provide(CampaignActor.layer))

const telephonyTests = asEngine(TelephonyTests, TelephonyTester.layer)

/** What the metrics tell of the engine that decides. */
const measured = Layer.effectDiscard(
  Effect.gen(function* () {
    const clock = yield* Clock.Clock
    const inboxes = yield* CampaignInboxes
    const nodes = yield* CallNodes
    const { isHeld, taken } = yield* EngineLock
    const { readBy } = yield* DeciderMetrics
    readBy(() => ({
      callNodes: nodes.metrics(),
      isHeld: isHeld(),
      isTakeover: taken.isTakeover,
      runningCampaigns: inboxes.open(),
      seconds: (nowOf(clock) - taken.at) / 1000
    }))
  })
)

/** What the API asks of the engine that decides: see `decided`. */
export const asked = Layer.mergeAll(
  later(Signals),
  later(TrunkSignals),
  later(BrowserCalls),
  later(Dialer),
  later(TelephonyPreparations),
  later(TelephonyTests),
  later(CarrierNumbers)
)
const decided = Layer.mergeAll(
  given(Signals),
  given(TrunkSignals),
  given(BrowserCalls),
  given(Dialer),
  given(TelephonyPreparations),
  given(TelephonyTests),
  given(CarrierNumbers),
  measured
)

/** What carriers send, to whichever engine. */
export const carriers = Layer.merge(asEngine(CarrierCallbacks, CarrierInbox.layer), CarrierSockets.layer).pipe(
  Layer.provide(RefusedRequests.layer)
)

const deciding = Layer.mergeAll(
  layerOwners.pipe(Layer.provideMerge(campaigns)),
  ClockSteps.layer,
  layerSweep,
  LeftElsewhere.layer,
  Mending.layer,
  NumberHolds.layer,
  Housekeeping.layer,
  RecordingCompression.layer,
  asEngine(BrowserCalls, Browsers.layer),
  asEngine(Dialer, SingleCalls.layer),
  telephonyTests,
  asEngine(TelephonyPreparations, TelephonyPreparer.layer.pipe(Layer.provide(telephonyTests))),
  asEngine(CarrierNumbers, CarrierNumberLists.layer)
).pipe(
  Layer.provideMerge(asEngine(Signals, CampaignSupervisor.layerSignals)),
  Layer.provideMerge(asEngine(TrunkSignals, CallNodes.layerSignals)),
  Layer.provideMerge(cluster),
  Layer.provideMerge(CallNodes.layer),
  Layer.provideMerge(Recovered.layer),
  Layer.provideMerge(Layer.merge(decidesHere, firstDeparture)),
  Layer.provideMerge(Layer.merge(CampaignInboxes.layer, met)),
  Layer.provideMerge(carrier),
  Layer.provideMerge(events.layer),
  Layer.provideMerge(stores),
  Layer.provideMerge(Dispatcher.layer)
)

/**
 * Needs a database, the adapters, the agent's voice and services, files and their URLs, and the settings. Gives the API what it has `asked` for, and
 * provides the rest of what it needs.
 */
export const layer = decided.pipe(Layer.provideMerge(deciding))

/** The part of an engine that stands by: it carries calls, as a call node. Needs the same, but no lock. */
export const callNode = Layer.merge(Mending.layerCallNode, FormerCalls.journalsLayer).pipe(
  Layer.provideMerge(Layer.merge(CallsElsewhere.layer, Layer.fresh(CampaignInboxes.layer))),
  Layer.provideMerge(carrier)
)
