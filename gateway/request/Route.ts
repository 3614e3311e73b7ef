/**
 * A route as data. What its schemas declare is what is checked, what is documented, and the type of what its handler gets and gives;
 * the errors it lists are the only ones its handler may fail with. (Write handlers as arrow functions: `Effect.fn` would lose the types of
 * what they are given.)
 */
import type { Effect, Stream } from "effect"
import Type, { type Static, type TObject, type TSchema } from "typebox"
import type { Caller } from "#core/organization/Caller.ts"
import type { Role } from "#core/organization/Role.ts"
import type { Scope } from "#core/organization/Scope.ts"
import type { Client } from "#gateway/http/Client.ts"
import type { BodyTooLarge, Method, Reply } from "#gateway/http/Endpoint.ts"
import type { DomainError, DomainTag, ErrorOf } from "./Refusal.ts"

/**
 * - `api-key`: a key in `X-API-Key` or `Authorization`, asked for before anything else.
 * - `api-key-header`: the same in `X-API-Key` alone, a header whose absence is a fault of the request.
 * - `none`: anybody.
 */
type Access = "api-key" | "api-key-header" | "none"

/** The least role that a caller needs, or else an operator's key; asked of nobody where `Access` is `none`. */
type Needs = Exclude<Role, "owner"> | "operator"

/** How much JSON a route takes: parsing it, and all that is done with it, keeps everybody else waiting. */
interface BodySize {
  readonly maxBytes: number
  /** Values and members of objects, all levels together. */
  readonly maxValues: number
}
const usualSize: BodySize = { maxBytes: 262_144, maxValues: 10_000 }
/** From whoever asks, a password at most. */
const openSize: BodySize = { maxBytes: 16_384, maxValues: 200 }

/** One part of a long list. */
export interface Listed<Body> {
  readonly body: Body
  /** What the query of the next part has in place of this one's; undefined when this is the last. */
  readonly next: Readonly<Record<"offset" | "after", string | undefined>> | undefined
}

/** An answer that is not JSON. */
export interface Content {
  readonly mediaType: string
  /** Offered as the name under which to save it; undefined: to be shown. */
  readonly fileName?: string | undefined
  readonly headers?: ReadonlyArray<readonly [name: string, value: string]>
  readonly body:
    | string
    | { readonly bytes: number; readonly read: (from: number, until: number) => Stream.Stream<Uint8Array, unknown> }
    /** As long as it turns out to be: it cannot be asked for in part. */
    | Stream.Stream<Uint8Array, unknown>
}

type Body =
  | { readonly _tag: "None" }
  | ({ readonly _tag: "Json"; readonly schema: TSchema } & BodySize)
  /** Raw bytes of one of these media types. */
  | { readonly _tag: "Upload"; readonly mediaTypes: ReadonlyArray<string>; readonly maxBytes: number }

type Success =
  /** To another address, for now: 302. */
  | { readonly _tag: "Redirect" }
  /** `isListed`: part of a list, whose handler tells where the next part is. */
  | { readonly _tag: "Json"; readonly schema: TSchema; readonly isListed: boolean }
  | { readonly _tag: "Content"; readonly mediaTypes: ReadonlyArray<string> }

/** What every kind of route declares. */
interface Declaration<Params extends TObject, Query extends TObject, Headers extends TObject, A extends Access> {
  readonly method: Method
  /** `/api/v1/campaign/:campaign_id` */
  readonly path: string
  /** The operation's name in the documentation, and in clients made from it. */
  readonly name: string
  readonly summary: string
  readonly description?: string
  readonly access?: A
  /** Unless it says otherwise, a `get` needs a viewer and anything else a member. */
  readonly needs?: Needs
  /** It takes seconds for its size: see `HeavyWork`. */
  readonly isHeavy?: boolean
  /** Of a `get` that the audit log is told of: the path's parameter that names what is read. Anything else is noted anyhow. */
  readonly notes?: string
  readonly params?: Params
  readonly query?: Query
  /** Under their usual names, `Idempotency-Key`; how a client writes them does not matter. */
  readonly headers?: Headers
}

interface Given<Params extends TObject, Query extends TObject, Headers extends TObject, A extends Access, BodyValue> {
  readonly caller: A extends "none" ? undefined : Caller
  readonly params: Static<Params>
  readonly query: Static<Query>
  readonly headers: Static<Headers>
  readonly body: BodyValue
  readonly client: Client
}

type Nothing = TObject<Record<never, never>>
export type AnyGiven = Given<TObject, TObject, TObject, Access, unknown>

export interface Route<out R = never> {
  readonly method: Method
  readonly path: string
  readonly name: string
  readonly summary: string
  readonly description: string | undefined
  readonly tag: Tag
  readonly access: Access
  readonly needs: Needs
  /** What a key with scopes needs. */
  readonly scope: Scope
  readonly notes: string | undefined
  readonly isHeavy: boolean
  readonly params: TObject
  readonly query: TObject
  readonly headers: TObject
  readonly body: Body
  readonly success: Success
  readonly errors: ReadonlyArray<DomainTag>
  readonly handle: (given: AnyGiven) => Effect.Effect<unknown, DomainError, R>
  /** What is done around answering a request whose caller is known, such as giving an earlier answer in its place. */
  readonly around:
    | (<A>(
        given: AnyGiven,
        reply: Effect.Effect<Reply, never, A>,
        /** What it was known by. */
        credential: Readonly<Record<string, string>>
      ) => Effect.Effect<Reply, never, A | R>)
    | undefined
}

const nothing: Nothing = Type.Object({})

/** Routes that belong together in the documentation, and for API keys with scopes. */
export interface Tag {
  readonly name: string
  readonly about: string
  /** What a key with scopes needs to change anything here; unless it says otherwise, `admin`. */
  readonly scope?: Scope
}
const untagged: Tag = { name: "", about: "" }
const scopeOf = (method: Method, tag: Tag): Scope => (method === "get" ? "read" : (tag.scope ?? "admin"))

const declared = (
  declaration: Declaration<TObject, TObject, TObject, Access>,
  rest: Pick<Route, "body" | "success" | "errors">
): Omit<Route, "handle"> => ({
  method: declaration.method,
  path: declaration.path,
  name: declaration.name,
  summary: declaration.summary,
  description: declaration.description,
  tag: untagged,
  scope: scopeOf(declaration.method, untagged),
  access: declaration.access ?? "api-key",
  needs: declaration.needs ?? (declaration.method === "get" ? "viewer" : "member"),
  params: declaration.params ?? nothing,
  query: declaration.query ?? nothing,
  headers: declaration.headers ?? nothing,
  around: undefined,
  notes: declaration.notes,
  isHeavy: declaration.isHeavy ?? false,
  ...rest
})

const erased = <Input, R>(handle: (given: Input) => Effect.Effect<unknown, DomainError, R>): Route<R>["handle"] =>
  // What comes was checked against the route's own schemas, from which the type of `Input` follows.
  handle as Route<R>["handle"]

/** JSON, or nothing, in; JSON out. */
export const route = <
  R,
  SuccessSchema extends TSchema,
  const Tags extends ReadonlyArray<DomainTag> = readonly [],
  Params extends TObject = Nothing,
  Query extends TObject = Nothing,
  Headers extends TObject = Nothing,
  BodySchema extends TSchema = Nothing,
  A extends Access = "api-key"
>(
  declaration: Declaration<Params, Query, Headers, A> & {
    readonly body?: BodySchema
    /** Where the usual one is not right. */
    readonly bodySize?: BodySize
    readonly success: SuccessSchema
    readonly errors?: Tags
    readonly handle: (
      given: Given<Params, Query, Headers, A, Static<BodySchema>>
    ) => Effect.Effect<Static<SuccessSchema>, ErrorOf<Tags[number]>, R>
  }
): Route<R> => ({
  ...declared(declaration, {
    body:
      declaration.body === undefined
        ? { _tag: "None" }
        : { _tag: "Json", schema: declaration.body, ...(declaration.bodySize ?? (declaration.access === "none" ? openSize : usualSize)) },
    success: { _tag: "Json", schema: declaration.success, isListed: false },
    errors: declaration.errors ?? []
  }),
  handle: erased(declaration.handle)
})

/** A list that may be long: nothing in, a part of it out. */
export const list = <
  R,
  SuccessSchema extends TSchema,
  const Tags extends ReadonlyArray<DomainTag> = readonly [],
  Params extends TObject = Nothing,
  Query extends TObject = Nothing
>(
  declaration: Omit<Declaration<Params, Query, Nothing, "api-key">, "method"> & {
    readonly success: SuccessSchema
    readonly errors?: Tags
    readonly handle: (
      given: Given<Params, Query, Nothing, "api-key", undefined>
    ) => Effect.Effect<Listed<Static<SuccessSchema>>, ErrorOf<Tags[number]>, R>
  }
): Route<R> => ({
  ...declared(
    { ...declaration, method: "get" },
    {
      body: { _tag: "None" },
      success: { _tag: "Json", schema: declaration.success, isListed: true },
      errors: declaration.errors ?? []
    }
  ),
  handle: erased(declaration.handle)
})

/** Bytes in, as they arrive; JSON out. */
export const upload = <
  R,
  SuccessSchema extends TSchema,
  const Tags extends ReadonlyArray<DomainTag>,
  Params extends TObject = Nothing,
  Query extends TObject = Nothing,
  Headers extends TObject = Nothing,
  A extends Access = "api-key"
>(
  declaration: Declaration<Params, Query, Headers, A> & {
    readonly mediaTypes: ReadonlyArray<string>
    readonly maxBytes: number
    readonly success: SuccessSchema
    readonly errors: Tags
    readonly handle: (
      given: Given<Params, Query, Headers, A, Stream.Stream<Uint8Array, BodyTooLarge>>
    ) => Effect.Effect<Static<SuccessSchema>, ErrorOf<Tags[number]>, R>
  }
): Route<R> => ({
  ...declared(declaration, {
    body: { _tag: "Upload", mediaTypes: declaration.mediaTypes, maxBytes: declaration.maxBytes },
    success: { _tag: "Json", schema: declaration.success, isListed: false },
    errors: declaration.errors
  }),
  handle: erased(declaration.handle)
})

/** Nothing in; a page or a file out. */
export const download = <
  R,
  const Tags extends ReadonlyArray<DomainTag> = readonly [],
  Params extends TObject = Nothing,
  Query extends TObject = Nothing,
  Headers extends TObject = Nothing,
  A extends Access = "api-key"
>(
  declaration: Declaration<Params, Query, Headers, A> & {
    readonly mediaTypes: ReadonlyArray<string>
    readonly errors?: Tags
    readonly handle: (given: Given<Params, Query, Headers, A, undefined>) => Effect.Effect<Content, ErrorOf<Tags[number]>, R>
  }
): Route<R> => ({
  ...declared(declaration, {
    body: { _tag: "None" },
    success: { _tag: "Content", mediaTypes: declaration.mediaTypes },
    errors: declaration.errors ?? []
  }),
  handle: erased(declaration.handle)
})

/** Nothing in; the address to go on to out. */
export const redirect = <
  R,
  const Tags extends ReadonlyArray<DomainTag> = readonly [],
  Params extends TObject = Nothing,
  Query extends TObject = Nothing,
  Headers extends TObject = Nothing,
  A extends Access = "api-key"
>(
  declaration: Declaration<Params, Query, Headers, A> & {
    readonly errors?: Tags
    readonly handle: (given: Given<Params, Query, Headers, A, undefined>) => Effect.Effect<string, ErrorOf<Tags[number]>, R>
  }
): Route<R> => ({
  ...declared(declaration, { body: { _tag: "None" }, success: { _tag: "Redirect" }, errors: declaration.errors ?? [] }),
  handle: erased(declaration.handle)
})

/** What the handlers of these routes need. */
type NeedsOf<Routes extends ReadonlyArray<Route<unknown>>> = Routes[number] extends Route<infer R> ? R : never

export const tagged = <const Routes extends ReadonlyArray<Route<unknown>>>(
  tag: Tag,
  routes: Routes
): ReadonlyArray<Route<NeedsOf<Routes>>> =>
  // The same routes with another tag and scope.
  routes.map((one) => ({ ...one, tag, scope: scopeOf(one.method, tag) })) as ReadonlyArray<Route<NeedsOf<Routes>>>
