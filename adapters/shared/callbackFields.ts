/** The fields of a callback, whichever way the carrier sends them: as a form, as JSON, or in the query. */
import type { CarrierRequest } from "#core/provider/Callback.ts"
import { formOf, pairsOf, partsOf } from "./CarrierRequest.ts"
import { at, parse } from "./Json.ts"

export type Field = (name: string) => string | undefined

export const fieldsOf = (request: CarrierRequest): Field => {
  const form = formOf(request) ?? pairsOf(partsOf(request.url)?.query ?? "")
  const pairs = new Map(form)
  const json = /^application\/json\b/i.test(request.headers["content-type"] ?? "") ? parse(Buffer.from(request.body).toString()) : undefined
  return (name) => {
    const value = at(json, name) ?? pairs.get(name)
    return typeof value === "string" ? value : typeof value === "number" || typeof value === "boolean" ? String(value) : undefined
  }
}
