/**
 * What a route's handler is given, read from path, query, headers and body. All four are read before anything is refused, so that a client
 * learns everything that is wrong at once.
 */
import Type, { type Static, type TObject, type TSchema } from "typebox"
import type { Asked } from "#gateway/http/Endpoint.ts"
import { isStorable } from "#core/storable.ts"
import { notStorable, type Parsed } from "./json.ts"
import type { AnyGiven, Route } from "./Route.ts"
import { read } from "./validation.ts"
import { missing, type Violation } from "./Violation.ts"

/** Filled in stage by stage: first the caller, then what the request holds. */
export type Given = { -readonly [Key in keyof AnyGiven]: AnyGiven[Key] }

const noFields: Readonly<Record<string, never>> = {}

export const nothingGiven = ({ client }: Asked): Given => ({
  caller: undefined,
  params: noFields,
  query: noFields,
  headers: noFields,
  body: undefined,
  client
})

/** Reads a request against the schemas of its route. `given` is complete if there is no violation. */
export const fillIn = <R>(given: Given, route: Route<R>, asked: Asked, body: Parsed | undefined): ReadonlyArray<Violation> => {
  const found: Array<Violation> = []
  given.params = readNamed(route.params, asked.params, "path", found)
  given.query = readNamed(route.query, asked.query === "" ? noFields : lastOfEach(asked.query), "query", found)
  given.headers = isEmpty(route.headers.properties)
    ? noFields
    : readNamed(route.headers, underDeclaredNames(route.headers, asked.headers), "header", found)
  given.body = readBody(route, asked, body, found)
  return found
}

/** Headers arrive in lower case; a route declares them with capitals. */
const underDeclaredNames = ({ properties }: TObject, headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.keys(properties).flatMap((name) => {
      const value = headers[name.toLowerCase()]
      return value === undefined ? [] : [[name, value]]
    })
  )

/** When a name is repeated, the last one counts. */
const lastOfEach = (query: string): Readonly<Record<string, string>> => Object.fromEntries(new URLSearchParams(query))

export const isEmpty = (record: Readonly<Record<string, unknown>>): boolean => {
  for (const _ in record) return false
  return true
}

const readNamed = (schema: TObject, values: Readonly<Record<string, string>>, place: string, found: Array<Violation>): Static<TObject> => {
  if (isEmpty(values) && isEmpty(schema.properties)) return noFields
  const own: Array<Violation> = []
  for (const [name, value] of Object.entries(values)) {
    if (!isStorable(value)) own.push(notStorable([place, name]))
  }
  const value = read(schema, values, [place], own)
  // There is no enclosing object to show.
  for (const violation of own) found.push(violation.type === "missing" ? { ...violation, input: null } : violation)
  // An object read against the schema of one is an object.
  return value as Static<TObject>
}

/** At any depth: a violation shows the whole object that it is about. */
const holdsSecret = (schema: TSchema): boolean => {
  if (("format" in schema && schema.format === "password") || "x-secret" in schema) return true
  if (Type.IsObject(schema)) return Object.values(schema.properties).some(holdsSecret)
  if (Type.IsArray(schema)) return holdsSecret(schema.items)
  return Type.IsUnion(schema) && schema.anyOf.some(holdsSecret)
}

const withoutInput = (violation: Violation): Violation => ({ ...violation, input: null })

const readBody = <R>(route: Route<R>, asked: Asked, body: Parsed | undefined, found: Array<Violation>): unknown => {
  if (route.body._tag === "Upload") return asked.stream
  if (route.body._tag === "None" || body === undefined) return undefined
  if (body._tag === "Value") {
    const own: Array<Violation> = []
    const value = read(route.body.schema, body.value, ["body"], own)
    // A 422 never repeats a secret back.
    found.push(...(own.length > 0 && holdsSecret(route.body.schema) ? own.map(withoutInput) : own))
    return value
  }
  found.push(missing(["body"], null))
  return undefined
}
