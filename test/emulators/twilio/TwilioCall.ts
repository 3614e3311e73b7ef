/** One call at Twilio: its life from the queue to the end, its record, and its callbacks. */
import { randomBytes } from "node:crypto"
import type { CallbackSender } from "#test/emulators/shared/CallbackSender.ts"
import { calleeOf } from "#test/emulators/shared/Callee.ts"
import type { CallEnd, CallLives } from "#test/emulators/shared/CallLife.ts"
import { MediaLeg } from "#test/emulators/shared/MediaLeg.ts"
import { Disorder } from "#test/emulators/shared/Disorder.ts"
import { signed } from "./signed.ts"
import { twilioWords, upgradeHeaders } from "./twilioMedia.ts"
import { type Verb, verbsOf } from "./twiml.ts"

type Status = "queued" | "initiated" | "ringing" | "in-progress" | "completed" | "busy" | "no-answer" | "canceled" | "failed"
const eventNames: Partial<Record<Status, string>> = { initiated: "initiated", ringing: "ringing", "in-progress": "answered" }
type Callback = ReturnType<typeof signed> & { readonly status: Status }

export interface TwilioAccount {
  readonly sid: string
  readonly authToken: string
  readonly lives: CallLives
  readonly sender: CallbackSender
  /** What machine detection says about every callee; undefined: the truth. */
  answeredBy: string | undefined
  /** How long after the end of the stream the end of a call is reported. */
  endMillis: number
  /** How long after its end the price of a call is known. */
  priceMillis: number
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

export class TwilioCall {
  readonly sid = `CA${randomBytes(16).toString("hex")}`
  readonly createdAt = Date.now()
  readonly to: string
  readonly from: string
  status: Status = "queued"
  startedAt: number | undefined
  /** Its media sockets, in order. */
  readonly legs: Array<MediaLeg> = []
  /** Resolves when the reply to the request may be sent. */
  get mayReply(): Promise<void> {
    return this.#disorder?.answered ?? Promise.resolve()
  }
  readonly #account: TwilioAccount
  readonly #form: URLSearchParams
  readonly #disorder: Disorder<Callback> | undefined
  #life: ReturnType<CallLives["dial"]> | undefined
  /** The destination that is connected to the callee, or is being dialed for them. */
  #dialed: ReturnType<CallLives["dial"]> | undefined
  /** How often the document was replaced. */
  #replaced = 0
  #sequence = 0
  #endedAt: number | undefined
  #seconds: number | undefined
  #answeredBy: string | undefined

  constructor(account: TwilioAccount, form: URLSearchParams) {
    this.#account = account
    this.#form = form
    this.to = form.get("To") ?? ""
    this.from = form.get("From") ?? ""
    const callee = calleeOf(this.to)
    if (callee.kind !== "answers" || callee.disorderly !== true) return
    const send = (callback: Callback) => account.sender.send(this.sid, callback)
    this.#disorder = new Disorder(send, ({ status }) => (status === "in-progress" ? "answer" : status === "completed" ? "end" : "before"))
  }

  hasEnded(): boolean {
    return this.#endedAt !== undefined
  }

  /** Leaves the queue. */
  dial(): void {
    if (this.hasEnded()) return
    this.startedAt = Date.now()
    const ringTimeoutSeconds = Number(this.#form.get("Timeout") ?? 60)
    this.#life = this.#account.lives.dial(
      { id: this.sid, number: this.to, ringTimeoutSeconds, shown: this.from },
      {
        ringing: () => this.#move("ringing"),
        answered: () => this.#answer(),
        ended: (end) => {
          const { sip, status } = endingOf(end)
          // The stream and the leg of the destination end first.
          this.legs.at(-1)?.end()
          this.#dialed?.hangUp()
          const tell = () => this.#end(status, end.talkMillis, sip)
          if (this.#account.endMillis === 0 || this.legs.length === 0) tell()
          else setTimeout(tell, this.#account.endMillis).unref()
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
      this.#life?.hangUp()
      return undefined
    }
    if (status !== "completed" || this.#life === undefined) return "refused"
    this.#life.hangUp()
    return undefined
  }

  record() {
    const isPriced = this.#endedAt !== undefined && Date.now() >= this.#endedAt + this.#account.priceMillis
    return {
      sid: this.sid,
      account_sid: this.#account.sid,
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
      uri: `/2010-04-01/Accounts/${this.#account.sid}/Calls/${this.sid}.json`
    }
  }

  #answer(): void {
    const isDetecting = this.#form.has("MachineDetection")
    const callee = this.#life?.callee
    const machine = this.#form.get("MachineDetection") === "DetectMessageEnd" ? "machine_end_beep" : "machine_start"
    const isMachine = callee?.kind === "answers" && callee.sound === "machine"
    if (isDetecting) this.#answeredBy = this.#account.answeredBy ?? (isMachine ? machine : "human")
    this.#move("in-progress")
    const url = this.#form.get("AsyncAmdStatusCallback")
    if (isDetecting && url !== null) {
      const fields = { ...this.#names(), AnsweredBy: this.#answeredBy ?? "", MachineDetectionDuration: "1840" }
      this.#account.sender.send(this.sid, signed(url, fields, this.#account.authToken))
    }
    this.#obey()
  }

  /** Follows the document. At its end, Twilio hangs up. */
  #obey(document = this.#form.get("Twiml") ?? ""): void {
    const [verb] = verbsOf(document) ?? []
    if (verb?.name === "Connect") return this.stream(document)
    if (verb?.name === "Dial") return this.#connect(verb)
    const millis = verb?.name === "Pause" ? Number(verb.attributes["length"] ?? 1) * 1000 * this.#account.lives.pace.scale : 0
    setTimeout(() => this.#life?.hangUp(), millis).unref()
  }

  /** Connects to the stream of the answer document: once the callee has answered, and again if the call is redirected. */
  stream(document = this.#form.get("Twiml") ?? ""): void {
    const [verb] = verbsOf(document) ?? []
    const url = verb?.children[0]?.attributes["url"]
    const life = this.#life
    if (url === undefined || life === undefined) return
    this.legs.at(-1)?.end()
    const { authToken, lives, sid } = this.#account
    const leg = new MediaLeg({
      id: this.sid,
      url,
      headers: upgradeHeaders(url, authToken),
      callee: life.callee,
      log: lives.log,
      words: twilioWords(sid, this.sid),
      pressMillis: (lives.pace.talkMillis * lives.pace.scale) / 8,
      onPressedAll: () => life.pressedAll(),
      // Nothing follows the stream in the document.
      onLost: () => life.hangUp()
    })
    this.legs.push(leg)
    leg.start()
  }

  /** Replaces the document of an answered call, whose stream ends. */
  #replace(document: string): "refused" | undefined {
    if (this.status !== "in-progress" || verbsOf(document) === undefined) return "refused"
    this.#replaced += 1
    this.legs.at(-1)?.end()
    this.#dialed?.hangUp()
    this.#obey(document)
    return undefined
  }

  /**
   * Dials a destination, and requests the next document once the dial is over: even if this document has been replaced, but then the reply is
   * ignored. https://www.twilio.com/changelog/changes-to-dial-behavior-for-enhanced-programmable-sip-feature-accounts
   */
  #connect({ attributes, children: [number] }: Verb): void {
    const { authToken, lives, sender } = this.#account
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
      sender.send(sid, {
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
          if (told !== undefined) sender.send(sid, signed(told, { ...names, CallStatus: "in-progress", SequenceNumber: "0" }, authToken))
        },
        ended: (end) => {
          if (this.#dialed === dialed) this.#dialed = undefined
          const { status } = endingOf(end)
          ask(status === "completed" && end.talkMillis === undefined ? "canceled" : status)
        }
      }
    )
    this.#dialed = dialed
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
    const callback = { ...signed(url, fields, this.#account.authToken), status }
    if (this.#disorder === undefined) this.#account.sender.send(this.sid, callback)
    else this.#disorder.add(callback)
  }

  #names() {
    const { from: From, sid: CallSid, to: To } = this
    return { AccountSid: this.#account.sid, ApiVersion: "2010-04-01", CallSid, Direction: "outbound-api", From, To }
  }
}
