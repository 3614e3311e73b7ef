/**
 * Lets carriers open websockets for the audio of our calls. Checks the address first, then whether the call is live, then the carrier's
 * signature over the request.
 */
import { Clock, Effect, FiberSet, Layer, Result } from "effect"
import type { CallId } from "#core/Id.ts"
import type { Callback } from "#core/provider/Callback.ts"
import { PASSED_ON } from "#core/provider/CarrierCallbacks.ts"
import { CarrierMedia, type MediaAdmission, type MediaUpgrade } from "#core/provider/CarrierMedia.ts"
import { CallbackAddresses, PROBED_CALL } from "#runtime/trunk/CallbackAddresses.ts"
import { type LiveTrunk, TrunkPool } from "#runtime/trunk/TrunkPool.ts"
import { type CallMetrics, CurrentCallMetrics } from "#runtime/metrics/CallMetrics.ts"
import { Charge } from "#runtime/lock/Charge.ts"
import { CallsElsewhere } from "./CallsElsewhere.ts"
import { CallSupervisor } from "./CallSupervisor.ts"
import { countedSocket } from "./countedSocket.ts"
import { MediaSockets } from "./MediaSockets.ts"
import { otherEngineOf } from "./otherEngine.ts"
import { passMediaOn } from "./passMediaOn.ts"
import { RefusedRequests } from "./RefusedRequests.ts"

const forbidden: MediaAdmission = { _tag: "Refused", status: 403 }
const unknown: MediaAdmission = { _tag: "Refused", status: 404 }
const noBody = new Uint8Array(0)

export const layer = Layer.effect(
  CarrierMedia,
  Effect.gen(function* () {
    const gate: Gate = {
      addresses: yield* CallbackAddresses,
      charge: yield* Charge,
      clock: yield* Clock.Clock,
      elsewhere: yield* CallsElsewhere,
      metrics: yield* CurrentCallMetrics,
      pool: yield* TrunkPool,
      refused: yield* RefusedRequests,
      warn: yield* FiberSet.makeRuntime(),
      sockets: yield* MediaSockets,
      supervisor: yield* CallSupervisor
    }
    return { admit: (upgrade) => admit(gate, upgrade) }
  })
)

interface Gate {
  readonly addresses: (typeof CallbackAddresses)["Service"]
  readonly charge: Charge["Service"]
  readonly clock: Clock.Clock
  readonly elsewhere: CallsElsewhere["Service"]
  readonly metrics: CallMetrics
  readonly pool: TrunkPool["Service"]
  readonly refused: (typeof RefusedRequests)["Service"]
  readonly warn: (warning: Effect.Effect<void>) => void
  readonly sockets: MediaSockets["Service"]
  readonly supervisor: CallSupervisor["Service"]
}

const admit = (gate: Gate, upgrade: MediaUpgrade): MediaAdmission => {
  const callId = gate.addresses.openMedia(upgrade.address)
  if (callId === PROBED_CALL) return probed(gate.addresses.proofOf(callId))
  const call = callId && gate.supervisor.find(callId)
  const counts = gate.metrics.socketsOf(call?.trunk.adapter.manifest.provider)
  const refused = (why: "forged" | "strayed"): MediaAdmission => {
    counts[why]++
    return why === "forged" ? forbidden : unknown
  }
  if (callId === undefined) return refused("forged")
  const elsewhere = otherEngineOf(gate, callId, upgrade.headers[PASSED_ON])
  if (elsewhere !== undefined) return { _tag: "Admitted", open: (socket) => passMediaOn(elsewhere, upgrade, socket) }
  const media = call?.trunk.media
  if (call === undefined || call.isOver || media === undefined) return refused("strayed")
  if (!isGenuine(gate, call.trunk, requestOf(gate, callId, upgrade, call.ref))) {
    gate.refused(call, "media")
    gate.warn(Effect.annotateLogs(Effect.logWarning("a carrier's websocket is refused: its signature is wrong"), { callId }))
    return refused("forged")
  }
  return {
    _tag: "Admitted",
    open: (socket) =>
      countedSocket(counts, socket, (counted) =>
        gate.sockets.open(callId, (own) => media.accept(call.ref, own, (event) => call.trunk.hear(callId, event)), counted)
      )
  }
}

/** Answers the engine itself, which then closes the socket. */
const probed = (proof: string): MediaAdmission => ({
  _tag: "Admitted",
  open: (socket) => {
    socket.sendText(proof)
    return { closed: () => {}, message: () => {} }
  }
})

const requestOf = ({ addresses, clock }: Gate, callId: CallId, { headers, query }: MediaUpgrade, call: Callback["call"]): Callback => {
  const url = addresses.mediaUrlOf?.(callId) ?? ""
  return {
    at: clock.currentTimeMillisUnsafe(),
    body: noBody,
    call,
    headers,
    isWanted: true,
    kind: "media",
    method: "GET",
    url: query === "" ? url : `${url}?${query}`
  }
}

/** The secret used when the call was placed may have been replaced since. */
const isGenuine = ({ pool }: Gate, trunk: LiveTrunk, request: Callback): boolean => {
  const present = pool.all().find(({ configurationId }) => configurationId === trunk.configurationId)
  return [trunk, present].some((one) =>
    Result.getOrElse(
      Result.try(() => one?.media?.admits(request) ?? false),
      () => false
    )
  )
}
