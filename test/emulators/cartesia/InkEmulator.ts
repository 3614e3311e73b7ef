/** Cartesia's `/stt/websocket` and `/stt/turns/websocket`. It takes the key as `X-API-Key` or as a bearer token. */
import type { IncomingHttpHeaders } from "node:http"
import { Ear, mulawIn, type Result, TurnEar, type TurnSign } from "#test/emulators/shared/ears.ts"
import { jsonIn } from "#test/emulators/shared/json.ts"
import { type Hearer, RecognizerEmulator } from "#test/emulators/shared/RecognizerEmulator.ts"

const turnsPath = "/stt/turns/websocket"

type Tell = (message: object) => void

export class InkEmulator extends RecognizerEmulator {
  readonly key = "sk_car_0123456789abcdef"
  /** Turns end without their text. */
  endsWithoutWords = false

  /** Says an error, which quotes what it should not, on all connections. */
  reportError(status_code: number, error_code: string): void {
    const message = `secret words, ${this.key}`
    this.report({ type: "error", title: message, message, error_code, status_code, request_id: "1", doc_url: "" })
  }

  protected refusalOf({ pathname, search, searchParams }: URL, headers: IncomingHttpHeaders) {
    const fails = (status: number, error_code: string) => ({ status, body: { error_code, title: "No", message: "No", request_id: "1" } })
    if (pathname !== turnsPath && pathname !== "/stt/websocket") return fails(404, "not_found")
    if ((headers["x-api-key"] ?? headers.authorization?.replace(/^Bearer /, "")) !== this.key) return fails(401, "unauthorized")
    const isKnown = searchParams.get("encoding") === "pcm_mulaw" && searchParams.get("sample_rate") === "8000"
    const isDated = /^\d{4}-\d\d-\d\d$/.test(String(headers["cartesia-version"]))
    const isFitting = pathname !== turnsPath || searchParams.get("model") === "ink-2"
    // Spaces are `%20`.
    return isKnown && isDated && isFitting && !search.includes("+") ? undefined : fails(400, "bad_request")
  }

  protected hearerOf({ path }: { readonly path: string }, tell: Tell, close: (code: number) => void): Hearer {
    return path === turnsPath ? this.#turns(tell, close) : this.#texts(tell, close)
  }

  #texts(tell: Tell, close: (code: number) => void): Hearer {
    const ear = new Ear(this.speech, { hasInterim: true }, (result) => {
      for (const { isFinal, text } of this.splits ? letters(result) : [result])
        if (text !== "") tell({ type: "transcript", request_id: "1", text, is_final: isFinal })
      if (result.isForced) tell({ type: "flush_done", request_id: "1" })
    })
    return {
      audio: (data) => ear.hear(mulawIn(data)),
      text: (text) => {
        if (text === "finalize" && this.answersFinalize) ear.finish(true)
        if (text !== "close") return undefined
        tell({ type: "done", request_id: "1" })
        close(1000)
        return undefined
      }
    }
  }

  #turns(tell: Tell, close: (code: number) => void): Hearer {
    tell({ type: "connected", request_id: "1" })
    const send = (type: string, members: object = {}) => tell({ type, request_id: "1", ...members })
    const ear = new TurnEar(this.speech, (sign, transcript) => {
      if (sign === "start") send("turn.start")
      if (sign === "resume") send("turn.resume")
      else send(types[sign], { transcript: sign === "end" && this.endsWithoutWords ? "" : transcript })
    })
    return {
      audio: (data) => ear.hear(mulawIn(data)),
      text: (text) => {
        const { type } = (jsonIn(text) ?? {}) as { readonly type?: string }
        if (type === "close") close(1000)
        return undefined
      }
    }
  }
}

const types: Readonly<Record<Exclude<TurnSign, "resume">, string>> = {
  start: "turn.update",
  update: "turn.update",
  eager: "turn.eager_end",
  end: "turn.end"
}

/** A text in pieces that end anywhere, as the service sends it. */
const letters = (result: Result): ReadonlyArray<Result> => {
  if (!result.isFinal) return [result]
  return (result.text.match(/[\s\S]{1,3}/g) ?? []).map((text) => ({ ...result, text }))
}
