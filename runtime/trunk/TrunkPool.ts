/**
 * Keeps one live trunk per telephony configuration, opened on first use. When the configuration gets other credentials, a new trunk replaces it:
 * later calls are dialed through the new one, and the old one is closed when its last call has ended.
 */
import { hash } from "node:crypto"
import { Clock, Context, Effect, Exit, FiberSet, Layer, Schedule, Scope, Semaphore } from "effect"
import { EgressPolicy, refusesUrl } from "#core/egress/Egress.ts"
import type { CallId, CampaignId, TelephonyConfigId } from "#core/Id.ts"
import { type Adapter, type Endpoint, OriginateRefused, type Trunk, type TrunkContext, type TrunkStatus } from "#core/provider/Adapter.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import type { Callback, CallbackRead } from "#core/provider/Callback.ts"
import type { AcceptMedia } from "#core/provider/MediaSocket.ts"
import { addressesIn } from "#core/provider/Credential.ts"
import { Registry } from "#core/provider/Registry.ts"
import { type CallerIds, callerIdFor, lackAmong, type NumbersLacking } from "#core/telephony/CallerId.ts"
import { type TrunkSetting, TrunkSettings } from "#core/telephony/TrunkSettings.ts"
import { TrunkOutages } from "#core/telephony/TrunkOutages.ts"
import { Charge } from "#runtime/lock/Charge.ts"
import { Config } from "#runtime/config/config.ts"
import { CallbackAddresses } from "./CallbackAddresses.ts"
import { PublicAddress } from "./PublicAddress.ts"
import type { CallsOfNode, EventSource } from "./CallsOfNode.ts"
import { InFlight } from "./InFlight.ts"
import { type CallControl, replacedTrunk } from "./replacedTrunk.ts"
import { RefusedCallers } from "./RefusedCallers.ts"
import { refusedTrunk } from "./refusedTrunk.ts"
import { logChanges } from "./logChanges.ts"
import { noteOutages } from "./outages.ts"
import { ownLooks } from "./ownLooks.ts"
import { Unexplained } from "#core/provider/Unexplained.ts"
import { makeHealth, type TrunkHealth } from "#core/provider/TrunkHealth.ts"

/** How often a replaced trunk is checked for remaining calls; longer than a call takes to start. */
const UNUSED_CHECK = "30 seconds"
const CHECKED_AT_ONCE = 4
const RENEW_AGAIN = Schedule.spaced("5 seconds")

export interface LiveTrunk extends TrunkHealth {
  readonly configurationId: TelephonyConfigId
  readonly adapter: Adapter
  /** Controls the calls that it has placed. */
  readonly trunk: CallControl
  /** Places a call. If the request has no caller ID, it shows one of the configuration's numbers. */
  readonly originate: Trunk["originate"]
  /** The caller ID that `to` would be shown now; undefined if the configuration has no number. */
  readonly callerIdFor: (to: string) => string | undefined
  /** The caller IDs that calls may show now. */
  readonly callerIds: () => CallerIds
  /** Why no call can be placed: each needs a caller ID, and the configuration has none that it may show. Undefined if that is not so. */
  readonly numbersLacking: () => NumbersLacking | undefined
  /** Whose fault refusals in unknown words are. */
  readonly unexplained: Unexplained
  /** The provider has accepted a call, which also shows that the configuration is right. */
  readonly placed: (callId: CallId) => void
  /** The provider does not let calls show this number. */
  readonly refuseCallerId: (number: string, detail: string) => void
  /** False once another trunk has replaced it, or the configuration is gone. */
  readonly isCurrent: () => boolean
  /** Limits how many requests of this trunk wait for a reply. */
  readonly originating: InFlight
  /** Limits how many claims that a call has ended are checked at once, so that they do not hold up other requests. */
  readonly checking: Semaphore.Semaphore
  /** Empty if the trunk has only one endpoint. */
  readonly endpoints: () => ReadonlyArray<Endpoint>
  /** Reads a carrier's callback with this session's credentials. Undefined if it is forged, or this provider sends none. */
  readonly read: (callback: Callback) => CallbackRead | undefined
  /** How the carrier delivers the audio of calls, with this session's credentials; undefined if we connect to the provider for it. */
  readonly media: LiveMedia | undefined
  /** Passes on an event that did not come through the session itself. */
  readonly hear: (callId: CallId, event: TrunkEvent) => void
  /** Dial requests per second, shared by all trunks of the same account. */
  readonly rate: number
  /** The account whose rate it shares. */
  readonly rateKey: string
  /** Maximum number of concurrent calls; undefined if there is no limit. */
  readonly maxConcurrentCalls: () => number | undefined
  /** The campaign has contacts to call. If the trunk is down, the outage is added to the campaign's log. */
  readonly heldUp: (campaignId: CampaignId) => void
}

interface LiveMedia {
  /** Whether the request to open a socket comes from the carrier. */
  readonly admits: (upgrade: Callback) => boolean
  readonly accept: AcceptMedia
}

export class TrunkPool extends Context.Service<
  TrunkPool,
  {
    /** Undefined if the configuration is gone, or its provider is not installed. */
    readonly get: (id: TelephonyConfigId) => Effect.Effect<LiveTrunk | undefined>
    /** Like `get`, after somebody may have repaired the cause of the trouble: the trunk retries at once. */
    readonly getRepaired: (id: TelephonyConfigId) => Effect.Effect<LiveTrunk | undefined>
    /** Passes on an event of a call that goes through no telephony configuration. */
    readonly hear: CallsOfNode["onEvent"]
    /** Set once, by the call supervisor. */
    readonly deliverTo: (calls: CallsOfNode) => void
    readonly all: () => ReadonlyArray<LiveTrunk>
    /** The configuration's row has changed. Returns once new calls use that. If the database is down, this is retried in the background. */
    readonly renew: (id: TelephonyConfigId, changed: "configuration" | "numbers") => Effect.Effect<void>
    /** To be run when changes on other nodes may have been missed. Trunks whose credentials are the same keep their sessions. */
    readonly renewAll: Effect.Effect<void>
  }
>()("runtime/trunk/TrunkPool") {
  static readonly layer = Layer.effect(
    TrunkPool,
    Effect.gen(function* () {
      const { nodeName, providerUrls = {}, trunkRate } = yield* Config
      const pool: Pool = {
        registry: yield* Registry,
        settings: yield* TrunkSettings,
        policy: yield* EgressPolicy,
        outages: { charge: yield* Charge, outages: yield* TrunkOutages },
        addresses: yield* CallbackAddresses,
        guard: yield* PublicAddress,
        nodeName,
        providerUrls,
        trunkRate,
        clock: yield* Clock.Clock,
        scope: yield* Effect.scope,
        opening: Semaphore.makeUnsafe(1),
        open: new Map(),
        calls: { onEvent: () => {}, live: () => [], isOthers: () => Effect.succeed(false) }
      }
      const { open } = pool
      return {
        get: (id) =>
          Effect.suspend(() => {
            const session = open.get(id)
            if (session !== undefined) return Effect.succeed(session.live)
            return Effect.map(exclusive(pool, openNow(pool, id)), (opened) => opened?.live)
          }),
        getRepaired: (id) =>
          exclusive(
            pool,
            Effect.gen(function* () {
              const session = yield* openNow(pool, id)
              if (session !== undefined) yield* repair(pool, session)
              return open.get(id)?.live
            })
          ),
        hear: (callId, event, source) => pool.calls.onEvent(callId, event, source),
        deliverTo: (calls) => {
          pool.calls = calls
        },
        all: () => [...open.values()].map(({ live }) => live),
        renew: (id, changed) => renewOrRetry(pool, id, changed),
        renewAll: Effect.suspend(() => Effect.forEach([...open.keys()], (id) => renewOrRetry(pool, id, "numbers"), { discard: true }))
      }
    })
  )
}

/** An open session with a provider. */
interface Session {
  setting: TrunkSetting
  readonly scope: Scope.Closeable
  readonly trunk: Trunk
  /** Wakes the watchers of the trunk. */
  readonly changed: () => void
}
interface Opened extends Session {
  readonly live: LiveTrunk
}

/** This node's trunks, and what is needed to open them. */
interface Pool {
  readonly registry: Registry["Service"]
  readonly settings: TrunkSettings["Service"]
  readonly policy: (typeof EgressPolicy)["Service"]
  readonly outages: Parameters<typeof noteOutages>[0]
  readonly addresses: (typeof CallbackAddresses)["Service"]
  readonly guard: (typeof PublicAddress)["Service"]
  readonly nodeName: string
  /** The operator's own origins of carriers, by provider. */
  readonly providerUrls: Readonly<Record<string, URL>>
  readonly trunkRate: number | undefined
  readonly clock: Clock.Clock
  readonly scope: Scope.Scope
  readonly opening: Semaphore.Semaphore
  readonly open: Map<TelephonyConfigId, Opened>
  calls: CallsOfNode
}

const connect = Effect.fnUntraced(function* (pool: Pool, setting: TrunkSetting) {
  const { id, provider } = setting
  const { mediaUrlOf, urlOf } = pool.addresses
  const adapter = pool.registry.find(provider)
  if (adapter === undefined) return undefined
  const { changed, health, onStatus } = makeHealth(pool.clock)
  const own = yield* Scope.fork(pool.scope)
  const said = { provider, telephonyConfigurationId: id, organizationId: setting.organizationId }
  yield* logChanges(health).pipe(Scope.provide(own), Effect.annotateLogs(said))
  const egress = yield* pool.policy.trunksOf(setting.organizationId)
  let live: LiveTrunk | undefined
  const noted = (endpoint: string, status: TrunkHealth["status"]) =>
    noteOutages(pool.outages, { endpoint, id }, { status, watch: health.watch }, () => live?.isCurrent() !== false).pipe(
      Scope.provide(own),
      Effect.annotateLogs(said)
    )
  const heldUp = yield* noted("", health.status)
  const source: EventSource = { configurationId: id, trunk: () => live?.trunk }
  // Nothing is looked up before the session is open.
  const isOthers: NonNullable<TrunkContext["isOthers"]> = (call, found) =>
    Effect.suspend(() => (live === undefined ? Effect.never : pool.calls.isOthers(call, live, found)))
  const context: TrunkContext = {
    configurationId: id,
    node: pool.nodeName,
    onEvent: (callId: string, event: TrunkEvent) => {
      health.heard(callId, event)
      pool.calls.onEvent(callId, event, source)
    },
    onStatus: adapter.read === undefined ? onStatus : pool.guard(onStatus),
    egress,
    trunkRate: pool.trunkRate,
    apiOrigin: pool.providerUrls[provider],
    callbackUrl: urlOf && ((kind: string, callId?: CallId) => urlOf({ callId, configurationId: id, kind })),
    mediaUrl: mediaUrlOf,
    isOthers
  }
  const isRefused = addressesIn(adapter.fields, setting.credentials).some(([, url]) => refusesUrl(egress, url))
  const connecting = isRefused ? Effect.succeed(refusedTrunk(context)) : adapter.connect(setting.credentials, context)
  const trunk = ownLooks(yield* connecting.pipe(Scope.provide(own), Effect.annotateLogs(said)), isOthers)
  const names = (trunk.endpoints?.() ?? []).map(({ name }) => name)
  for (const name of names) yield* noted(name, () => statusOf(trunk, name))
  yield* Effect.forkIn(Effect.ignoreCause(pool.outages.outages.keepFor(id, names)), own)
  const session: Session = { setting, scope: own, trunk, changed }
  const rate = pool.trunkRate ?? adapter.manifest.callsPerSecond
  const run = yield* FiberSet.makeRuntime().pipe(Scope.provide(own))
  const callers = new RefusedCallers()
  const refuseCallerId = (number: string, detail: string): void => {
    run(Effect.annotateLogs(callers.refuse(pool.settings, id, number, detail, renewOrRetry(pool, id, "numbers")), said))
  }
  const unexplained = new Unexplained(setting.isProven)
  const placed = (callId: CallId): void => {
    health.reached(callId)
    if (unexplained.placed()) run(prove(pool, setting))
  }
  live = liveOf(
    session,
    adapter,
    { ...health, hear: context.onEvent, heldUp, placed, refuseCallerId, unexplained },
    rate,
    callers,
    () => pool.open.get(id)?.live
  )
  const opened: Opened = Object.assign(session, { live })
  pool.open.set(id, opened)
  return opened
})

const statusOf = (trunk: Trunk, name: string): TrunkStatus =>
  trunk.endpoints?.().find((endpoint) => endpoint.name === name)?.status ?? { _tag: "Connecting" }

/** For the engine's next lives. */
const prove = (pool: Pool, { id, version }: TrunkSetting): Effect.Effect<void> =>
  Effect.ignoreCause(Effect.retry(Effect.sandbox(pool.settings.prove(id, version)), RENEW_AGAIN))

const openNow = Effect.fnUntraced(function* (pool: Pool, id: TelephonyConfigId) {
  const session = pool.open.get(id)
  if (session !== undefined) return session
  const setting = yield* pool.settings.find(id)
  return setting === undefined ? undefined : yield* connect(pool, setting)
})

/** Live calls continue; later calls are dialed through the next session. */
const retire = Effect.fnUntraced(function* (pool: Pool, session: Opened, next: TrunkSetting | undefined) {
  const { id } = session.setting
  // A session that is down could come back later and displace its successor.
  const comesBack = session.live.status()._tag !== "Up"
  if (comesBack) yield* Scope.close(session.scope, Exit.void)
  else yield* session.trunk.retire ?? Effect.void
  const successor = next === undefined ? undefined : yield* connect(pool, next)
  if (successor === undefined) pool.open.delete(id)
  for (const { dialing, ref, trunk } of pool.calls.live()) {
    // A call whose request has not been sent yet will be sent through the successor, so there is nothing to adopt.
    if (trunk.configurationId === id && dialing === undefined) successor?.trunk.adopt(ref)
  }
  session.changed()
  if (!comesBack) yield* Effect.forkIn(closeUnused(pool, session), pool.scope)
})

const closeUnused = Effect.fnUntraced(function* (pool: Pool, { live, scope: own }: Opened) {
  const isUsed = () => [...pool.calls.live()].some(({ trunk }) => trunk === live)
  yield* Effect.repeat(Effect.sleep(UNUSED_CHECK), { while: isUsed })
  yield* Scope.close(own, Exit.void)
})

const repair = (pool: Pool, session: Opened) => {
  session.live.unexplained.forget()
  const away = [session.live.status(), ...session.live.endpoints().map(({ status }) => status)].filter(({ _tag }) => _tag === "Down")
  if (away.length === 0) return Effect.sync(session.live.hurry)
  // Another client took its place, and the session does not take it back by itself.
  if (away.some((status) => status._tag === "Down" && status.reason === "replaced")) return retire(pool, session, session.setting)
  return Effect.sync(() => {
    session.live.hurry()
    session.trunk.reconnect?.()
  })
}

const renew = Effect.fnUntraced(function* (pool: Pool, id: TelephonyConfigId, changed: "configuration" | "numbers") {
  const session = pool.open.get(id)
  if (session === undefined) return
  const next = yield* pool.settings.find(id)
  if (next === undefined || JSON.stringify(next.credentials) !== JSON.stringify(session.setting.credentials))
    return yield* retire(pool, session, next)
  session.setting = next
  session.changed()
  if (changed === "configuration") yield* repair(pool, session)
})

// An interrupt halfway would leave a trunk open that is in no map and that competes with the next one for the provider.
const exclusive = <A>({ opening }: Pool, work: Effect.Effect<A>) => Effect.uninterruptible(opening.withPermits(1)(work))

const renewOrRetry = (pool: Pool, id: TelephonyConfigId, changed: "configuration" | "numbers"): Effect.Effect<void> => {
  const renewing = Effect.suspend(() => exclusive(pool, renew(pool, id, changed)))
  return Effect.catchCause(renewing, (cause) =>
    Effect.logWarning("a trunk does not have its new settings yet", cause).pipe(
      Effect.andThen(Effect.forkIn(Effect.retry(Effect.sandbox(renewing), RENEW_AGAIN), pool.scope)),
      Effect.annotateLogs({ telephonyConfigurationId: id })
    )
  )
}

const noCallerIds: CallerIds = { all: [], preferred: undefined }
const gone = Effect.fail(new OriginateRefused({ reason: "misconfigured", detail: "the telephony configuration is gone" }))
const noCallerId = Effect.fail(new OriginateRefused({ reason: "misconfigured", detail: "there is no active number to call from" }))

/** `current` returns the configuration's current trunk. */
const liveOf = (
  session: Session,
  adapter: Adapter,
  health: TrunkHealth & Pick<LiveTrunk, "hear" | "heldUp" | "placed" | "refuseCallerId" | "unexplained">,
  rate: number,
  refused: RefusedCallers,
  current: () => LiveTrunk | undefined
): LiveTrunk => {
  const old = replacedTrunk(session.trunk, () => current()?.trunk)
  const isCurrent = () => current() === live
  const callerIds = () => refused.among(session.setting.callerIds)
  const shown = (to: string) => callerIdFor(callerIds(), to)
  const needsCallerId = adapter.manifest.needsCallerId === true
  const numbersLacking = () => (needsCallerId ? lackAmong(session.setting.callerIds, callerIds()) : undefined)
  const place: LiveTrunk["originate"] = (request) => {
    const from = request.from ?? shown(request.to)
    if (from === undefined && needsCallerId) return noCallerId
    // The configuration may change while the request waits for its connection.
    return session.trunk.originate({ ...request, from, leave: (endpoint) => isCurrent() && request.leave(endpoint) })
  }
  const account = adapter.rateKey?.(session.setting.credentials)
  const live: LiveTrunk = {
    ...health,
    configurationId: session.setting.id,
    adapter,
    get trunk() {
      return isCurrent() ? session.trunk : old
    },
    originate: (request) => Effect.suspend(() => (isCurrent() ? place(request) : (current()?.originate(request) ?? gone))),
    callerIdFor: (to) => (isCurrent() ? shown(to) : current()?.callerIdFor(to)),
    callerIds: () => (isCurrent() ? callerIds() : (current()?.callerIds() ?? noCallerIds)),
    numbersLacking: () => (isCurrent() ? numbersLacking() : current()?.numbersLacking()),
    refuseCallerId: (number, detail) => (isCurrent() ? health : current())?.refuseCallerId(number, detail),
    isCurrent,
    read: (callback) => adapter.read?.(session.setting.credentials, callback),
    media: mediaOf(adapter, session),
    endpoints: () => session.trunk.endpoints?.() ?? [],
    // Each endpoint has its own limit.
    checking: Semaphore.makeUnsafe(CHECKED_AT_ONCE),
    originating: new InFlight(adapter.manifest.originatesInFlight * Math.max(1, session.trunk.endpoints?.().length ?? 1)),
    rate,
    // Keys are kept in memory and may be shown, and an account's name can be a secret.
    rateKey:
      account === undefined ? `trunk:${session.setting.id}` : `account:${session.setting.provider}:${hash("sha256", account, "base64url")}`,
    maxConcurrentCalls: () => session.setting.maxConcurrentCalls
  }
  return live
}

const mediaOf = ({ media }: Adapter, { setting }: Session): LiveMedia | undefined =>
  media && { admits: (upgrade) => media.admit?.(setting.credentials, upgrade) ?? true, accept: media.accept }

/** Why nothing can be dialed through this trunk now, as a sentence; undefined if it is up. */
export const whyDown = (trunk: LiveTrunk): string | undefined => wordsFor(trunk.status())

export const wordsFor = (status: TrunkStatus): string | undefined =>
  status._tag === "Up" ? undefined : status._tag === "Connecting" ? "It is not connected yet." : status.detail

/** Waits up to `millis` while the trunk connects. False if it is down, or still connecting. */
export const awaitUp = (trunk: LiveTrunk, millis: number): Effect.Effect<boolean> =>
  Effect.callback<boolean>((resume) => {
    const settle = () => {
      const { _tag } = trunk.status()
      if (_tag === "Connecting") return
      stop()
      resume(Effect.succeed(_tag === "Up"))
    }
    const stop = trunk.watch(settle)
    settle()
    return Effect.sync(stop)
  }).pipe(Effect.timeoutOrElse({ duration: millis, orElse: () => Effect.succeed(false) }))
