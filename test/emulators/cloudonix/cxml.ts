/**
 * What Cloudonix does with a document that dials. Attributes that are not documented are refused, so that mistakes of the adapter show.
 * https://developers.cloudonix.com/Documentation/voiceApplication/Verb/dial
 */
import { strayIn } from "#test/emulators/shared/json.ts"
import { type Verb, verbsOf } from "#test/emulators/twilio/twiml.ts"

export interface Dialed {
  readonly number: string
  readonly shown: string | undefined
  readonly ringTimeoutSeconds: number
  /** The address of the next document, requested when the dial is over; undefined: the call ends then. */
  readonly action: string | undefined
}

const documented = "action callerId callerName hangupOnStar method timeLimit timeout trunks"
const defaultTimeout = "60"

/** Undefined: it is not a dial, or Cloudonix does not understand it. */
export const dialIn = ({ attributes, children, name, text }: Verb): Dialed | undefined => {
  const { action, callerId: shown, method = "POST", timeout = defaultTimeout } = attributes
  const [noun, another] = children
  const number = noun?.text ?? text ?? ""
  const isNumber = noun === undefined || (noun.name === "Number" && another === undefined && Object.keys(noun.attributes).length === 0)
  const isPlain = strayIn(attributes, documented) === undefined && method === "POST"
  const isAddress = action === undefined || /^https?:\/\/[^/]/.test(action)
  if (name !== "Dial" || !isNumber || !isPlain || !isAddress || !/^\+?\d{7,15}$/.test(number) || !/^[1-9]\d*$/.test(timeout))
    return undefined
  return { action, number, ringTimeoutSeconds: Number(timeout), shown }
}

/** The document that a live call is sent to; undefined: it is not understood. */
export const documentIn = (body: unknown): string | undefined => {
  const cxml = body instanceof Object ? Reflect.get(body, "cxml") : undefined
  const isAlone = body instanceof Object && Object.keys(body).length === 1
  const [verb] = (typeof cxml === "string" && isAlone ? verbsOf(cxml) : undefined) ?? []
  return verb === undefined || (verb.name === "Dial" && dialIn(verb) === undefined) ? undefined : String(cxml)
}
