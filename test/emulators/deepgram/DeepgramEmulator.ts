/** Deepgram's `/v1/listen` (Nova) and `/v2/listen` (Flux). */
import type { IncomingHttpHeaders } from "node:http"
import { Ear, linearIn, type Result, TurnEar, type TurnSign } from "#test/emulators/shared/ears.ts"
import { jsonIn } from "#test/emulators/shared/json.ts"
import { type Hearer, RecognizerEmulator } from "#test/emulators/shared/RecognizerEmulator.ts"

/** As the adapter asks for in `endpointing`. */
const endpointFrames = 5

type Tell = (message: object) => void

export class DeepgramEmulator extends RecognizerEmulator {
  readonly key = "dg-0123456789abcdef"

  /** Flux reports a fatal error on all connections. */
  reportError(code: string): void {
    this.report({ type: "Error", code, description: "secret words", sequence_id: 9 })
  }

  protected refusalOf({ pathname, searchParams }: URL, { authorization = "" }: IncomingHttpHeaders) {
    const fails = (status: number, err_code: string) => ({ status, body: { err_code, err_msg: `No: ${authorization}`, request_id: "1" } })
    if (pathname !== (searchParams.get("model")?.startsWith("flux") === true ? "/v2/listen" : "/v1/listen")) return fails(404, "NOT_FOUND")
    if (authorization !== `Token ${this.key}`) return fails(401, "INVALID_AUTH")
    const isKnown = searchParams.get("encoding") === "linear16" && searchParams.get("sample_rate") === "8000"
    return isKnown && searchParams.get("language") !== "tlh" ? undefined : fails(400, "Bad Request")
  }

  protected hearerOf({ query }: { readonly query: URLSearchParams }, tell: Tell, close: (code: number) => void): Hearer {
    const { audio, finish } = query.has("eot_threshold") ? this.#flux(tell) : this.#nova(query, tell)
    return {
      audio,
      text: (text) => {
        const { type } = (jsonIn(text) ?? {}) as { readonly type?: string }
        if ((type === "Finalize" || type === "ForceEndTurn") && this.answersFinalize) finish()
        if (type === "Configure") tell({ type: "ConfigureSuccess", thresholds: {}, keyterms: [], sequence_id: 0 })
        if (type === "CloseStream") close(1000)
        return undefined
      }
    }
  }

  #nova(query: URLSearchParams, tell: Tell) {
    const ear = new Ear(this.speech, { hasInterim: query.get("interim_results") === "true", endpointFrames }, (result) => {
      for (const part of this.splits ? halves(result) : [result]) tell(messageOf(part))
    })
    return {
      audio: (data: Buffer) => ear.hear(linearIn(data)),
      // As the service does, it answers only if it has been sent audio since.
      finish: () => {
        if (ear.newFrames > 0) ear.finish(true)
      }
    }
  }

  #flux(tell: Tell) {
    let [turn, messages] = [0, 0]
    const send = (type: string, members: object) => tell({ type, ...members, sequence_id: messages++ })
    send("Connected", { request_id: "1" })
    const ear = new TurnEar(this.speech, (sign, transcript) => {
      send("TurnInfo", { event: events[sign], turn_index: turn, transcript, words: [], end_of_turn_confidence: 0.8 })
      if (sign === "end") turn++
    })
    return { audio: (data: Buffer) => ear.hear(linearIn(data)), finish: () => ear.finish() }
  }
}

const events: Readonly<Record<TurnSign, string>> = {
  start: "StartOfTurn",
  update: "Update",
  eager: "EagerEndOfTurn",
  resume: "TurnResumed",
  end: "EndOfTurn"
}

const halves = (result: Result): ReadonlyArray<Result> => {
  const [first = "", ...rest] = result.text.split(" ")
  if (!result.isFinal || rest.length === 0) return [result]
  return [
    { ...result, text: first, isForced: false },
    { ...result, text: rest.join(" ") }
  ]
}

const messageOf = ({ from, isFinal, isForced, text, until }: Result) => ({
  type: "Results",
  channel_index: [0, 1],
  start: from,
  duration: until - from,
  is_final: isFinal,
  speech_final: isFinal && !isForced,
  ...(isForced ? { from_finalize: true } : {}),
  channel: {
    alternatives: [
      {
        transcript: text,
        confidence: text === "" ? 0 : 0.98,
        words: text === "" ? [] : [{ word: text, start: from, end: until, confidence: 0.98 }]
      }
    ]
  }
})
