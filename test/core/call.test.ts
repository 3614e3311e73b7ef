import fc from "fast-check"
import t from "tap"
import { fromQ850, fromSip, HangupCause, q850Of } from "#core/outcome/HangupCause.ts"
import { countsAsFailedCall, failureClassOf, isBreakerFailure, Outcome, outcomeOf, strongest } from "#core/outcome/Outcome.ts"
import { forAllOf } from "#test/support/forAll.ts"

const anyCause = fc.constantFrom(...HangupCause.literals)
const anyOutcome = fc.constantFrom(...Outcome.literals)

t.test("given a Q.850 code, then it has one cause", async (t) => {
  const check = (expected: HangupCause, ...codes: ReadonlyArray<number>) => {
    for (const code of codes) t.equal(fromQ850(code), expected, `${code}`)
  }
  check("unknown", 0)
  check("unallocated_number", 1)
  check("no_route", 2, 3)
  check("normal_clearing", 16)
  check("user_busy", 17)
  check("no_user_response", 18)
  check("no_answer", 19)
  check("subscriber_absent", 20)
  check("call_rejected", 21)
  check("number_changed", 22)
  check("interworking", 23, 127)
  check("answered_elsewhere", 26)
  check("destination_out_of_order", 27)
  check("invalid_number_format", 28)
  check("facility_rejected", 29, 50, 57)
  check("normal_unspecified", 31)
  check("congestion", 34, 42, 44, 47)
  check("network_out_of_order", 38)
  check("temporary_failure", 41, 102)
  check("codec_mismatch", 58, 88)
  t.test("and a code that is not listed goes by its class", async () => {
    check("normal_unspecified", 30)
    check("congestion", 46)
    check("facility_rejected", 63)
    check("interworking", 79, 111)
  })
  t.test("and anything else is unknown", async () => {
    check("unknown", -1, 128, 9999)
  })
})

t.test("given a SIP status beside the code, then it decides only where the code is vague", async (t) => {
  const check = (code: number, sip: number, expected: HangupCause) => t.equal(fromQ850(code, sip), expected, `${code} ${sip}`)
  check(21, 401, "authentication_failed")
  check(21, 407, "authentication_failed")
  check(21, 403, "facility_rejected")
  check(21, 603, "call_rejected")
  check(127, 607, "call_rejected")
  check(127, 608, "facility_rejected")
  check(0, 486, "user_busy")
  check(0, 200, "unknown")
  check(19, 480, "no_answer")
  check(38, 500, "network_out_of_order")
  check(16, 603, "normal_clearing")
})

t.test("given a SIP status alone, then it has one cause", async (t) => {
  const check = (expected: HangupCause, ...statuses: ReadonlyArray<number>) => {
    for (const status of statuses) t.equal(fromSip(status), expected, `${status}`)
  }
  check("normal_clearing", 200)
  check("interworking", 302, 418, 699)
  check("unallocated_number", 404, 604)
  check("no_user_response", 408)
  check("number_changed", 410)
  check("no_answer", 480)
  check("invalid_number_format", 484)
  check("user_busy", 486, 600)
  check("originator_cancel", 487)
  check("codec_mismatch", 488)
  check("congestion", 503, 599)
  check("unknown", 180, 0)
  t.test("the same as that of Asterisk's code for it", async (t) => {
    // As measured: the SIP status sent, and the code in the ChannelDestroyed event.
    const measured = [
      [486, 17],
      [600, 17],
      [404, 1],
      [604, 1],
      [408, 18],
      [480, 19],
      [484, 28],
      [302, 23],
      [503, 34],
      [500, 38],
      [502, 27],
      [504, 102],
      [410, 22],
      [488, 58]
    ] as const
    for (const [status, code] of measured) t.equal(fromSip(status), fromQ850(code), `${status}`)
  })
})

t.test("given a cause of the network, when it is named to the network and comes back, then it is the same", async (t) => {
  const ours =
    "ring_timeout originator_cancel agent_hangup duration_exceeded machine_detected trunk_lost media_failure internal_error node_lost written_off authentication_failed no_credit unexplained_refusal".split(
      " "
    )
  for (const cause of HangupCause.literals.filter((cause) => !ours.includes(cause))) t.equal(fromQ850(q850Of(cause)), cause, cause)
  for (const cause of HangupCause.literals) t.ok(q850Of(cause) >= 0 && q850Of(cause) <= 127, cause)
})

t.test("given a call that was not answered, then its cause is its outcome", async (t) => {
  const check = (expected: Outcome, ...causes: ReadonlyArray<HangupCause>) => {
    for (const cause of causes) t.equal(outcomeOf({ cause, answered: false, machine: false }), expected, cause)
  }
  check("busy", "user_busy")
  check("no_answer", "no_answer", "no_user_response", "subscriber_absent", "ring_timeout", "normal_clearing", "normal_unspecified")
  check("canceled", "originator_cancel", "answered_elsewhere")
  check("unknown", "written_off")
  check("error", "trunk_lost", "internal_error", "node_lost")
  check("voicemail", "machine_detected")
  check(
    "failed",
    "call_rejected",
    "number_changed",
    "destination_out_of_order",
    "invalid_number_format",
    "facility_rejected",
    "unallocated_number",
    "no_route",
    "congestion",
    "network_out_of_order",
    "temporary_failure",
    "codec_mismatch",
    "interworking",
    "authentication_failed",
    "no_credit",
    "unknown"
  )
})

t.test("given an answered call, then any end is a normal one, unless our side caused it", async (t) => {
  const spoiled: ReadonlyArray<HangupCause> = ["trunk_lost", "media_failure", "internal_error", "node_lost"]
  const check = (cause: HangupCause, machine: boolean, expected: Outcome) =>
    t.equal(outcomeOf({ cause, answered: true, machine }), expected, `${cause} ${machine}`)
  for (const cause of HangupCause.literals.filter((cause) => !spoiled.includes(cause) && cause !== "machine_detected")) {
    check(cause, false, "answered")
    check(cause, true, "voicemail")
  }
  for (const cause of spoiled) {
    check(cause, false, "error")
    check(cause, true, "error")
  }
  check("machine_detected", false, "voicemail")
})

t.test("given two signals about one call, then the stronger is believed, in any order", async (t) => {
  const check = (a: Outcome, b: Outcome, expected: Outcome) => {
    t.equal(strongest(a, b), expected)
    t.equal(strongest(b, a), expected)
  }
  check("error", "answered", "error")
  check("error", "voicemail", "error")
  check("voicemail", "answered", "voicemail")
  check("answered", "busy", "answered")
  check("busy", "no_answer", "busy")
  check("no_answer", "canceled", "no_answer")
  check("canceled", "failed", "canceled")
  check("failed", "unknown", "failed")
  forAllOf(
    { seed: 6 },
    anyOutcome,
    anyOutcome,
    anyOutcome,
    (a, b, c) => strongest(a, strongest(b, c)) === strongest(strongest(a, b), c) && strongest(a, a) === a
  )
})

t.test("given an outcome, then the breaker and the counter treat it accordingly", async (t) => {
  const check = (outcome: Outcome, breaker: boolean, failedCall: boolean) =>
    t.strictSame([isBreakerFailure(outcome), countsAsFailedCall(outcome)], [breaker, failedCall], outcome)
  check("answered", false, false)
  check("voicemail", false, false)
  check("busy", false, true)
  check("no_answer", false, true)
  check("canceled", false, false)
  check("failed", true, true)
  check("error", true, true)
  check("unknown", true, true)
})

t.test("given a cause, then every failed call has a class of failure, and no answered one is an error of the network", async (t) => {
  t.equal(failureClassOf("unallocated_number"), "invalid_number")
  t.equal(failureClassOf("facility_rejected"), "blocked")
  t.equal(failureClassOf("call_rejected"), "rejected")
  t.equal(failureClassOf("congestion"), "congestion")
  t.equal(failureClassOf("authentication_failed"), "auth")
  t.equal(failureClassOf("no_credit"), "funds")
  t.equal(failureClassOf("codec_mismatch"), "config")
  t.equal(failureClassOf("interworking"), "provider_error")
  t.equal(failureClassOf("media_failure"), "media")
  t.equal(failureClassOf("user_busy"), undefined)
  const network = HangupCause.literals.filter((cause) => cause !== "agent_hangup" && cause !== "duration_exceeded")
  forAllOf(
    { seed: 7 },
    fc.constantFrom(...network),
    (cause) => outcomeOf({ cause, answered: false, machine: false }) !== "failed" || failureClassOf(cause) !== undefined
  )
  forAllOf({ seed: 8 }, anyCause, fc.boolean(), fc.boolean(), (cause, answered, machine) =>
    Outcome.literals.includes(outcomeOf({ cause, answered, machine }))
  )
})
