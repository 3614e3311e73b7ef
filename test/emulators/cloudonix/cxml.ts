/**
 * What Cloudonix does with a document that dials. Attributes that are not documented are refused, so that mistakes of the adapter show.
 * https://developers.cloudonix.com/Documentation/voiceApplication/Verb/dial
 */
import Type, { type Static } from "typebox"
import { Check } from "typebox/value"
import { closed } from "#test/emulators/shared/json.ts"
import { type Verb, verbsOf } from "#test/emulators/twilio/twiml.ts"

/** `action`: the address of the next document, requested when the dial is over; without it, the call ends then. */
const Dial = Type.Object({
  name: Type.Literal("Dial"),
  attributes: Type.Object(
    {
      action: Type.Optional(Type.String({ pattern: "^https?://[^/]" })),
      callerId: Type.Optional(Type.String()),
      method: Type.Optional(Type.Literal("POST")),
      timeout: Type.Optional(Type.String({ pattern: "^[1-9]\\d*$" }))
    },
    closed
  ),
  children: Type.Tuple([
    Type.Object({ name: Type.Literal("Number"), attributes: Type.Object({}, closed), text: Type.String({ pattern: "^\\+?\\d{7,15}$" }) })
  ])
})

export type Dialed = Static<typeof Dial>
export const isDial = (verb: Verb | undefined): verb is Verb & Dialed => Check(Dial, verb)

const Body = Type.Object({ cxml: Type.String() }, closed)

/** The document that a live call is sent to; undefined: it is not understood. */
export const documentIn = (body: unknown): string | undefined => {
  const [verb] = (Check(Body, body) ? verbsOf(body.cxml) : undefined) ?? []
  return Check(Body, body) && verb !== undefined && (verb.name !== "Dial" || isDial(verb)) ? body.cxml : undefined
}
