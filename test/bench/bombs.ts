/**
 * Bodies made to be expensive: each replaces one value in a valid body of its route, or the whole text. They are known ways to keep a server
 * busy, and target what this one does with a body: it weighs, parses, checks, masks, compares, renders and stores it.
 */
import fc from "fast-check"
import Type, { type TSchema } from "typebox"
import type { Route } from "#gateway/request/Route.ts"
import { sampleOf } from "#test/gateway/samples.ts"

/** The most bytes and values allowed; `schema` is what the place requires. */
interface Room {
  readonly bytes: number
  readonly values: number
  readonly schema: TSchema
}
type Bomb = (room: Room) => unknown

const text =
  (piece: string, end = ""): Bomb =>
  ({ bytes }) =>
    piece.repeat(Math.max(1, Math.floor(bytes / Buffer.byteLength(JSON.stringify(piece).slice(1, -1))))) + end
/** As many as fit. */
const many =
  (make: (index: number) => unknown): Bomb =>
  ({ bytes, values }) => {
    const { length } = JSON.stringify(make(99_999)) ?? ""
    const perItem = 1 + (JSON.stringify(make(99_999))?.match(/[,[{]/g)?.length ?? 0)
    return Array.from({ length: Math.min(Math.floor(bytes / (length + 1)), Math.floor((values * 0.95) / perItem)) }, (_, index) =>
      make(index)
    )
  }
const record =
  (name: (index: number) => string, value: unknown): Bomb =>
  (room) =>
    Object.fromEntries(
      (many((index) => `${name(index)}${JSON.stringify(value)}`)(room) as ReadonlyArray<unknown>).map((_, at) => [name(at), value])
    )
const nested = (levels: number, inner: unknown): unknown => {
  let value = inner
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value }
  return value
}

const id = (index: number) => `n${index}`
const node = (index: number, data: object) => ({
  id: id(index),
  type: index === 0 ? "startCall" : "agentNode",
  position: { x: 0, y: 0 },
  data
})
const edge = (index: number, count: number) => ({
  id: `e${index}`,
  source: id(index % count),
  target: id((index * 7 + 1) % count),
  data: { label: `to ${index}`, condition: "c" }
})
/** A graph as large as allowed: 13 values per node, 7 per edge. */
const drawn =
  (dataOf: (index: number, share: number) => object): Bomb =>
  ({ bytes, values }) => {
    const nodes = Math.min(500, Math.floor(values / 27))
    const share = Math.max(1, Math.floor(bytes / nodes) - 400)
    return {
      nodes: Array.from({ length: nodes }, (_, index) => node(index, dataOf(index, share))),
      edges: Array.from({ length: Math.min(1000, nodes * 2) }, (_, index) => edge(index, nodes))
    }
  }
const graphs: ReadonlyArray<Bomb> = [
  drawn((_, share) => ({ name: "N", prompt: "p".repeat(share) })),
  drawn((_, share) => ({ name: "N", prompt: "{{a}} ".repeat(Math.ceil(share / 6)) })),
  drawn((index, share) => ({ name: "N", prompt: `{{ ${"v".repeat(Math.min(200, share))}${index} | x }}` })),
  drawn((_, share) => ({ name: "N", prompt: "p", api_key: "*".repeat(share) })),
  drawn((index, share) => ({ name: "N", prompt: "p", api_key: `${"k".repeat(share)}${index}`, other_provider: `${index}` })),
  drawn((_, share) => ({ name: "N", prompt: "p", ["aB".repeat(Math.ceil(share / 2))]: 1 })),
  drawn((index) => ({ name: "N", prompt: "p", tool_uuids: [`00000000-0000-4000-8000-${String(index).padStart(12, "0")}`] })),
  ({ bytes, values }) => ({ nodes: many(() => ({}))({ bytes, values, schema: Type.Unknown() }), edges: [] }),
  ({ bytes, values }) => ({
    nodes: [node(0, { name: "N", prompt: "p", rows: many((at) => ({ id: at }))({ bytes, values, schema: Type.Unknown() }) })],
    edges: []
  }),
  ({ bytes, values }) => ({ nodes: [], edges: many((at) => edge(at, 9))({ bytes, values, schema: Type.Unknown() }) }),
  ({ bytes }) => ({ nodes: [node(0, { name: "N" }), node(1, {})], edges: [{ ...edge(0, 2), data: { label: " ".repeat(bytes) } }] })
]

const values: ReadonlyArray<Bomb> = [
  ...["a", "1", " ", "/", "*", "aB", "a_", "1_", "{{", "{{a|", "{{a", "a.", "a@", "\\", '"', "\u0001", "é", "😀", "=\n", "://a", "+1"].map(
    (piece) => text(piece)
  ),
  ...["1", "a", " ", "/", "*", "1_", "{{a ", "11_", "a/"].map((piece) => text(piece, "!")),
  (room) => `https://${text("a.")(room)}`,
  (room) => `https://a/${text("/")(room)}!`,
  (room) => `sip:${text(";")(room)}`,
  many((index) => index),
  many(() => ({})),
  many(() => []),
  many(() => ""),
  many(() => null),
  many((index) => ({ id: index })),
  many((index) => ({ api_key: `***${index}` })),
  many(() => nested(40, 1)),
  ({ schema, ...room }) => many(() => (Type.IsArray(schema) ? sampleOf(schema.items) : 1))({ ...room, schema }),
  record((index) => `k${index}`, 1),
  record((index) => `k${index}_api_key`, "***"),
  record((index) => `aBcD${index}Provider`, "x"),
  (room) => ({ api_key: many((index) => `***${index}`)(room) }),
  (room) => ({
    ["n".repeat(Math.floor(room.bytes / 2))]: record((index) => `k${index}_secret`, "***")({ ...room, bytes: room.bytes / 2 })
  }),
  (room) => nested(90, many((index) => index)(room)),
  () => ({ toString: 1, valueOf: 1, constructor: { prototype: null } })
]

/** Whole texts, most of which are not JSON. */
const texts: ReadonlyArray<(room: Room) => string> = [
  ({ bytes }) => "[".repeat(bytes),
  ({ bytes }) => " ".repeat(bytes),
  ({ bytes }) => ",".repeat(bytes),
  ({ bytes }) => '"'.repeat(bytes),
  ({ bytes }) => `"${"\\".repeat(bytes - 1)}`,
  ({ bytes }) => "1".repeat(bytes),
  ({ bytes }) => `"${"a".repeat(bytes - 2)}`,
  ({ bytes }) => `{"a":"${"\\u0000".repeat(Math.floor(bytes / 6) - 2)}"}`,
  ({ bytes }) => `{"a":1${" ".repeat(bytes - 10)}x}`,
  ({ bytes }) => `[${"\n".repeat(bytes - 10)}`,
  ({ values }) => `[${"1,".repeat(Math.floor(values * 0.9))}`,
  ({ values }) => `{${'"a":1,'.repeat(Math.floor(values * 0.9))}`,
  ({ values }) => `{${Array.from({ length: Math.floor(values * 0.9) }, (_, at) => `"${at}":1`).join()}}`
]

/** A place in a body where another value is put. */
interface Place {
  readonly schema: TSchema
  readonly isGraph: boolean
  readonly put: (value: unknown) => unknown
}

const placesIn = (schema: TSchema, put: Place["put"], name = ""): ReadonlyArray<Place> => [
  { schema, put, isGraph: name === "workflow_definition" },
  ...inside(schema, put)
]
const inside = (schema: TSchema, put: Place["put"]): ReadonlyArray<Place> => {
  if (Type.IsUnion(schema)) return schema.anyOf.filter((one) => !Type.IsNull(one)).flatMap((one) => inside(one, put))
  if (Type.IsArray(schema)) return placesIn(schema.items, (value) => put([value]))
  if (!Type.IsObject(schema)) return []
  const sample = Object(sampleOf(schema))
  return Object.entries(schema.properties).flatMap(([name, part]) => placesIn(part, (value) => put({ ...sample, [name]: value }), name))
}

interface HostileBody {
  readonly route: Route<unknown>
  readonly text: string
  /** Which bomb, and where: enough to make it again. */
  readonly made: string
}

const shares = [0.1, 0.5, 0.97]

/** One `made` for each of the generated numbers; the same seed gives the same requests. */
export const seeded = <Made>(count: number, seed: number, made: (numbers: readonly [number, number, number], index: number) => Made) =>
  fc.sample(fc.tuple(fc.nat(), fc.nat(), fc.nat()), { numRuns: count, seed }).map((numbers, index) => () => made(numbers, index))

export const takesJson = (route: Route<unknown>): boolean => route.body._tag === "Json"

/** `count` bodies, the same for the same seed, taking turns among the routes that accept JSON; each is made when it is requested. */
export const bodiesOf = (routes: ReadonlyArray<Route<unknown>>, count: number, seed: number): ReadonlyArray<() => HostileBody> => {
  const takers = routes.flatMap((route) =>
    route.body._tag === "Json" ? [{ route, body: route.body, places: placesIn(route.body.schema, (value) => value) }] : []
  )
  return seeded(count, seed, ([at, which, share], index) => {
    const { body, places, route } = takers[index % takers.length] ?? raise("There is no route with a body")
    const place = places[at % places.length] ?? raise("There is no place in the body")
    // The rest of the body is small, and so takes parsers and checks little time.
    const room = {
      bytes: Math.floor(body.maxBytes * (shares[share % shares.length] ?? 1)) - 1000,
      values: body.maxValues,
      schema: place.schema
    }
    const isGraph = place.isGraph && which % 2 === 0
    const bombs = isGraph ? graphs : values
    const kind = Math.floor(which / 2) % (bombs.length + texts.length)
    const whole = texts[kind - bombs.length]
    const text = whole === undefined ? JSON.stringify(place.put(bombs[kind]?.(room))) : whole(room)
    return { route, text, made: `${isGraph ? "graph" : whole === undefined ? "value" : "text"} ${kind} at ${at % places.length}` }
  })
}

/** Like a body's value, but as one text of about `bytes`: for a query, a part of a path, or a file. */
export const textOf = (which: number, bytes: number): { readonly text: string; readonly made: string } => {
  const room = { bytes, values: bytes, schema: Type.Unknown() }
  const kind = which % (values.length + texts.length)
  const whole = texts[kind - values.length]
  const value = whole === undefined ? values[kind]?.(room) : whole(room)
  return { text: (typeof value === "string" ? value : JSON.stringify(value)).slice(0, bytes), made: `text ${kind}` }
}

const raise = (why: string): never => {
  throw new Error(why)
}
