import fc from "fast-check"
import t from "tap"
import { fromQ850, fromSip, HangupCause, q850Of } from "#core/outcome/HangupCause.ts"
import { countsAsFailedCall, failureClassOf, isBreakerFailure, Outcome, outcomeOf, strongest } from "#core/outcome/Outcome.ts"

const anyCause = fc.constantFrom(...HangupCause.literals)
const anyOutcome = fc.constantFrom(...Outcome.literals)

t.test("given a Q.850 code, then it has one cause", async (t) => {
  const check = (code: number, expected: HangupCause) => t.equal(fromQ850(code), expected, `${code}`)
  check(0, "unknown")
  check(1, "unallocated_number")
  check(2, "no_route")
  check(3, "no_route")
  check(16, "normal_clearing")
  check(17, "user_busy")
  check(18, "no_user_response")
  check(19, "no_answer")
  check(20, "subscriber_absent")
  check(21, "call_rejected")
  check(22, "number_changed")
  check(23, "interworking")
  check(26, "answered_elsewhere")
  check(27, "destination_out_of_order")
  check(28, "invalid_number_format")
  check(29, "facility_rejected")
  check(31, "normal_unspecified")
  check(34, "congestion")
  check(38, "network_out_of_order")
  check(41, "temporary_failure")
  check(42, "congestion")
  check(44, "congestion")
  check(47, "congestion")
  check(50, "facility_rejected")
  check(57, "facility_rejected")
  check(58, "codec_mismatch")
  check(88, "codec_mismatch")
  check(102, "temporary_failure")
  check(127, "interworking")
  t.test("and a code that is not listed goes by its class", async () => {
    check(30, "normal_unspecified")
    check(46, "congestion")
    check(63, "facility_rejected")
    check(79, "interworking")
    check(111, "interworking")
  })
  t.test("and anything else is unknown", async () => {
    check(-1, "unknown")
    check(128, "unknown")
    check(9999, "unknown")
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
  const check = (status: number, expected: HangupCause) => t.equal(fromSip(status), expected, `${status}`)
  check(200, "normal_clearing")
  check(302, "interworking")
  check(404, "unallocated_number")
  check(408, "no_user_response")
  check(410, "number_changed")
  check(418, "interworking")
  check(480, "no_answer")
  check(484, "invalid_number_format")
  check(486, "user_busy")
  check(487, "originator_cancel")
  check(488, "codec_mismatch")
  check(503, "congestion")
  check(599, "congestion")
  check(600, "user_busy")
  check(604, "unallocated_number")
  check(699, "interworking")
  check(180, "unknown")
  check(0, "unknown")
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
  const ours = [
    "ring_timeout",
    "originator_cancel",
    "agent_hangup",
    "duration_exceeded",
    "machine_detected",
    "trunk_lost",
    "media_failure",
    "internal_error",
    "node_lost",
    "written_off",
    "authentication_failed",
    "no_credit"
  ]
  for (const cause of HangupCause.literals.filter((cause) => !ours.includes(cause))) t.equal(fromQ850(q850Of(cause)), cause, cause)
  for (const cause of HangupCause.literals) t.ok(q850Of(cause) >= 0 && q850Of(cause) <= 127, cause)
})

t.test("given a call that was not answered, then its cause is its outcome", async (t) => {
  const check = (cause: HangupCause, expected: Outcome) => t.equal(outcomeOf({ cause, answered: false, machine: false }), expected, cause)
  check("user_busy", "busy")
  check("no_answer", "no_answer")
  check("no_user_response", "no_answer")
  check("subscriber_absent", "no_answer")
  check("ring_timeout", "no_answer")
  check("normal_clearing", "no_answer")
  check("normal_unspecified", "no_answer")
  check("originator_cancel", "canceled")
  check("answered_elsewhere", "canceled")
  check("written_off", "unknown")
  check("trunk_lost", "error")
  check("internal_error", "error")
  check("node_lost", "error")
  check("machine_detected", "voicemail")
  for (const cause of [
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
  ] as const)
    check(cause, "failed")
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
  fc.assert(
    fc.property(
      anyOutcome,
      anyOutcome,
      anyOutcome,
      (a, b, c) => strongest(a, strongest(b, c)) === strongest(strongest(a, b), c) && strongest(a, a) === a
    ),
    { seed: 6 }
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

t.test(
  "given a cause, then every failed call has a class of failure, and no answered one is an error for the network's sake",
  async (t) => {
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
    fc.assert(
      fc.property(
        fc.constantFrom(...network),
        (cause) => outcomeOf({ cause, answered: false, machine: false }) !== "failed" || failureClassOf(cause) !== undefined
      ),
      { seed: 7 }
    )
    fc.assert(
      fc.property(anyCause, fc.boolean(), fc.boolean(), (cause, answered, machine) =>
        Outcome.literals.includes(outcomeOf({ cause, answered, machine }))
      ),
      { seed: 8 }
    )
  }
)
