/**
 * A route as data. Its schemas are what is checked, what is documented, and the types of its handler's input and output; its handler can only
 * fail with the errors that it lists. (Write handlers as arrow functions: `Effect.fn` would lose the types of their parameters.)
 */
import type { Effect, Stream } from "effect"
import Type, { type Static, type TObject, type TSchema } from "typebox"
import type { Caller } from "#core/organization/Caller.ts"
import type { Role } from "#core/organization/Role.ts"
import type { Scope } from "#core/organization/Scope.ts"
import type { Client } from "#gateway/http/Client.ts"
import type { BodyTooLarge, Endless, Method, Reply } from "#gateway/http/Endpoint.ts"
import type { Lasting } from "./Lasting.ts"
import type { DomainError, DomainTag, ErrorOf } from "./Refusal.ts"

/**
 * - `api-key`: an API key in `X-API-Key`, or it or a token in `Authorization`; its absence is a 401, before anything else.
 * - `api-key-header`: an API key in `X-API-Key` only; its absence is a 422.
 * - `none`: no credential.
 */
type Access = "api-key" | "api-key-header" | "none"

/** The lowest role that may use the route, or an operator's key; ignored where `Access` is `none`. */
type Needs = Exclude<Role, "owner"> | "operator"

/** How much JSON a route accepts: parsing and processing it keeps all other requests waiting. */
interface BodySize {
  readonly maxBytes: number
  /** Limit for values and members of objects, all levels together. */
  readonly maxValues: number
}
const usualSize: BodySize = { maxBytes: 262_144, maxValues: 10_000 }
/** For routes without a credential, which take no more than a sign-up or log-in. */
const openSize: BodySize = { maxBytes: 16_384, maxValues: 200 }

/** One part of a long list. */
export interface Listed<Body> {
  readonly body: Body
  /** The query parameters of the next part, in place of this one's; undefined if this is the last. */
  readonly next: Readonly<Record<"offset" | "after", string | undefined>> | undefined
}

/** An answer that is not JSON. */
export interface Content {
  readonly mediaType: string
  /** The name to save it under; undefined: the browser shows it. */
  readonly fileName?: string | undefined
  readonly headers?: ReadonlyArray<readonly [name: string, value: string]>
  readonly body:
    | string
    | Lasting
    | { readonly bytes: number; readonly read: (from: number, until: number) => Stream.Stream<Uint8Array, unknown> }
    /** Of unknown length: it cannot be requested in part. */
    | Stream.Stream<Uint8Array, unknown>
  /** For a stream that does not end by itself. */
  readonly endless?: Endless
}

type Body =
  | { readonly _tag: "None" }
  | ({ readonly _tag: "Json"; readonly schema: TSchema } & BodySize)
  /** Raw bytes of one of these media types. */
  | { readonly _tag: "Upload"; readonly mediaTypes: ReadonlyArray<string>; readonly maxBytes: number }

type Success =
  /** A temporary redirect: 302. */
  | { readonly _tag: "Redirect" }
  /** `isListed`: a part of a list; the handler says where the next part is. */
  | { readonly _tag: "Json"; readonly schema: TSchema; readonly isListed: boolean }
  | { readonly _tag: "Content"; readonly mediaTypes: ReadonlyArray<string> }

/** The declarations that all kinds of routes share. */
interface Declaration<Params extends TObject, Query extends TObject, Headers extends TObject, A extends Access> {
  readonly method: Method
  /** `/api/v1/campaign/:campaign_id` */
  readonly path: string
  /** The operation's name in the documentation and in generated clients. */
  readonly name: string
  readonly summary: string
  /** What it does beyond the summary, and when it fails. Who may use it is added from the declaration. */
  readonly description: string
  readonly access?: A
  /** By default, a `get` needs a viewer and everything else a member. */
  readonly needs?: Needs
  /** Its size can make it take seconds: see `HeavyWork`. */
  readonly isHeavy?: boolean
  /** Its address holds a token or a signature of this engine, see `Endpoint`. */
  readonly isSealed?: boolean
  /**
   * Which engine answers, see `DecidingEngine`: by default, every engine a `get`, and the one that decides everything else. `this`: what is asked about
   * the very engine that is asked.
   */
  readonly answeredBy?: "decider" | "this"
  /** For a `get` that goes into the audit log: the path parameter that names what is read. Other methods are always recorded. */
  readonly notes?: string
  readonly params?: Params
  readonly query?: Query
  /** Under their canonical names, such as `Idempotency-Key`; clients may use any case. */
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
  readonly description: string
  readonly tag: Tag
  readonly access: Access
  readonly needs: Needs
  /** The scope that an API key with scopes needs. */
  readonly scope: Scope
  readonly notes: string | undefined
  readonly isHeavy: boolean
  readonly isSealed: boolean
  readonly answeredBy: "every" | "decider" | "this"
  readonly params: TObject
  readonly query: TObject
  readonly headers: TObject
  readonly body: Body
  readonly success: Success
  readonly errors: ReadonlyArray<DomainTag>
  readonly handle: (given: AnyGiven) => Effect.Effect<unknown, DomainError, R>
  /** Wraps the answer to a valid request, for instance to give an earlier answer in its place. */
  readonly around:
    | (<A>(
        given: AnyGiven,
        reply: Effect.Effect<Reply, never, A>,
        /** The headers with the caller's credential. */
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
  isSealed: declaration.isSealed ?? false,
  answeredBy: declaration.answeredBy ?? (declaration.method === "get" ? "every" : "decider"),
  ...rest
})

const erased = <Input, R>(handle: (given: Input) => Effect.Effect<unknown, DomainError, R>): Route<R>["handle"] =>
  // The input has been checked against the route's own schemas, from which the type of `Input` follows.
  handle as Route<R>["handle"]

/** A route that takes JSON or no body, and answers with JSON. */
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
    /** Overrides the usual size. */
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

/** A route that answers with a part of a list that may be long. */
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

/** A route that takes a stream of bytes, and answers with JSON. */
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

/** A route that answers with a page or a file. */
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

/** A route that redirects to another URL. */
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

/** The services that the handlers of these routes need. */
type NeedsOf<Routes extends ReadonlyArray<Route<unknown>>> = Routes[number] extends Route<infer R> ? R : never

export const tagged = <const Routes extends ReadonlyArray<Route<unknown>>>(
  tag: Tag,
  routes: Routes
): ReadonlyArray<Route<NeedsOf<Routes>>> =>
  // The same routes with another tag and scope.
  routes.map((one) => ({ ...one, tag, scope: scopeOf(one.method, tag) })) as ReadonlyArray<Route<NeedsOf<Routes>>>
