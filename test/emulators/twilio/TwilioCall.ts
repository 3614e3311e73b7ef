/** One call at Twilio: its life from the queue to the end, its record, and its callbacks. */
import { randomBytes } from "node:crypto"
import type { CallEnd } from "#test/emulators/shared/CallLife.ts"
import { type HostedAccount, HostedCall } from "#test/emulators/shared/HostedCall.ts"
import { signed } from "./signed.ts"
import { twilioWords, upgradeHeaders } from "./twilioMedia.ts"
import { type Verb, verbsOf } from "./twiml.ts"

type Status = "queued" | "initiated" | "ringing" | "in-progress" | "completed" | "busy" | "no-answer" | "canceled" | "failed"
const eventNames: Partial<Record<Status, string>> = { initiated: "initiated", ringing: "ringing", "in-progress": "answered" }
type Callback = ReturnType<typeof signed> & { readonly status: Status }

interface TwilioAccount extends HostedAccount {
  readonly accountSid: string
  readonly authToken: string
  /** False: the prices of calls are not known yet. */
  readonly hasPrices: boolean
}

/** A time in the form of RFC 2822. */
const rfc2822 = (at: number): string => new Date(at).toUTCString().replace("GMT", "+0000")

const failedSip = [404, 484, 503, 604, 603, 403]

const endingOf = ({ by, ending, talkMillis }: CallEnd): { readonly status: Status; readonly sip?: number } => {
  if (talkMillis !== undefined) return { status: "completed", sip: 200 }
  if (by === "timeout") return { status: "no-answer", sip: 487 }
  // Twilio also ends a ringing call if its status is set to `completed`.
  if (by === "us") return { status: "completed" }
  const sip = ending?.sipStatus ?? 480
  if (sip === 486 || sip === 600) return { status: "busy", sip }
  return { status: failedSip.includes(sip) ? "failed" : "no-answer", sip }
}

export class TwilioCall extends HostedCall<Callback> {
  readonly sid = `CA${randomBytes(16).toString("hex")}`
  readonly createdAt = Date.now()
  readonly to: string
  readonly from: string
  status: Status = "queued"
  startedAt: number | undefined
  readonly #account: TwilioAccount
  readonly #form: URLSearchParams
  /** How often the document was replaced. */
  #replaced = 0
  #sequence = 0
  #endedAt: number | undefined
  #seconds: number | undefined
  #answeredBy: string | undefined

  constructor(account: TwilioAccount, form: URLSearchParams) {
    const to = form.get("To") ?? ""
    super(account, to, ({ status }) => (status === "in-progress" ? "answer" : status === "completed" ? "end" : "before"))
    this.#account = account
    this.#form = form
    this.to = to
    this.from = form.get("From") ?? ""
  }

  hasEnded(): boolean {
    return this.#endedAt !== undefined
  }

  /** Leaves the queue. */
  dial(): void {
    if (this.hasEnded()) return
    this.startedAt = Date.now()
    const ringTimeoutSeconds = Number(this.#form.get("Timeout") ?? 60)
    this.life = this.#account.lives.dial(
      { id: this.sid, number: this.to, ringTimeoutSeconds, shown: this.from },
      {
        ringing: () => this.#move("ringing"),
        answered: () => this.#answer(),
        ended: (end) => {
          const { sip, status } = endingOf(end)
          this.endThen(() => this.#end(status, end.talkMillis, sip))
        }
      }
    )
    this.#move("initiated")
  }

  /** Returns undefined on success, and `refused` if the state of the call does not allow it. */
  update(form: URLSearchParams): "refused" | undefined {
    const [status, document] = [form.get("Status"), form.get("Twiml")]
    if (this.hasEnded()) return "refused"
    if (document !== null) return this.#replace(document)
    const isWaiting = this.status === "queued" || this.status === "initiated" || this.status === "ringing"
    if (status === "canceled" && isWaiting) {
      this.#end("canceled", undefined)
      this.life?.hangUp()
      return undefined
    }
    if (status !== "completed" || this.life === undefined) return "refused"
    this.life.hangUp()
    return undefined
  }

  record() {
    const isPriced = this.hasEnded() && this.#account.hasPrices
    return {
      sid: this.sid,
      account_sid: this.#account.accountSid,
      to: this.to,
      from: this.from,
      status: this.status === "initiated" ? "queued" : this.status,
      direction: "outbound-api",
      answered_by: this.#answeredBy ?? null,
      date_created: rfc2822(this.createdAt),
      start_time: this.startedAt === undefined ? null : rfc2822(this.startedAt),
      end_time: this.#endedAt === undefined ? null : rfc2822(this.#endedAt),
      duration: this.#endedAt === undefined ? null : String(this.#seconds ?? 0),
      price: isPriced && this.#seconds !== undefined ? "-0.0130" : null,
      price_unit: "USD",
      uri: `/2010-04-01/Accounts/${this.#account.accountSid}/Calls/${this.sid}.json`
    }
  }

  #answer(): void {
    const isDetecting = this.#form.has("MachineDetection")
    const callee = this.life?.callee
    const machine = this.#form.get("MachineDetection") === "DetectMessageEnd" ? "machine_end_beep" : "machine_start"
    const isMachine = callee?.kind === "answers" && callee.sound === "machine"
    if (isDetecting) this.#answeredBy = isMachine ? machine : "human"
    this.#move("in-progress")
    const url = this.#form.get("AsyncAmdStatusCallback")
    if (isDetecting && url !== null) {
      const fields = { ...this.#names(), AnsweredBy: this.#answeredBy ?? "", MachineDetectionDuration: "1840" }
      this.#account.callbacks.send(this.sid, signed(url, fields, this.#account.authToken))
    }
    this.#obey()
  }

  /** Follows the document. At its end, Twilio hangs up. */
  #obey(document = this.#form.get("Twiml") ?? ""): void {
    const [verb] = verbsOf(document) ?? []
    if (verb?.name === "Connect") return this.restream(document)
    if (verb?.name === "Dial") return this.#connect(verb)
    const millis = verb?.name === "Pause" ? Number(verb.attributes["length"] ?? 1) * 1000 * this.#account.lives.pace.scale : 0
    setTimeout(() => this.life?.hangUp(), millis).unref()
  }

  /** Connects to the stream of the answer document: once the callee has answered, and again if the call is redirected. */
  restream(document = this.#form.get("Twiml") ?? ""): void {
    const [verb] = verbsOf(document) ?? []
    const url = verb?.children[0]?.attributes["url"]
    const { life } = this
    if (url === undefined || life === undefined) return
    this.legs.at(-1)?.end()
    const { accountSid, authToken } = this.#account
    const headers = upgradeHeaders(url, authToken)
    // Nothing follows the stream in the document.
    this.open(life, { url, headers, words: twilioWords(accountSid, this.sid), onLost: () => life.hangUp() }).start()
  }

  /** Replaces the document of an answered call, whose stream ends. */
  #replace(document: string): "refused" | undefined {
    if (this.status !== "in-progress" || verbsOf(document) === undefined) return "refused"
    this.#replaced += 1
    this.endStream()
    this.#obey(document)
    return undefined
  }

  /**
   * Dials a destination, and requests the next document once the dial is over: even if this document has been replaced, but then the reply is
   * ignored. https://www.twilio.com/changelog/changes-to-dial-behavior-for-enhanced-programmable-sip-feature-accounts
   */
  #connect({ attributes, children: [number] }: Verb): void {
    const { authToken, callbacks, lives } = this.#account
    const replaced = this.#replaced
    const sid = `CA${randomBytes(16).toString("hex")}`
    const shown = attributes["callerId"] ?? this.from
    const names = {
      ...this.#names(),
      Direction: "outbound-dial",
      CallSid: sid,
      From: shown,
      To: number?.text ?? "",
      ParentCallSid: this.sid
    }
    const told = number?.attributes["statusCallback"]
    const ask = (status: string) => {
      const url = attributes["action"] ?? ""
      const fields = {
        ...this.#names(),
        CallStatus: this.hasEnded() ? "completed" : "in-progress",
        DialCallSid: sid,
        DialCallStatus: status
      }
      callbacks.send(sid, {
        ...signed(url, fields, authToken),
        onReply: (reply) => {
          if (this.#replaced === replaced) this.#obey(reply?.status === 200 ? reply.body : "")
        }
      })
    }
    const dialed = lives.dial(
      { id: sid, number: names.To, ringTimeoutSeconds: Number(attributes["timeout"] ?? 30), shown },
      {
        ringing: () => {},
        answered: () => {
          if (told !== undefined) callbacks.send(sid, signed(told, { ...names, CallStatus: "in-progress", SequenceNumber: "0" }, authToken))
        },
        ended: (end) => {
          if (this.destination === dialed) this.destination = undefined
          const { status } = endingOf(end)
          ask(status === "completed" && end.talkMillis === undefined ? "canceled" : status)
        }
      }
    )
    this.destination = dialed
  }

  #end(status: Status, talkMillis: number | undefined, sip?: number): void {
    if (this.hasEnded()) return
    this.#endedAt = Date.now()
    this.#seconds = talkMillis === undefined ? undefined : Math.max(1, Math.ceil(talkMillis / 1000))
    const seconds = this.#seconds ?? 0
    const isSync = this.#form.get("AsyncAmd") !== "true" && this.#answeredBy !== undefined
    this.#move(status, {
      CallDuration: String(seconds),
      Duration: String(Math.ceil(seconds / 60)),
      ...(sip === undefined ? {} : { SipResponseCode: String(sip) }),
      ...(isSync ? { AnsweredBy: this.#answeredBy ?? "" } : {})
    })
  }

  #move(status: Status, more: Readonly<Record<string, string>> = {}): void {
    this.status = status
    const url = this.#form.get("StatusCallback")
    const wanted = this.#form.getAll("StatusCallbackEvent")
    const isWanted = wanted.length === 0 ? this.hasEnded() : wanted.includes(eventNames[status] ?? "completed")
    if (url === null || !isWanted) return
    const fields = {
      ...this.#names(),
      Called: this.to,
      Caller: this.from,
      CalledCountry: "US",
      CalledCity: "",
      CallStatus: status,
      Timestamp: rfc2822(Date.now()),
      CallbackSource: "call-progress-events",
      SequenceNumber: String(this.#sequence++),
      ...more
    }
    this.tell({ ...signed(url, fields, this.#account.authToken), status })
  }

  protected send(callback: Callback): void {
    this.#account.callbacks.send(this.sid, callback)
  }

  #names() {
    const { from: From, sid: CallSid, to: To } = this
    return { AccountSid: this.#account.accountSid, ApiVersion: "2010-04-01", CallSid, Direction: "outbound-api", From, To }
  }
}
