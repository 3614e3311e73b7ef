/**
 * What can happen to a call, in the terms of each carrier: its signed callbacks, as its adapter reads them, and what a lookup of its record
 * returns.
 */
import { generateKeyPairSync } from "node:crypto"
import cloudonix from "#adapters/cloudonix/cloudonix.ts"
import { lookOf } from "#adapters/cloudonix/CloudonixSession.ts"
import plivo from "#adapters/plivo/plivo.ts"
import { lookOf as plivoLook } from "#adapters/shared/PlivoDialectRecords.ts"
import telnyx from "#adapters/telnyx/telnyx.ts"
import { clientStateOf } from "#adapters/telnyx/TelnyxCallback.ts"
import twilio from "#adapters/twilio/twilio.ts"
import { lookOf as twilioLook } from "#adapters/twilio/TwilioCallback.ts"
import vobiz from "#adapters/vobiz/vobiz.ts"
import vonage from "#adapters/vonage/vonage.ts"
import { lookOf as vonageLook } from "#adapters/vonage/VonageCallback.ts"
import { CallId } from "#core/Id.ts"
import type { Adapter, Look, Presence } from "#core/provider/Adapter.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import type { CarrierTitle } from "#test/emulators/hostedCarriers.ts"
import { signed as plivoSigned } from "#test/emulators/plivo/signed.ts"
import { signatureOf as telnyxSignature } from "#test/emulators/telnyx/TelnyxCall.ts"
import { signed as twilioSigned } from "#test/emulators/twilio/signed.ts"
import { signed as vobizSigned } from "#test/emulators/vobiz/signed.ts"
import { signatureOf as vonageSignature } from "#test/emulators/vonage/tokens.ts"
import { refTo } from "./refTo.ts"

export type Happening = "placed" | "rang" | "answered" | "detected" | "ended"
/** Who ended the call, or why nobody was reached. */
export type Why = "callee" | "us" | "limit" | "busy" | "ringOut" | "rejected" | "unallocated" | "congestion"

/** What the carrier knows about a call. Times are in milliseconds since it was placed. */
export interface Facts {
  readonly at: number
  readonly last: Happening
  readonly answeredAt: number | undefined
  readonly who: "human" | "machine" | undefined
  readonly why: Why | undefined
}

/** What happens to a call unless we end it first. */
interface Plot {
  readonly name: string
  readonly rings?: number
  readonly answers?: number
  readonly detects?: { readonly at: number; readonly who: "human" | "machine" }
  readonly ends: { readonly at: number; readonly why: Why }
  /** When an operator cancels it. */
  readonly isCancelledAt?: number
  /** How long after the answer the agent hangs up. */
  readonly isLeftAfter?: number
}

const plots: ReadonlyArray<Plot> = [
  { name: "talks", rings: 1000, answers: 4000, ends: { at: 34_000, why: "callee" } },
  { name: "says a word", rings: 1000, answers: 3000, ends: { at: 3600, why: "callee" } },
  { name: "answers at once", answers: 1200, ends: { at: 6200, why: "callee" } },
  { name: "talks for too long", rings: 1000, answers: 3000, ends: { at: 25_000, why: "limit" } },
  { name: "soon talks for too long", rings: 1000, answers: 3000, ends: { at: 5000, why: "limit" } },
  { name: "answers late", answers: 14_200, ends: { at: 34_000, why: "callee" } },
  { name: "answers late and says a word", answers: 14_800, ends: { at: 15_300, why: "callee" } },
  { name: "is left by the agent", rings: 1000, answers: 3000, ends: { at: 200_000, why: "callee" }, isLeftAfter: 8000 },
  { name: "is busy", ends: { at: 1500, why: "busy" } },
  { name: "does not exist", ends: { at: 900, why: "unallocated" } },
  { name: "cannot be reached", ends: { at: 1200, why: "congestion" } },
  { name: "rejects the call", rings: 1000, ends: { at: 4000, why: "rejected" } },
  { name: "does not answer", rings: 1000, ends: { at: 60_000, why: "ringOut" } },
  { name: "rings until an operator cancels", rings: 1000, ends: { at: 60_000, why: "ringOut" }, isCancelledAt: 9000 },
  { name: "is a person", rings: 1000, answers: 4000, detects: { at: 7000, who: "human" }, ends: { at: 34_000, why: "callee" } },
  { name: "is a machine", rings: 1000, answers: 4000, detects: { at: 7000, who: "machine" }, ends: { at: 90_000, why: "callee" } },
  { name: "rejects the call late", ends: { at: 14_300, why: "rejected" } },
  { name: "is a machine that hangs up", answers: 4000, detects: { at: 7000, who: "machine" }, ends: { at: 9000, why: "callee" } }
]

export const callId = CallId.make("01890000-0000-7000-8000-0000000000aa")
const epoch = Date.UTC(2026, 0, 5, 12)
const to = "+15551230001"
const from = "+15550009000"

interface Told {
  readonly kind: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

interface Dialect {
  readonly adapter: Adapter
  readonly config: Readonly<Record<string, unknown>>
  readonly id: string
  /** The call's id in the reply to the request. */
  readonly replyId?: string
  /** The report of an event. Undefined if the carrier does not report it. */
  readonly tell: (what: Happening, facts: Facts) => Told | undefined
  readonly look: (facts: Facts) => Look
  /** Whether its timestamps say how long the callee talked. */
  readonly timesTalks: boolean
}

const urlOf = (kind: string) => `http://127.0.0.1:8000/telephony/1/${callId}/${kind}/seal`
const rfc2822 = (at: number) => new Date(epoch + at).toUTCString()
const iso = (at: number) => new Date(epoch + at).toISOString()
const secondsOf = ({ answeredAt, at }: Facts) => (answeredAt === undefined ? 0 : Math.ceil((at - answeredAt) / 1000))
const alive: Readonly<Record<Exclude<Happening, "ended">, Presence>> = {
  placed: "ringing",
  rang: "ringing",
  answered: "up",
  detected: "up"
}
const presenceOf = ({ last }: Facts): Presence => (last === "ended" ? "ended" : alive[last])

const twilioDialect = (): Dialect => {
  const config = { account_sid: `AC${"0".repeat(31)}1`, auth_token: "1".repeat(32), amd_enabled: true }
  const id = `CA${"a".repeat(32)}`
  const unanswered: Readonly<Record<Why, string>> = {
    busy: "busy",
    callee: "no-answer",
    congestion: "failed",
    limit: "no-answer",
    rejected: "failed",
    ringOut: "no-answer",
    unallocated: "failed",
    us: "canceled"
  }
  const sips: Readonly<Partial<Record<Why, string>>> = { congestion: "503", rejected: "603", unallocated: "404" }
  const statusOf = (what: Happening, { answeredAt, why = "callee" }: Facts) =>
    what === "ended"
      ? answeredAt === undefined
        ? unanswered[why]
        : "completed"
      : { placed: "initiated", rang: "ringing", answered: "in-progress", detected: "" }[what]
  const answeredBy = ({ who }: Facts) => (who === "machine" ? "machine_start" : who)
  const order: ReadonlyArray<Happening> = ["placed", "rang", "answered", "ended"]
  return {
    adapter: twilio,
    config,
    id,
    timesTalks: true,
    tell: (what, facts) => {
      const ids = { AccountSid: config.account_sid, CallSid: id, Direction: "outbound-api", From: from, To: to }
      if (what === "detected") {
        const kind = "machine"
        return { kind, ...twilioSigned(urlOf(kind), { ...ids, AnsweredBy: answeredBy(facts) ?? "" }, config.auth_token) }
      }
      const sip = what === "ended" ? sips[facts.why ?? "us"] : undefined
      const fields = {
        ...ids,
        CallStatus: statusOf(what, facts) ?? "",
        SequenceNumber: String(order.indexOf(what)),
        Timestamp: rfc2822(facts.at),
        ...(what === "ended" ? { CallDuration: String(secondsOf(facts)) } : {}),
        ...(sip === undefined ? {} : { SipResponseCode: sip })
      }
      return { kind: "status", ...twilioSigned(urlOf("status"), fields, config.auth_token) }
    },
    look: (facts) => {
      const presence = presenceOf(facts)
      const record = {
        status: statusOf("ended", facts),
        answered_by: answeredBy(facts) ?? null,
        end_time: rfc2822(facts.at),
        duration: String(secondsOf(facts)),
        price: null
      }
      return { presence, told: presence === "ended" ? (twilioLook(record)?.told ?? []) : [] }
    }
  }
}

const telnyxDialect = (): Dialect => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519")
  const config = {
    api_key: "KEY",
    connection_id: "1",
    webhook_public_key: publicKey.export({ format: "der", type: "spki" }).toString("base64")
  }
  const id = "v3:abcdefgh:0000"
  const causes: Readonly<Record<Why, readonly [string, string]>> = {
    busy: ["user_busy", "486"],
    callee: ["normal_clearing", "200"],
    congestion: ["unspecified", "503"],
    limit: ["time_limit", "200"],
    rejected: ["call_rejected", "603"],
    ringOut: ["timeout", "487"],
    unallocated: ["not_found", "404"],
    us: ["normal_clearing", "200"]
  }
  const types = { placed: "initiated", rang: "", answered: "answered", detected: "machine.detection.ended", ended: "hangup" }
  return {
    adapter: telnyx,
    config,
    id,
    timesTalks: true,
    tell: (what, { answeredAt, at, who, why = "us" }) => {
      if (what === "rang") return undefined
      const [hangup_cause, sip_hangup_cause] = why === "us" && answeredAt === undefined ? ["originator_cancel", "487"] : causes[why]
      const payload = {
        call_control_id: id,
        client_state: clientStateOf(callId),
        ...(what === "ended" ? { hangup_cause, sip_hangup_cause } : {}),
        ...(what === "detected" ? { result: who } : {})
      }
      const data = { record_type: "event", event_type: `call.${types[what]}`, id: `event-${what}`, occurred_at: iso(at), payload }
      const body = JSON.stringify({ data })
      return { kind: "event", url: urlOf("event"), headers: telnyxSignature(body, privateKey), body }
    },
    look: (facts) => ({ presence: presenceOf(facts), told: [] })
  }
}

type PlivoEnd = readonly [code: number, word: string, status: string]
const plivoEnds: Readonly<Record<Why, PlivoEnd>> = {
  busy: [3010, "USER_BUSY", "busy"],
  callee: [4000, "NORMAL_CLEARING", "completed"],
  congestion: [3090, "NORMAL_CIRCUIT_CONGESTION", "failed"],
  limit: [6000, "ALLOTTED_TIMEOUT", "completed"],
  rejected: [3020, "CALL_REJECTED", "failed"],
  ringOut: [6010, "NO_ANSWER", "no-answer"],
  unallocated: [3050, "UNALLOCATED_NUMBER", "failed"],
  us: [4000, "NORMAL_CLEARING", "completed"]
}

/** Some of its deliveries do not say whether the call was answered. */
const plivoDialect = (
  adapter: Adapter,
  config: { readonly auth_id: string; readonly auth_token: string },
  signed: (url: string, fields: Readonly<Record<string, string>>, authToken: string) => Omit<Told, "kind">,
  isTerse: boolean
): Dialect => {
  const id = "11111111-2222-4333-8444-555555555555"
  const endOf = ({ answeredAt, why = "us" }: Facts): PlivoEnd =>
    why === "us" && answeredAt === undefined ? [1000, "ORIGINATOR_CANCEL", "cancel"] : plivoEnds[why]
  const kinds = { placed: "", rang: "ring", answered: "answer", detected: "machine", ended: "hangup" }
  return {
    adapter,
    config,
    id,
    replyId: "request:99999999-2222-4333-8444-555555555555",
    timesTalks: false,
    tell: (what, facts) => {
      if (what === "placed") return undefined
      const [code, word, status] = endOf(facts)
      const answer = isTerse
        ? {}
        : { BillDuration: String(secondsOf(facts)), ...(facts.answeredAt === undefined ? {} : { AnswerTime: "2026-01-05 12:00:00" }) }
      const more = {
        placed: {},
        rang: { Event: "Ring", CallStatus: "ringing" },
        answered: { Event: "StartApp", CallStatus: "in-progress" },
        detected: { Event: "MachineDetection", CallStatus: "in-progress", Machine: String(facts.who === "machine") },
        ended: { Event: "Hangup", CallStatus: status, HangupCause: word, HangupCauseCode: String(code), ...answer }
      }[what]
      const fields = {
        CallUUID: id,
        RequestUUID: "99999999-2222-4333-8444-555555555555",
        Direction: "outbound",
        From: from,
        To: to,
        ...more
      }
      return { kind: kinds[what], ...signed(urlOf(kinds[what]), fields, config.auth_token) }
    },
    look: (facts) => {
      if (facts.last !== "ended") return { presence: presenceOf(facts), told: [] }
      const [code, word, status] = endOf(facts)
      const end = { code, word, status, wasAnswered: facts.answeredAt !== undefined, seconds: secondsOf(facts) }
      return plivoLook(refTo(callId, { providerCallId: id }), { beganAt: undefined, end, from, to, uuid: id })
    }
  }
}

const vonageDialect = (): Dialect => {
  const keys = { apiKey: "a1b2c3d4", applicationId: "aaaaaaaa-bbbb-cccc-dddd-0123456789ab", signatureSecret: "s".repeat(32) }
  const id = "22222222-2222-4333-8444-555555555555"
  const unanswered: Readonly<Record<Why, readonly [string, string?]>> = {
    busy: ["busy"],
    callee: ["unanswered"],
    congestion: ["failed", "carrier_timeout"],
    limit: ["unanswered"],
    rejected: ["rejected", "declined"],
    ringOut: ["timeout"],
    unallocated: ["failed", "cannot_route"],
    us: ["cancelled"]
  }
  const endOf = (facts: Facts) => {
    const [status, detail] = facts.answeredAt === undefined ? unanswered[facts.why ?? "us"] : (["completed"] as const)
    const times = status === "completed" ? { duration: String(secondsOf(facts)), end_time: iso(facts.at) } : {}
    return { status, ...(detail === undefined ? {} : { detail }), ...times }
  }
  return {
    adapter: vonage,
    config: { api_key: keys.apiKey, signature_secret: keys.signatureSecret },
    id,
    timesTalks: true,
    tell: (what, facts) => {
      const status = { placed: "started", rang: "ringing", answered: "answered", detected: facts.who ?? "human" }
      const ids = { from: from.slice(1), to: to.slice(1), direction: "outbound", timestamp: iso(facts.at) }
      const told = what === "ended" ? endOf(facts) : { status: status[what] }
      const body = JSON.stringify({ ...ids, [what === "detected" ? "call_uuid" : "uuid"]: id, ...told })
      return { kind: "event", url: urlOf("event"), headers: vonageSignature(body, keys, { jti: `${what} ${facts.at}` }), body }
    },
    look: (facts) => ({
      presence: presenceOf(facts),
      told: facts.last === "ended" ? (vonageLook({ ...endOf(facts), detail: undefined })?.told ?? []) : []
    })
  }
}

const cloudonixDialect = (): Dialect => {
  const id = "c".repeat(32)
  const ends: Readonly<Record<Why, string>> = {
    busy: "busy",
    callee: "noanswer",
    congestion: "congestion",
    limit: "noanswer",
    rejected: "failed",
    ringOut: "noanswer",
    unallocated: "failed",
    us: "cancel"
  }
  const sips: Readonly<Partial<Record<Why, string>>> = { rejected: "SIP 603", unallocated: "SIP 404" }
  const sessionOf = (what: Happening, { answeredAt, at, why = "us" }: Facts) => ({
    token: id,
    domain: "acme.cloudonix.net",
    destination: to,
    callerId: from,
    status: {
      placed: "processing",
      rang: "ringing",
      answered: "connected",
      detected: "connected",
      ended: answeredAt === undefined ? ends[why] : "completed"
    }[what],
    ...(what === "ended" && answeredAt === undefined && sips[why] !== undefined ? { error: sips[why] } : {}),
    callAnswerTime: answeredAt === undefined ? null : epoch + answeredAt,
    callEndTime: what === "ended" ? epoch + at : null
  })
  return {
    adapter: cloudonix,
    config: { domain_id: "acme.cloudonix.net", authorization_api_key: "" },
    id,
    timesTalks: true,
    tell: (what, facts) => {
      if (what === "detected") return undefined
      const body = JSON.stringify(sessionOf(what, facts))
      return { kind: "session", url: urlOf("session"), headers: { "content-type": "application/json" }, body }
    },
    look: (facts) => lookOf(sessionOf(facts.last, facts), id) ?? { presence: "gone", told: [] }
  }
}

const dialects: Readonly<Record<CarrierTitle | "Plivo, tersely", Dialect>> = {
  Twilio: twilioDialect(),
  Telnyx: telnyxDialect(),
  Plivo: plivoDialect(plivo, { auth_id: `MA${"0".repeat(18)}`, auth_token: "token" }, plivoSigned, false),
  "Plivo, tersely": plivoDialect(plivo, { auth_id: `MA${"0".repeat(18)}`, auth_token: "token" }, plivoSigned, true),
  Vobiz: plivoDialect(vobiz, { auth_id: "MA_0", auth_token: "token" }, vobizSigned, false),
  Vonage: vonageDialect(),
  Cloudonix: cloudonixDialect()
}

/** A plot at one carrier. */
export interface Story {
  readonly name: string
  readonly plot: Plot
  readonly dialect: Pick<Dialect, "look" | "timesTalks">
  /** How the engine reads the callback. `isNamed`: whether it already knows the carrier's id of the call. */
  readonly read: (what: Happening, facts: Facts, isNamed: boolean) => ReadonlyArray<TrunkEvent>
}

const readerOf = ({ adapter, config, id, tell }: Dialect): Story["read"] => {
  const known = new Map<string, ReadonlyArray<TrunkEvent>>()
  const read = (what: Happening, facts: Facts, isNamed: boolean): ReadonlyArray<TrunkEvent> => {
    const told = tell(what, facts)
    if (told === undefined) return []
    const { body, headers, kind, url } = told
    const call = refTo(callId, { from, to, sentAt: epoch, providerCallId: isNamed ? id : undefined })
    const callback = { at: Date.now(), body: Buffer.from(body), call, headers, isWanted: true, kind, method: "POST", url } as const
    const taken = adapter.read?.(config, callback)
    if (taken === undefined) throw new Error(`the adapter takes a callback for forged: ${what}`)
    return taken.events.map(({ event }) => event)
  }
  return (what, facts, isNamed) => {
    const key = `${what} ${isNamed} ${facts.at} ${facts.answeredAt} ${facts.who} ${facts.why}`
    const events = known.get(key) ?? read(what, facts, isNamed)
    known.set(key, events)
    return events
  }
}

export const stories: ReadonlyArray<Story> = Object.entries(dialects).flatMap(([carrier, dialect]) => {
  const read = readerOf(dialect)
  const canDetect = carrier !== "Cloudonix"
  return plots
    .filter(({ detects }) => canDetect || detects === undefined)
    .map((plot) => ({ name: `${carrier}: the callee ${plot.name}`, plot, dialect, read }))
})
