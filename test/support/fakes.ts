/** An in-memory world for tests of actors: a provider and a database that do what a test says, and a `log` of all requests to them. */
import type { CallCost } from "#core/provider/CallCost.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { Effect, Layer, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import type { Tool } from "#core/tool/Tool.ts"
import type { CallLimits } from "#core/call/Call.ts"
import type { AttemptEnd } from "#core/call/Attempt.ts"
import type { Claim } from "#core/call/AttemptBeginning.ts"
import type { DecidedEnd, Finished } from "#core/call/AttemptEnding.ts"
import { AttemptStore } from "#core/call/AttemptStore.ts"
import { CarrierDeliveries } from "#core/provider/CarrierDeliveries.ts"
import { LateCallStore } from "#core/call/LateCallStore.ts"
import type { LateLife } from "#core/run/RunRecord.ts"
import { CallKeeping } from "#core/file/CallKeeping.ts"
import { RecentOptOuts } from "#core/contact/RecentOptOuts.ts"
import { CampaignOwnership, type DialPlan } from "#core/campaign/CampaignOwnership.ts"
import type { LastWord } from "#core/campaign/LastWords.ts"
import { defaultRetryConfig } from "#core/campaign/RetryPolicy.ts"
import { AgentDefinitionId, AgentId, type CallId, CampaignId, OrganizationId, RunId, TelephonyConfigId } from "#core/Id.ts"
import type { Adapter, OriginateDoubtful, OriginateRefused, Presence, ProviderError, TrunkContext } from "#core/provider/Adapter.ts"
import type { Manifest } from "#core/provider/Manifest.ts"
import type { AcceptMedia } from "#core/provider/MediaSocket.ts"
import type { ChosenServices } from "#core/model/AgentServices.ts"
import { Registry } from "#core/provider/Registry.ts"
import { deafServices } from "./services.ts"
import { type TrunkSetting, TrunkSettings } from "#core/telephony/TrunkSettings.ts"
import { BrowserTrunk } from "#runtime/browser/BrowserTrunk.ts"
import { CallActor } from "#runtime/call/CallActor.ts"
import { CallJournal } from "#runtime/call/CallJournal.ts"
import { CallNames } from "#runtime/call/CallNames.ts"
import { CallsElsewhere } from "#runtime/call/CallsElsewhere.ts"
import { CallNodes } from "#runtime/nodes/CallNodes.ts"
import { CallSupervisor } from "#runtime/call/CallSupervisor.ts"
import { ContextFetcher } from "#runtime/call/ContextFetcher.ts"
import { CallRate, RealMillis } from "#runtime/dispatch/CallRate.ts"
import { CampaignActor } from "#runtime/campaign/CampaignActor.ts"
import { CampaignInboxes } from "#runtime/campaign/CampaignInbox.ts"
import { Config } from "#runtime/config/config.ts"
import { Deadlines } from "#runtime/dispatch/Deadlines.ts"
import type { KnownCall } from "#runtime/journal/FormerJournals.ts"
import { LocalJournal } from "#runtime/journal/LocalJournal.ts"
import { Charge } from "#runtime/lock/Charge.ts"
import { EngineLock } from "#runtime/lock/EngineLock.ts"
import { MediaSockets } from "#runtime/call/MediaSockets.ts"
import { RecordPause } from "#runtime/call/RecordPause.ts"
import { TransferDepartures } from "#runtime/call/TransferDepartures.ts"
import { Slots } from "#runtime/dispatch/Slots.ts"
import { TrunkPool } from "#runtime/trunk/TrunkPool.ts"
import { MediaRoom } from "#runtime/voice/MediaRoom.ts"
import { VoiceAgent } from "#runtime/voice/VoiceAgent.ts"
import { journalOf } from "./fakeJournal.ts"
import { agentsOf, leaving, noDeliveries, noOutages } from "./fakePorts.ts"
import { adapterOf } from "./fakeProvider.ts"
import { ownershipOf, statement } from "./fakeStatements.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import type { CollectedConversation } from "#runtime/conversation/ConversationRecords.ts"
import { refTo } from "./refTo.ts"

export { failing, noReply, refusal } from "./fakeProvider.ts"

export const configurationId = TelephonyConfigId.make(3)
export const organizationId = OrganizationId.make(1)
export const campaignId = CampaignId.make(7)
/** What every attempt belongs to, apart from its campaign. */
export const attemptIds = {
  agentDefinitionId: AgentDefinitionId.make(1),
  agentId: AgentId.make(1),
  organizationId,
  runId: RunId.make(1),
  telephonyConfigurationId: configurationId
}

interface Contact {
  readonly rowNo: number
  state: "pending" | "dialing" | "in_call" | "completed" | "failed" | "retry_wait"
  retriesUsed: number
  dueAt: number
  /** The others are claimed first. */
  isLast?: boolean
}
interface Attempt {
  state: "intent" | "sent" | "answered" | "ended" | "void"
  readonly dialEpoch: number
  readonly contact: Contact | undefined
  /** Another engine's. */
  readonly node?: string
  readonly hasJustEnded?: boolean
}

export class World {
  readonly log: Array<string> = []
  readonly dials: Array<CallLimits & { readonly at: number; readonly to: string; readonly callId: CallId }> = []
  /** Runs before a request can leave, while a real adapter would connect. */
  connecting: Effect.Effect<void> = Effect.void
  /** The provider's answers. */
  originate: Effect.Effect<unknown, OriginateRefused | OriginateDoubtful> = Effect.void
  hangup: Effect.Effect<void, ProviderError> = Effect.void
  lookup: Effect.Effect<Presence, ProviderError> = Effect.succeed("gone")
  /** Whether a lookup finds the call. If not, the call is gone. */
  isFound: (call: CallRef) => boolean = () => true
  /** What a lookup returns besides the presence. */
  told: ReadonlyArray<TrunkEvent> = []
  media: Effect.Effect<unknown, ProviderError, Scope.Scope> = Effect.void
  opensMedia = true
  transfers = false
  /** What the conversation of a call has left behind. */
  conversation: CollectedConversation | undefined
  /** A real adapter instead of the provider that responds as a test says. */
  adapter: Adapter | undefined
  /** The protocol, if the provider connects to us for the audio of calls. */
  accept: AcceptMedia | undefined
  read: Adapter["read"]
  /** Whether `leave` is also called once on behalf of the adapter, as it is for an adapter from a package. */
  isAskedFor = false
  mayAppear = true
  provider: Partial<TrunkContext> = {}
  trunk: TrunkSetting | undefined = {
    callerIds: { all: [], preferred: undefined },
    credentials: {},
    id: configurationId,
    isProven: false,
    maxConcurrentCalls: undefined,
    organizationId,
    provider: "fake",
    version: "1"
  }

  isDown = false
  isDiskFull = false
  /** What really passes, whatever the test's clock says: so that on a busy machine, the process is not mistaken for one that has stood still. */
  realMillis = 0
  /** How many of the next requests are noted in the journal and then find the process frozen. */
  freezes = 0
  isLockHeld = true
  /** What the journals say about the requests of earlier processes. */
  left: KnownCall["left"] = "unsure"
  /** Runs when an attempt is marked as sent. */
  marking: Effect.Effect<void> = Effect.void
  claiming: Effect.Effect<void> = Effect.void
  /** Runs when the version of an agent is looked up. */
  finding: Effect.Effect<void> = Effect.void
  definition: Readonly<Record<string, unknown>> = {}
  configurations: Readonly<Record<string, unknown>> = {}
  tools: ReadonlyArray<Tool> = []
  /** The services that agents speak with. They have no recognizer. */
  services: ChosenServices = deafServices
  keeping = { recordings: true, transcripts: true }
  fetch: ContextFetcher["Service"]["fetch"] = () => Effect.die("nothing is to be fetched")
  readonly bills: Array<readonly [CallId, CallCost]> = []
  /** Properties of the provider's manifest that differ from the usual. */
  manifest: Partial<Manifest> = {}
  /** What was recorded in the runs of late calls. */
  readonly annotated: Array<readonly [CallId, LateLife]> = []
  readonly journal: Array<string> = []
  /** The provider's ids of calls, as they were stored. */
  readonly names: Array<string> = []
  /** The call that each of these ids belongs to. */
  readonly owners = new Map<string, string>()
  /** The references with which the trunk's operations were called. */
  readonly refs: Array<CallRef> = []
  /** The provider's id in its replies to requests. If undefined, it returns ours. */
  providerCallId: string | undefined
  /** The ends of calls, as they were recorded. */
  readonly ends: Array<AttemptEnd> = []
  state: "running" | "paused" | "completed" = "running"
  /** The number of resume attempts in the campaign's row. */
  resumeTries: number | undefined
  readonly statements: Array<string> = []
  readonly entries: Array<string> = []
  readonly details: Array<unknown> = []
  readonly messages: Array<string> = []
  /** What the campaign's log says. */
  readonly words: Array<LastWord> = []
  readonly attempts = new Map<CallId, Attempt>()
  contacts: Array<Contact> = []
  plan: DialPlan = {
    agentId: AgentId.make(1),
    breaker: null,
    breakerEpoch: 1,
    campaignId,
    definitionId: AgentDefinitionId.make(1),
    dialEpoch: 1,
    maxConcurrency: null,
    organizationId,
    organizationShare: 10,
    ownerEpoch: 0,
    rateLimit: 10,
    retry: defaultRetryConfig,
    schedule: null,
    settingsVersion: 1,
    telephonyConfigurationId: configurationId,
    telephonyProvider: "fake"
  }

  withContacts(count: number): void {
    this.contacts = Array.from({ length: count }, (_, i) => ({ dueAt: 0, retriesUsed: 0, rowNo: i + 1, state: "pending" }))
  }
  change(plan: Partial<DialPlan>): void {
    this.plan = { ...this.plan, ...plan }
  }
  /** What a pause does to the row, before its signal. */
  pauseRow(): void {
    this.state = "paused"
    this.resumeTries = undefined
    this.change({ dialEpoch: this.plan.dialEpoch + 1 })
  }
  resumeRow(): void {
    this.state = "running"
    this.resumeTries = undefined
    this.change({ breakerEpoch: this.plan.breakerEpoch + 1, dialEpoch: this.plan.dialEpoch + 1 })
  }
}

const isDue = ({ dueAt, state }: Contact, now: number) => state === "pending" || (state === "retry_wait" && dueAt <= now)

const claim = (world: World, { callers, callIds, dialEpoch, now, ownerEpoch }: Claim) => {
  const { plan } = world
  const owned = world.state === "running" && plan.ownerEpoch === ownerEpoch && plan.dialEpoch === dialEpoch
  const ready = world.contacts
    .filter((contact) => owned && isDue(contact, now))
    .sort((a, b) => Number(a.isLast ?? false) - Number(b.isLast ?? false) || b.retriesUsed - a.retriesUsed || a.rowNo - b.rowNo)
  const attempts = callIds.slice(0, ready.length).map((callId, i) => {
    const contact = ready[i] ?? { dueAt: 0, retriesUsed: 0, rowNo: 0, state: "pending" as const }
    contact.state = "dialing"
    world.attempts.set(callId, { contact, dialEpoch, state: "sent" })
    return {
      ...attemptIds,
      callId,
      initialContext: {},
      callerNumber: callers[i] ?? null,
      phoneNumber: `+1555${contact.rowNo}`,
      retriesUsed: contact.retriesUsed,
      rowNo: contact.rowNo,
      runId: RunId.make(contact.rowNo)
    }
  })
  const waiting = world.contacts.filter(({ dueAt, state }) => state === "retry_wait" && dueAt > now).map(({ dueAt }) => dueAt)
  const more = attempts.length === callIds.length
  return { attempts, more, nextDueAt: waiting.length === 0 ? undefined : Math.min(...waiting), owned }
}

const isLive = (attempt: Attempt | undefined): attempt is Attempt =>
  attempt !== undefined && ["intent", "sent", "answered"].includes(attempt.state)

const finish = (world: World, { callId, decided, end }: DecidedEnd): Finished => {
  world.ends.push(end)
  const attempt = world.attempts.get(callId)
  if (!isLive(attempt)) return { _tag: "AlreadyOver" }
  const { retry, settingsVersion } = world.plan
  if (decided !== undefined && decided.settingsVersion !== settingsVersion)
    return { _tag: "Stale", breakerEnabled: false, retry, settingsVersion }
  attempt.state = "ended"
  world.log.push(`ended ${end.outcome}`)
  const fate = decided?.fate
  if (attempt.contact !== undefined && fate !== undefined) {
    attempt.contact.state = fate.state
    if (fate.state === "retry_wait") Object.assign(attempt.contact, { dueAt: fate.dueAt, retriesUsed: attempt.contact.retriesUsed + 1 })
  }
  const campaignCompleted = world.contacts.length > 0 && world.contacts.every(({ state }) => state === "completed" || state === "failed")
  if (campaignCompleted) world.state = "completed"
  return { _tag: "Done", breakerEntry: false, campaignCompleted }
}

const undo = (world: World, callId: CallId, isLast: boolean) => {
  const attempt = world.attempts.get(callId)
  if (attempt?.state !== "intent" && attempt?.state !== "sent") return false
  attempt.state = "void"
  world.log.push("void")
  if (attempt.contact !== undefined)
    Object.assign(attempt.contact, { isLast, state: attempt.contact.retriesUsed > 0 ? "retry_wait" : "pending" })
  return true
}

const advance = (world: World, callId: CallId, from: Attempt["state"], to: "sent" | "answered") => {
  const attempt = world.attempts.get(callId)
  const isPermitted =
    attempt?.contact === undefined || to === "answered" || (world.state === "running" && attempt.dialEpoch === world.plan.dialEpoch)
  if (attempt?.state !== from || !isPermitted) return false
  attempt.state = to
  world.log.push(to)
  return true
}

const storeOf = (world: World): AttemptStore["Service"] => ({
  answered: (answers) =>
    statement(world, "answered", () => {
      for (const { callId } of answers) advance(world, callId, "sent", "answered")
    }),
  begin: () => Effect.die("no single calls here"),
  changedElsewhere: () => {},
  claim: (request) =>
    Effect.andThen(
      Effect.suspend(() => world.claiming),
      // A claim waits for the disk, and does not see what happens in the meantime.
      Effect.tap(
        statement(world, "claim", () => claim(world, request)),
        () => Effect.suspend(() => world.marking)
      )
    ),
  finish: (ends) => statement(world, "finish", () => ends.map((end) => finish(world, end))),
  find: () => Effect.succeed([]),
  hasOther: (callId, _, providerCallId) =>
    statement(world, "has other", () => [...world.owners].some(([owner, name]) => owner !== callId && name === providerCallId)),
  named: (names) =>
    statement(world, "named", () => {
      for (const { callId, providerCallId } of names) {
        world.names.push(providerCallId)
        world.owners.set(callId, providerCallId)
      }
    }),
  live: Effect.succeed([]),
  liveIds: () => Effect.succeed([]),
  outlived: Effect.succeed([]),
  releaseNumber: () => Effect.succeed(false),
  resumeForgotten: Effect.succeed(0),
  sent: (callId) =>
    Effect.andThen(
      Effect.suspend(() => world.marking),
      statement(world, "sent", () => advance(world, callId, "intent", "sent"))
    ),
  undo: (callId, { isLast = false }) => statement(world, "undo", () => undo(world, callId, isLast))
})

const lateCallsOf = (world: World): LateCallStore["Service"] => ({
  annotate: (callId, late) => statement(world, "annotate", () => world.annotated.push([callId, late]) > 0),
  attempts: (id, callIds) =>
    statement(world, "attempts", () =>
      callIds.flatMap((callId) => {
        const attempt = world.attempts.get(callId)
        const call = refTo(callId, { providerCallId: world.names.at(-1) })
        return attempt === undefined || id !== configurationId
          ? []
          : [{ call, hasJustEnded: attempt.hasJustEnded ?? false, isLive: isLive(attempt), node: attempt.node ?? "node1" }]
      })
    ),
  bill: (callId, cost) => statement(world, "bill", () => void world.bills.push([callId, cost])),
  inDoubt: Effect.succeed([])
})

const lockOf = (world: World) =>
  Layer.effect(
    EngineLock,
    Effect.map(EngineLock, (lock) => ({ ...lock, isHeld: () => world.isLockHeld }))
  ).pipe(
    Layer.provide(EngineLock.layerHeld),
    Layer.merge(
      Layer.effect(
        Charge,
        Effect.map(Charge, (charge) => ({ ...charge, mayDial: () => world.isLockHeld }))
      ).pipe(Layer.provide(Charge.layer))
    )
  )

/** `environment` is that of the engine; `voice` is the agent's voice. */
export const layerOf = (
  world: World,
  environment: Readonly<Record<string, string>> = {},
  voice: Layer.Layer<VoiceAgent> = VoiceAgent.layerNone,
  media: typeof MediaRoom.layer = MediaRoom.layer
) => {
  const ports = Layer.mergeAll(
    Layer.succeed(AttemptStore, storeOf(world)),
    Layer.succeed(LateCallStore, lateCallsOf(world)),
    Layer.succeed(CarrierDeliveries, noDeliveries),
    Layer.succeed(CampaignOwnership, ownershipOf(world)),
    Layer.succeed(LocalJournal, journalOf(world)),
    leaving(() => world.conversation),
    Layer.succeed(CallKeeping, { of: () => Effect.sync(() => world.keeping), changed: Effect.void }),
    // The cast holds because the journal uses it only for transactions.
    Layer.succeed(SqlClient.SqlClient, { withTransaction: <A>(effect: A) => effect } as unknown as SqlClient.SqlClient),
    agentsOf(world),
    lockOf(world),
    Layer.merge(CallsElsewhere.layer, CallNodes.layerNone),
    Layer.succeed(RecordPause, { afterEnd: 0, between: 0 }),
    Layer.succeed(RealMillis, () => world.realMillis),
    Layer.succeed(ContextFetcher, { fetch: (question) => Effect.suspend(() => world.fetch(question)) }),
    Layer.succeed(TrunkSettings, { find: () => Effect.sync(() => world.trunk), prove: () => Effect.void, refuseCaller: () => Effect.void }),
    noOutages,
    Registry.layerOf([world.adapter ?? adapterOf(world)]),
    // An invalid value is a mistake in the test.
    Layer.orDie(Config.layerOf({ RECORDINGS: "off", ...environment })),
    voice
  )
  return CampaignActor.layer.pipe(
    Layer.provideMerge(CallSupervisor.layer),
    Layer.provideMerge(CallActor.layer),
    Layer.provideMerge(CallJournal.layer),
    Layer.provideMerge(CallNames.layer),
    Layer.provideMerge(BrowserTrunk.layer),
    Layer.provideMerge(TrunkPool.layer),
    Layer.provideMerge(MediaSockets.layer),
    Layer.provideMerge(TransferDepartures.layerHere),
    Layer.provideMerge(
      Layer.mergeAll(Slots.layerMemory, media, CallRate.layerMemory, CampaignInboxes.layer, Deadlines.layer, RecentOptOuts.layer)
    ),
    Layer.provideMerge(ports)
  )
}
