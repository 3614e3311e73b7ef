/** The definition of a setting: the name of its variable, its description, and how its text is read. */
import { Redacted, type Result, Schema, SchemaGetter } from "effect"
import { readNetwork } from "#core/egress/Network.ts"

export interface Variable<A> {
  readonly name: string
  readonly description: string
  /** Read if the variable is missing or empty. If undefined, the setting is then undefined. */
  readonly default: string | undefined
  /** Completes the sentence "NAME must be ...". */
  readonly allowed: string
  /** The value is never repeated in a message. */
  readonly secret: boolean
  /** What is wrong with a text that cannot be read, without repeating a secret in it. */
  readonly fault?: (text: string) => string | undefined
  readonly read: (text: string) => Result.Result<A, unknown>
}
type Codec<A> = Schema.Codec<A, string>
type Words = Pick<Variable<unknown>, "name" | "description" | "allowed" | "fault"> & { readonly secret?: boolean }

const readWith = <A>(codec: Codec<A>) => Schema.decodeUnknownResult(codec)
export const required = <A>(codec: Codec<A>, words: Words & { readonly default: string }): Variable<A> => ({
  secret: false,
  ...words,
  read: readWith(codec)
})
export const optional = <A>(codec: Codec<A>, words: Words): Variable<A | undefined> => ({
  secret: false,
  ...words,
  default: undefined,
  read: readWith(codec)
})

export const text = (pattern: RegExp) => Schema.String.check(Schema.isPattern(pattern))
export const mapped = <A>(codec: Codec<string>, to: Schema.Codec<A>, map: (value: string) => A): Codec<A> =>
  codec.pipe(Schema.decodeTo(to, { decode: SchemaGetter.transform(map), encode: SchemaGetter.forbidden(() => "Read only") }))
export const number = (minimum: number, maximum: number) =>
  mapped(text(/^\d+(\.\d+)?$/), Schema.Finite.check(Schema.isBetween({ minimum, maximum })), Number)
export const integer = (minimum: number, maximum: number) =>
  mapped(text(/^\d+$/), Schema.Int.check(Schema.isBetween({ minimum, maximum })), Number)
export const secret = (codec: Codec<string>) => mapped(codec, Schema.Redacted(Schema.String), (value) => Redacted.make(value))
export const url = (...protocols: ReadonlyArray<string>) =>
  Schema.String.check(
    Schema.makeFilter((value) => {
      const parsed = URL.parse(value)
      return parsed !== null && protocols.includes(parsed.protocol) && parsed.hostname !== ""
    })
  )

const network = Schema.Struct({ address: Schema.String, bits: Schema.Int, family: Schema.Literals(["ipv4", "ipv6"]) })
/** Comma-separated addresses and networks. */
export const networks = mapped(
  Schema.String.check(Schema.makeFilter((value) => value.split(",").every((one) => readNetwork(one.trim()) !== undefined))),
  Schema.Array(network),
  (value) => value.split(",").flatMap((one) => readNetwork(one.trim()) ?? [])
)
