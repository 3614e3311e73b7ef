/** Who answers, and how: the last two digits of the dialed number select the callee. */

/** Why a line ends: a Q.850 cause, the SIP status behind it if there was one, and the `Dial` status. */
export type Ending = { readonly cause: number; readonly sipStatus?: number; readonly dialStatus?: "BUSY" | "CONGESTION" | "NOANSWER" }

/** How an answered call ends, as far as the callee decides it. */
type Stay = "talks" | "until-hung-up" | "bounded" | "loses-the-line" | "hangs-up-at-once"

export type Callee =
  | { readonly kind: "refuses"; readonly rings: boolean; readonly ending: Ending }
  /** `rings` false: the far end sends no reply at all. */
  | { readonly kind: "never-answers"; readonly rings: boolean }
  | {
      readonly kind: "answers"
      readonly stay: Stay
      readonly sound: "talk" | "hello" | "machine" | "tone" | "nothing"
      readonly presses?: string
      /** Events are repeated, out of order and before the response, and all of them come again after the end. */
      readonly disorderly?: true
    }

const talks: Callee = { kind: "answers", stay: "talks", sound: "talk" }

/** The callees by their number modulo 100. Every other number talks and hangs up like `1`. */
const callees: { readonly [lastTwoDigits: number]: Callee } = {
  1: talks,
  2: { kind: "refuses", rings: false, ending: { cause: 17, sipStatus: 486, dialStatus: "BUSY" } },
  3: { kind: "never-answers", rings: true },
  4: { kind: "answers", stay: "bounded", sound: "machine" },
  5: { kind: "answers", stay: "loses-the-line", sound: "talk" },
  6: { kind: "answers", stay: "talks", sound: "talk", disorderly: true },
  7: { kind: "refuses", rings: false, ending: { cause: 21, sipStatus: 603, dialStatus: "NOANSWER" } },
  8: { kind: "refuses", rings: false, ending: { cause: 1, sipStatus: 404, dialStatus: "NOANSWER" } },
  9: { kind: "refuses", rings: false, ending: { cause: 34, sipStatus: 503, dialStatus: "CONGESTION" } },
  10: { kind: "answers", stay: "talks", sound: "talk", presses: "1234#" },
  11: { kind: "answers", stay: "until-hung-up", sound: "talk" },
  12: { kind: "answers", stay: "talks", sound: "hello" },
  13: { kind: "refuses", rings: true, ending: { cause: 19, sipStatus: 480, dialStatus: "NOANSWER" } },
  14: { kind: "never-answers", rings: false },
  15: { kind: "answers", stay: "until-hung-up", sound: "tone" },
  16: { kind: "answers", stay: "hangs-up-at-once", sound: "talk" },
  /** Says only what a test makes the callee say. */
  17: { kind: "answers", stay: "until-hung-up", sound: "nothing" }
}

/** A machine records for at most `most` and then hangs up; because its greeting is in real time, never before `least`. */
export const machineMillis = { most: 120_000, least: 20_000 }

export const calleeOf = (number: string): Callee => callees[Number(number.slice(-2))] ?? talks

/** Numbers whose last three digits are 900 or more hang up like many SIP phones: a BYE without a reason, which Asterisk reports as 0. */
export const goodbyeCause = (number: string): number => (number.at(-3) === "9" ? 0 : 16)
