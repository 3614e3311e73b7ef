/** Phone numbers as carriers write them: in E.164, with or without the plus. */
import { Effect } from "effect"
import type { CallRef } from "#core/provider/CallRef.ts"

export const isE164 = (text: string): boolean => /^\+[1-9][0-9]{6,14}$/.test(text)

/** Removes the plus. */
export const digitsOf = (number: string): string => number.replace(/^\+/, "")

/** An entry in a carrier's list of numbers; empty for anything but a number, such as a short code or a SIP address. */
export const numberIn = (text = ""): ReadonlyArray<string> => {
  const number = `+${digitsOf(text)}`
  return isE164(number) ? [number] : []
}

/** All numbers in a carrier's list. `textIn`: how it writes the number of an entry; undefined for one that cannot call. */
export const numbersOf = <Failure>(
  entries: Effect.Effect<ReadonlyArray<unknown>, Failure>,
  textIn: (entry: unknown) => string | undefined
): Effect.Effect<ReadonlyArray<string>, Failure> => Effect.map(entries, (all) => all.flatMap((entry) => numberIn(textIn(entry))))

/** Whether a record is about a call between these numbers; the caller's is only compared if known. */
export const areNumbersOf = (call: CallRef, to = "", from = ""): boolean =>
  call.to !== undefined && digitsOf(to) === digitsOf(call.to) && (call.from === undefined || digitsOf(from) === digitsOf(call.from))
