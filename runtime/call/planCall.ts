/** Plans a call before its actor starts: its conversation, whether it is recorded, how long it may last, and what is fetched for it. */
import { Deferred, Effect, Queue } from "effect"
import { maxCallDurationSeconds } from "#core/agent/AgentGraph.ts"
import type { AgentVersion } from "#core/agent/Agent.ts"
import type { AgentVersions } from "#core/agent/AgentVersions.ts"
import { voicemailDetectionOf } from "#core/agent/VoicemailDetection.ts"
import type { AgentPart, Attempt } from "#core/call/Attempt.ts"
import type { CallEvent, CallLimits } from "#core/call/Call.ts"
import { preCallFetchOf } from "#core/agent/PreCallFetch.ts"
import type { CallKeeping } from "#core/file/CallKeeping.ts"
import type { JsonObject } from "#core/Json.ts"
import type { AgentServices } from "#core/model/AgentServices.ts"
import type { Manifest } from "#core/provider/Manifest.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import type { LiveTrunk } from "#runtime/trunk/TrunkPool.ts"
import type { VoicePlan } from "#runtime/voice/VoiceSession.ts"
import { Fetching } from "./Fetching.ts"
import { isGreeting } from "./greeted.ts"
import { type CallWatcher, type Dialing, LiveCall } from "./LiveCall.ts"
import { plannedTalk, type TalkPlanner } from "./plannedTalk.ts"

/** More events than a provider has for one call. If it sends even more, the newest are dropped. */
const MAILBOX_CAPACITY = 64
/** A conversation ends by itself when its time is up; a call that continues anyway is ended this much later. */
const GOODBYE_SECONDS = 30

interface Planner extends TalkPlanner {
  readonly keeping: CallKeeping["Service"]
  readonly versions: AgentVersions["Service"]
  readonly services: AgentServices["Service"]
  /** Whether calls are recorded, unless their organization opts out. */
  readonly recordings: boolean
  readonly ringTimeoutSeconds: number
}

/** `dialing` is undefined for a call that another process left behind; `answeredAt` is set if that process had seen it answered. */
export const planCall = Effect.fnUntraced(function* (
  planner: Planner,
  attempt: Attempt & AgentPart & { readonly answeredAt?: number | undefined },
  ref: CallRef,
  trunk: LiveTrunk,
  dialing: Dialing | undefined,
  watcher: CallWatcher
) {
  const { agentDefinitionId, callId, campaign, organizationId, runId, telephonyConfigurationId } = attempt
  const { keeping, recordings, ringTimeoutSeconds, services, versions } = planner
  const kept = yield* keeping.of(organizationId)
  const version = yield* versions.get(agentDefinitionId)
  const { configurations, definition } = version
  const chosen = yield* services.chosenFor(organizationId, configurations)
  // The caller number is added to the run when the call ends.
  const context = { caller_number: numberShown(trunk, dialing), ...attempt.initialContext }
  const detection = voicemailDetectionOf(configurations)
  const { action } = detection
  // No machine calls from a browser.
  const isOn = detection.isOn && telephonyConfigurationId !== undefined
  const fetching = fetchingFor(version, attempt, dialing, context)
  const { longestCallSeconds } = trunk.adapter.manifest
  // If the phone still rings, another process has not talked to the callee.
  const isContinued = attempt.answeredAt !== undefined
  const later = fetching === undefined ? undefined : Deferred.await(fetching.context)
  const wanted = { chosen, version, organizationId, known: context, later, longestCallSeconds, mayHear: !isContinued }
  const conversation = yield* plannedTalk(planner, wanted)
  const voice: VoicePlan = {
    campaignId: campaign?.campaignId,
    conversation,
    detectMachine: isOn,
    isContinued,
    isGreeting: fetching !== undefined || isGreeting(definition, context),
    onMachine: action,
    organizationId,
    keepsTranscript: kept.transcripts,
    record: recordings && kept.recordings,
    runId,
    voice: chosen.voice
  }
  return new LiveCall(
    { agentDefinitionId, callId, campaign, organizationId, runId, telephonyConfigurationId },
    ref,
    trunk,
    limitsAt(trunk.adapter.manifest, {
      detects: isOn && trunk.trunk.detects === true,
      maxDurationSeconds: maxCallDurationSeconds(configurations) + (conversation.hearing === undefined ? 0 : GOODBYE_SECONDS),
      queues: campaign !== undefined && trunk.adapter.manifest.tells?.includes("queue") === true,
      ringTimeoutSeconds
    }),
    voice,
    yield* mailbox,
    dialing,
    fetching,
    watcher
  )
})

/** Limited to what the provider accepts; otherwise it would refuse the call, or end it before the engine expects. */
const limitsAt = ({ longestCallSeconds, longestRingSeconds }: Manifest, wanted: CallLimits): CallLimits => ({
  ...wanted,
  maxDurationSeconds: Math.min(wanted.maxDurationSeconds, longestCallSeconds ?? Number.POSITIVE_INFINITY),
  ringTimeoutSeconds: Math.min(wanted.ringTimeoutSeconds, longestRingSeconds ?? Number.POSITIVE_INFINITY)
})

const mailbox = Queue.make<CallEvent>({ capacity: MAILBOX_CAPACITY, strategy: "dropping" })

/** As far as it is known yet. Undefined for a call of an earlier process, whose attempt may name it. */
const numberShown = (trunk: LiveTrunk, dialing: Dialing | undefined): string | undefined =>
  dialing === undefined ? undefined : (dialing.from ?? trunk.callerIdFor(dialing.phoneNumber))

/** Nothing is fetched again for a call of an earlier process: what that process had fetched was lost with it. */
const fetchingFor = (
  { agentId, definition }: AgentVersion,
  { organizationId }: Attempt,
  dialing: Dialing | undefined,
  context: JsonObject
): Fetching | undefined => {
  const fetch = dialing === undefined ? undefined : preCallFetchOf(definition)
  if (fetch === undefined || dialing === undefined) return undefined
  return new Fetching({ agentId, context, fetch, organizationId, to: dialing.phoneNumber })
}
