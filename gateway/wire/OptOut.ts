/** Numbers that have opted out of an organization's calls. */
import Type, { type Static } from "typebox"
import { mostOptOuts, type OptOut, type OptOutId, type OptOutSelection, optOutSources } from "#core/contact/OptOut.ts"
import type { RunId } from "#core/Id.ts"
import { id, instant, nullable, optional, orNull, orUndefined } from "#gateway/request/Field.ts"
import type { Listed } from "#gateway/request/Route.ts"

const mostListed = 1000
const e164 = () => Type.String({ pattern: "^\\+[1-9]\\d{6,14}$", description: "E.164: `+`, country code and subscriber number." })

export const OptOutPath = Type.Object({ opt_out_id: id<OptOutId>() })

export const OptOutListQuery = Type.Object({
  phone_number: optional(Type.String({ minLength: 1, maxLength: 64, description: "Only this number; `+` is written as `%2B` in URLs." })),
  limit: Type.Integer({ minimum: 1, maximum: mostListed, default: mostListed }),
  after: optional(Type.String({ minLength: 1, maxLength: 64, description: "The last number of the previous page." }))
})

/** One more than the page shows. */
export const optOutSelectionOf = (query: Static<typeof OptOutListQuery>): OptOutSelection => ({
  phoneNumber: orUndefined(query.phone_number),
  after: orUndefined(query.after),
  limit: query.limit + 1
})

const OptOutWire = Type.Object(
  {
    id: id<OptOutId>(),
    phone_number: Type.String(),
    source: Type.Enum([...optOutSources], { description: "`call`: the callee said so in a call. `api`: it was added through the API." }),
    workflow_run_id: nullable(id<RunId>("The run of the call in which it was heard.")),
    created_at: instant()
  },
  { title: "OptOut" }
)

const optOutWire = (optOut: OptOut): Static<typeof OptOutWire> => ({
  id: optOut.id,
  phone_number: optOut.phoneNumber,
  source: optOut.source,
  workflow_run_id: orNull(optOut.runId),
  created_at: optOut.createdAt.toISOString()
})

export const OptOutListWire = Type.Object({ opt_outs: Type.Array(OptOutWire) }, { title: "OptOutList" })

/** Makes a page of rows that were read with `optOutSelectionOf`. */
export const optOutPage = (
  { limit }: Static<typeof OptOutListQuery>,
  found: ReadonlyArray<OptOut>
): Listed<Static<typeof OptOutListWire>> => {
  const shown = found.slice(0, limit)
  const last = found.length > limit ? shown.at(-1) : undefined
  return { body: { opt_outs: shown.map(optOutWire) }, next: last && { offset: undefined, after: last.phoneNumber } }
}

export const AddOptOuts = Type.Object(
  { phone_numbers: Type.Array(e164(), { minItems: 1, maxItems: mostOptOuts }) },
  { title: "AddOptOuts" }
)

export const OptOutsAdded = Type.Object(
  { added: Type.Integer({ description: "How many of the numbers had not opted out before." }) },
  { title: "OptOutsAdded" }
)

export const OptOutRemoved = Type.Object({ message: Type.String() }, { title: "OptOutRemoved" })
