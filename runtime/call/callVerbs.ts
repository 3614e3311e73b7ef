/** The actions a call's conversation can take on the call. Failures are answered in words meant for the model. */
import { Deferred, Effect } from "effect"
import type { ToolAnswer } from "#core/agent/conversation/ConversationState.ts"
import { CallEvent } from "#core/call/Call.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import type { CallVerbs } from "#runtime/voice/VoiceSession.ts"
import type { CallServices } from "./CallServices.ts"
import type { LiveCall } from "./LiveCall.ts"

const pauseMillis = 500

const failed = (reason: string): ToolAnswer & { readonly _tag: "Failed" } => ({ _tag: "Failed", reason })

export const callVerbs = (services: CallServices, call: LiveCall): CallVerbs => ({
  runTool: (request) => services.conversations.runTool(call.attempt, request),
  note: services.conversations.record(call.attempt, {
    phoneNumber: call.ref.to ?? "",
    timeZone: call.voice.conversation.plan.timeZone,
    isContinued: call.voice.isContinued,
    keepsTranscript: call.voice.keepsTranscript
  }),
  sendDigits: (digits) => pressKeys(call, digits),
  transfer: (destination, timeoutSeconds) => handOver(services, call, destination, timeoutSeconds)
})

/** Each `w` is a pause of half a second. */
const pressKeys = Effect.fnUntraced(
  function* ({ ref, trunk }: LiveCall, digits: string) {
    const { sendDtmf } = trunk.trunk
    if (sendDtmf === undefined) return failed("Keys cannot be pressed on this line.")
    for (const part of digits.match(/w+|[^w]+/g) ?? []) {
      if (part.startsWith("w")) yield* Effect.sleep(part.length * pauseMillis)
      else yield* sendDtmf(ref, part)
    }
    return { _tag: "Sent" } as const
  },
  Effect.catch((error) =>
    Effect.as(Effect.logWarning("keys could not be pressed", { detail: error.detail }), failed("The keys could not be pressed."))
  )
)

const handOver = Effect.fnUntraced(function* ({ clock }: CallServices, call: LiveCall, destination: string, timeoutSeconds: number) {
  const [first] = call.trunk.adapter.manifest.transfers ?? []
  if (first === undefined || call.trunk.trunk.transfer === undefined) return failed("Calls cannot be transferred on this line.")
  const to = destination.replaceAll(/[\s()./-]/g, "")
  if (!/^\+?\d{1,32}$/.test(to)) return failed("The destination is no number.")
  const kind = call.trunk.adapter.manifest.transfers?.includes("attended") === true ? "attended" : first
  const outcome = yield* Deferred.make<boolean>()
  call.handedOver = (isWithOther) => Deferred.doneUnsafe(outcome, Effect.succeed(isWithOther))
  const asked = CallEvent.cases.TransferAsked.make({ at: SteadyTime.nowOf(clock), destination: { to, kind, timeoutSeconds } })
  if (!call.tell(asked)) return failed("The call could not be transferred.")
  return (yield* Deferred.await(outcome)) ? ("transferred" as const) : failed("Nobody took the call there.")
})
