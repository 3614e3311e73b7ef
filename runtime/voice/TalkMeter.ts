/**
 * How long the callee of a conversation waits, stage by stage, and how much of its services is used: measured on the pacer's clock, and noted
 * for the run as it happens, so that a kill loses at most the current turn.
 */
import type { CallFact, LatencyStage } from "#core/conversation/ConversationEntry.ts"
import type { RecognizerEvent } from "#core/model/SpeechToText.ts"
import type { CallModel } from "./CallModel.ts"
import type { SpokenCharacters } from "./CallVoice.ts"
import type { Saying } from "./Openings.ts"

type Service = Saying
const named = ({ model, provider }: Service) => ({ processor: provider, model })

interface MeterPorts {
  /** The pacer's clock; `epochOf` converts it to epoch milliseconds. */
  readonly now: () => number
  readonly epochOf: (time: number) => number
  readonly note: (fact: CallFact) => void
  readonly services: { readonly recognizer: Service; readonly endOfTurn: () => Service; readonly model: () => CallModel }
  readonly heardSeconds: () => number
  readonly spoken: () => ReadonlyArray<SpokenCharacters>
}

export class TalkMeter {
  readonly #ports: MeterPorts
  /** When the last text of the current turn arrived. */
  #textAt: number | undefined
  /** The end of the callee's voice; cleared once the agent is heard. */
  #voiceUntil: number | undefined

  constructor(ports: MeterPorts) {
    this.#ports = ports
  }

  understood(event: RecognizerEvent): void {
    if ((event._tag === "Final" || event._tag === "EndDeclared") && event.text !== "") this.#textAt = this.#ports.now()
  }

  /** The callee's turn is over; their voice was heard `until`. */
  committed(until: number): void {
    const { endOfTurn, recognizer } = this.#ports.services
    if (this.#textAt !== undefined) this.#waited("recognition", this.#textAt - until, recognizer)
    this.#waited("end_of_turn", this.#ports.now() - until, endOfTurn())
    this.#textAt = undefined
    this.#voiceUntil = until
    this.used()
  }

  /** This text has been synthesized while the callee had nothing else to hear. */
  synthesized(millis: number, by: Saying): void {
    this.#waited("synthesis", millis, by)
  }

  /** The first frame of a line has been sent. */
  agentHeard(at: number, by: Saying): void {
    if (this.#voiceUntil === undefined) return
    this.#waited("first_audio", at - this.#voiceUntil, by, at)
    this.#voiceUntil = undefined
  }

  /** A callee has waited this long for the model's first piece. */
  thought(millis: number): void {
    this.#waited("first_token", millis, this.#ports.services.model())
  }

  /** Notes all usage so far. */
  used(): void {
    const { heardSeconds, note, services, spoken } = this.#ports
    const model = services.model()
    const tokens = model.tokens.used()
    if (tokens.promptTokens + tokens.completionTokens > 0) note({ _tag: "Used", kind: "llm", ...named(model), tokens })
    for (const saying of spoken()) note({ _tag: "Used", kind: "tts", ...named(saying), characters: saying.characters })
    const seconds = heardSeconds()
    if (seconds > 0) note({ _tag: "Used", kind: "stt", ...named(services.recognizer), seconds })
  }

  #waited(stage: LatencyStage, millis: number, service: Service, at = this.#ports.now()): void {
    this.#ports.note({ _tag: "Waited", stage, millis: Math.max(0, millis), at: this.#ports.epochOf(at), ...named(service) })
  }
}
