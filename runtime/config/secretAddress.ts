/** Addresses that may hold a password: what is wrong with one is said in words that repeat neither the password nor what may be a part of it. */
import { Option, Result, Schema } from "effect"
import { secret } from "./Variable.ts"

/** What is wrong, as the end of a sentence. */
class Refused extends Error {}
export const refuse = (why: string): never => {
  throw new Refused(why)
}

export const badPercent = /%(?![0-9a-f]{2})/i

export const decoded = (part: string, text: string): string => {
  if (badPercent.test(text)) return refuse(`a % in the ${part} must be written as %25`)
  try {
    return decodeURIComponent(text)
  } catch {
    return refuse(`the ${part} is not UTF-8: a % in it must be written as %25`)
  }
}

export const unlessEmpty = (text: string | undefined): string | undefined => (text === "" ? undefined : text)

/** `parse` may `refuse`. */
export const reader =
  <A>(parse: (text: string) => A) =>
  (text: string): Result.Result<A, string> =>
    Result.try({
      try: () => parse(text),
      catch: (error) => {
        if (error instanceof Refused) return error.message
        throw error
      }
    })

/** The text of an address that can be read. */
export const addressReadBy = <A>(read: (text: string) => Result.Result<A, string>) =>
  secret(Schema.String.check(Schema.makeFilter((text) => Result.isSuccess(read(text)))))

export const addressWords = <A>(read: (text: string) => Result.Result<A, string>, example: string) => ({
  allowed: `an address such as ${example}`,
  fault: (text: string) => Option.getOrUndefined(Result.getFailure(read(text))),
  secret: true as const
})
