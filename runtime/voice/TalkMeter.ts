/**
 * How long the callee of a conversation waits, stage by stage, and how much of its services is used: measured on the pacer's clock, and noted
 * for the run as it happens, so that a kill loses at most the current turn.
 */
import type { CallFact, LatencyStage } from "#core/conversation/ConversationEntry.ts"
import type { LanguageModel } from "#core/model/LanguageModel.ts"
import { firstTokenTimed } from "#runtime/conversation/firstToken.ts"
import { TokenCount } from "#runtime/conversation/TokenCount.ts"
import type { SpokenCharacters } from "./CallVoice.ts"
import type { Saying } from "./Openings.ts"

interface Service {
  readonly processor: string
  readonly model: string
}

const serviceOf = ({ engine, voice }: Saying): Service => ({ processor: engine, model: voice })

interface MeterPorts {
  /** The pacer's clock; `epochOf` converts it to epoch milliseconds. */
  readonly now: () => number
  readonly epochOf: (time: number) => number
  readonly note: (fact: CallFact) => void
  readonly services: { readonly recognizer: Service; readonly endOfTurn: () => Service }
  readonly heardSeconds: () => number
  readonly spoken: () => ReadonlyArray<SpokenCharacters>
}

export class TalkMeter {
  readonly #ports: MeterPorts
  #model: Service | undefined
  readonly #tokens = new TokenCount()
  /** When the last text of the current turn arrived. */
  #textAt: number | undefined
  /** The end of the callee's voice; cleared once the agent is heard. */
  #voiceUntil: number | undefined

  constructor(ports: MeterPorts) {
    this.#ports = ports
  }

  /** The recognizer has reported what was said. */
  understood(): void {
    this.#textAt = this.#ports.now()
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
    this.#waited("synthesis", millis, serviceOf(by))
  }

  /** The first frame of a line has been sent. */
  agentHeard(at: number, by: Saying): void {
    if (this.#voiceUntil === undefined) return
    this.#waited("first_audio", at - this.#voiceUntil, serviceOf(by), at)
    this.#voiceUntil = undefined
  }

  /** Counts the tokens of all answers, including dropped ones and those that nobody waits for. */
  counted(model: LanguageModel): LanguageModel {
    this.#model = { processor: model.provider, model: model.model }
    return this.#tokens.over(model)
  }

  /** Measures the answers that the callee is waiting for. */
  timed(model: LanguageModel): LanguageModel {
    const service = { processor: model.provider, model: model.model }
    return firstTokenTimed(model, this.#ports.now, (millis) => this.#waited("first_token", millis, service))
  }

  /** Notes all usage so far. */
  used(): void {
    const { heardSeconds, note, services, spoken } = this.#ports
    const tokens = this.#tokens.used()
    if (this.#model !== undefined && tokens.promptTokens + tokens.completionTokens > 0)
      note({ _tag: "Used", kind: "llm", ...this.#model, tokens })
    for (const saying of spoken()) note({ _tag: "Used", kind: "tts", ...serviceOf(saying), characters: saying.characters })
    const seconds = heardSeconds()
    if (seconds > 0) note({ _tag: "Used", kind: "stt", ...services.recognizer, seconds })
  }

  #waited(stage: LatencyStage, millis: number, service: Service, at = this.#ports.now()): void {
    this.#ports.note({ _tag: "Waited", stage, millis: Math.max(0, millis), at: this.#ports.epochOf(at), ...service })
  }
}
