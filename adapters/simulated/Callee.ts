/**
 * Who has a simulated phone, by its number: for certain endings always the same, otherwise by a hash of the number, so that each number behaves the
 * same way every time that it is dialed, and a list of numbers looks like one of people.
 */
import type { HangupCause } from "#core/outcome/HangupCause.ts"

/**
 * - `person`: says hello, then yes to whatever the agent says, and hangs up some time after it first heard the agent.
 * - `machine`: plays a greeting and a beep, and records.
 * - `keypad`: presses keys once the agent has spoken, and otherwise behaves like `person`.
 * - `leaver`: hangs up after a second.
 * - `tone`: makes a steady sound, and stays until we hang up.
 * - `broken`: the line breaks after a second.
 */
export type Answerer = "person" | "machine" | "keypad" | "leaver" | "tone" | "broken"

export type Callee =
  | { readonly _tag: "Answers"; readonly as: Answerer }
  /** The network ends the call, either at once or, if the phone `rings`, after as long as others take to answer. */
  | { readonly _tag: "Ends"; readonly cause: HangupCause; readonly rings: boolean }
  | { readonly _tag: "RingsOut" }

const answers = (as: Answerer): Callee => ({ _tag: "Answers", as })
const ends = (cause: HangupCause, rings = false): Callee => ({ _tag: "Ends", cause, rings })
const busy = ends("user_busy")
const ringsOut: Callee = { _tag: "RingsOut" }

/** By the last two digits; deploy/README.md lists them. */
const byEnding: Readonly<Record<string, Callee>> = {
  "01": answers("person"),
  "02": busy,
  "03": ringsOut,
  "04": answers("machine"),
  "05": answers("leaver"),
  "06": answers("tone"),
  "07": ends("call_rejected"),
  "08": ends("unallocated_number"),
  "09": ends("congestion"),
  "10": answers("keypad"),
  "11": ends("no_answer", true),
  "12": answers("broken")
}

/** Of a hundred phones that are answered, and of a hundred that are not. */
const MACHINES_PERCENT = 15
const BUSY_PERCENT = 40

/** `answerPercent`: how many of a hundred numbers are answered. One that is answered at some percentage is also answered at every higher one. */
export const calleeOf = (number: string, answerPercent: number): Callee => {
  const fixed = byEnding[number.slice(-2)]
  if (fixed !== undefined) return fixed
  const hash = hashOf(number)
  const kind = Math.floor(hash / 100) % 100
  if (hash % 100 < answerPercent) return answers(kind < MACHINES_PERCENT ? "machine" : "person")
  return kind < BUSY_PERCENT ? busy : ringsOut
}

/** FNV-1a, mixed as in MurmurHash3: neighbouring numbers must differ in all bits. */
const hashOf = (text: string): number => {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
