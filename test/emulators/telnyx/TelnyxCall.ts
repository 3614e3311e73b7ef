/** One outbound leg: its record, its events, and the signed webhooks that report them. */
import { randomBytes, randomUUID, sign, type KeyObject } from "node:crypto"
import type { CallEnd, CallLife } from "#test/emulators/shared/CallLife.ts"
import { type HostedAccount, HostedCall } from "#test/emulators/shared/HostedCall.ts"
import { telnyxWords } from "./telnyxMedia.ts"
import type { Dial } from "./TelnyxDials.ts"

interface TelnyxAccount extends HostedAccount {
  readonly privateKey: KeyObject
}

interface Told {
  readonly type: string
  readonly body: string
}

/** The headers of a webhook that is sent now. */
export const signatureOf = (body: string, privateKey: KeyObject): Readonly<Record<string, string>> => {
  const timestamp = String(Math.floor(Date.now() / 1000))
  return {
    "content-type": "application/json",
    "telnyx-timestamp": timestamp,
    "telnyx-signature-ed25519": sign(null, Buffer.from(`${timestamp}|${body}`), privateKey).toString("base64")
  }
}

/** Causes by the SIP status that ended an attempt. */
const causes: Readonly<Record<number, string>> = { 404: "not_found", 480: "no_answer", 486: "user_busy", 603: "call_rejected" }

export class TelnyxCall extends HostedCall<Told> {
  /** Contains colons, like real ids. */
  readonly id = `v3:${randomBytes(24).toString("base64url")}:${randomBytes(4).toString("hex")}`
  readonly legId = randomUUID()
  readonly sessionId = randomUUID()
  readonly dial: Dial
  /** What Telnyx keeps of the events: `GET /call_events`. */
  readonly events: Array<object> = []
  override readonly life: CallLife
  readonly #account: TelnyxAccount
  readonly #startedAt = new Date()
  #endedAt: Date | undefined
  readonly #joined: (how: "answered" | "ended") => void

  /** `joined`: called when this leg is answered and when it ends, if it is the destination of a transfer. */
  constructor(account: TelnyxAccount, dial: Dial, joined: (how: "answered" | "ended") => void = () => {}) {
    super(account, dial.to, placeOf)
    this.dial = dial
    this.#joined = joined
    this.#account = account
    const { from, time_limit_secs: maxSeconds = 14_400, timeout_secs: ringTimeoutSeconds = 30, to } = dial
    this.life = account.lives.dial(
      { id: this.id, number: to, shown: from, ringTimeoutSeconds, maxSeconds },
      // Telnyx has no event for ringing.
      { ringing: () => this.#openStream(), answered: () => this.#answered(), ended: (end) => this.#ended(end) }
    )
    this.#tell("call.initiated", { direction: "outgoing", state: "bridging", start_time: this.#startedAt.toISOString() })
  }

  /** Right after the dial the call is not alive yet. */
  record(): object {
    const { legId: call_leg_id, sessionId: call_session_id, id: call_control_id } = this
    const isAlive = this.life.state === "ringing" || this.life.state === "up"
    return {
      record_type: "call",
      call_control_id,
      call_leg_id,
      call_session_id,
      client_state: this.dial.client_state ?? "",
      call_duration: 0,
      is_alive: isAlive,
      start_time: this.#startedAt.toISOString(),
      ...(this.#endedAt === undefined ? {} : { end_time: this.#endedAt.toISOString() })
    }
  }

  /** Dials a destination. The stream of this leg continues, and if nobody answers, so does the leg. */
  transfer(dial: Dial): void {
    let isBridged = false
    const other = new TelnyxCall(this.#account, dial, (how) => {
      if (how === "answered") {
        isBridged = true
        other.#tell("call.bridged", {})
        this.#tell("call.bridged", {})
      } else {
        if (this.destination === other) this.destination = undefined
        if (isBridged) this.life.hangUp()
      }
    })
    this.destination = other
  }

  #answered(): void {
    this.#tell("call.answered", { state: "answered", start_time: this.#startedAt.toISOString() })
    const { callee } = this.life
    if (callee.kind !== "answers") return
    this.#detect(callee.sound === "machine")
    this.#openStream()
    this.legs.at(-1)?.start()
    this.#joined("answered")
  }

  #detect(isMachine: boolean): void {
    const { answering_machine_detection: detection = "disabled" } = this.dial
    if (detection === "disabled") return
    const [kind, human] = detection === "premium" ? ["premium.", "human_residence"] : ["", "human"]
    this.#tell(`call.machine.${kind}detection.ended`, { result: isMachine ? "machine" : human })
    if (isMachine && detection === "greeting_end") this.#tell("call.machine.greeting.ended", { result: "ended" })
  }

  /** Starts streaming again: a second stream beside the current one, to the same address unless there is another. */
  restream(url = this.dial.streamUrl): void {
    this.#stream(url)
    this.legs.at(-1)?.start()
  }

  /** The socket is opened before the answer. */
  #openStream(): void {
    if (this.legs.length === 0) this.#stream()
  }

  /** Each key is reported twice: on the socket, and by a webhook. */
  #stream(url = this.dial.streamUrl): void {
    if (url === undefined) return
    this.open(this.life, {
      url,
      words: telnyxWords({ call_control_id: this.id, call_session_id: this.sessionId }, this.dial),
      onPress: (digit) => this.#tell("call.dtmf.received", { digit }),
      onLost: () => this.#tell("streaming.stopped", { stream_url: url })
    })
  }

  #ended(end: CallEnd): void {
    this.#endedAt = new Date()
    this.#joined("ended")
    this.endThen(() => this.#tellEnd(end))
  }

  #tellEnd({ by, ending, talkMillis }: CallEnd): void {
    const wasAnswered = talkMillis !== undefined
    const end_time = this.#endedAt?.toISOString()
    this.#tell("call.hangup", { ...hangupOf(by, ending?.sipStatus, wasAnswered), start_time: this.#startedAt.toISOString(), end_time })
    const billed_duration_secs = Math.ceil((talkMillis ?? 0) / 60_000) * 60
    const cost = (billed_duration_secs * 0.0001).toFixed(4)
    const part = { call_part: "call-control", cost, currency: "USD", rate: "0.006", billed_duration_secs }
    if (wasAnswered) this.#tell("call.cost", { total_cost: cost, billed_duration_secs, cost_parts: [part], status: "valid" })
  }

  #tell(type: string, details: object): void {
    const occurred_at = new Date().toISOString()
    const { dial, id: call_control_id, legId: call_leg_id, sessionId: call_session_id } = this
    const ids = { call_control_id, call_leg_id, call_session_id }
    this.events.push({ ...ids, name: type, type: "webhook", record_type: "call_event", event_timestamp: occurred_at, metadata: {} })
    const payload = {
      ...ids,
      connection_id: dial.connection_id,
      client_state: dial.client_state ?? "",
      from: dial.from,
      to: dial.to,
      ...details
    }
    const data = { record_type: "event", event_type: type, id: randomUUID(), occurred_at, payload }
    this.tell({ type, body: JSON.stringify({ data, meta: { attempt: 1, delivered_to: dial.webhook_url } }) })
  }

  protected send({ body, type }: Told): void {
    const { callbacks, privateKey } = this.#account
    const { webhook_retries_policies: policies, webhook_url: url } = this.dial
    const retryMillis = policies?.[type]?.retries_ms ?? []
    callbacks.send(this.id, { url, headers: signatureOf(body, privateKey), body, retryMillis })
  }
}

const placeOf = ({ type }: Told) => (type === "call.answered" ? "answer" : type === "call.hangup" ? "end" : "before")

const hangupOf = (by: CallEnd["by"], sipStatus: number | undefined, wasAnswered: boolean) => {
  const because = (hangup_cause: string, hangup_source: string, sip: number) => ({
    hangup_cause,
    hangup_source,
    sip_hangup_cause: String(sip)
  })
  if (by === "us") return wasAnswered ? because("normal_clearing", "caller", 200) : because("originator_cancel", "caller", 487)
  if (by === "timeout") return wasAnswered ? because("time_limit", "unknown", 200) : because("timeout", "unknown", 487)
  if (wasAnswered || sipStatus === undefined) return because("normal_clearing", "callee", 200)
  return because(causes[sipStatus] ?? "unspecified", "callee", sipStatus)
}
