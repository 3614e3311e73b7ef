/**
 * Converts the schemas of the routes to JSON Schema; those with a title appear once and are referenced. A request may leave out properties with
 * a default, an answer never does, so a shape used both ways has two schemas if that makes a difference.
 */
import Type, { type TSchema } from "typebox"
import type { Route } from "#gateway/request/Route.ts"
import { tagOf } from "#gateway/request/validation.ts"

export type JsonSchema = { readonly [Name in string]?: unknown }

export interface Components {
  readonly schemas: Readonly<Record<string, JsonSchema>>
  readonly input: (schema: TSchema) => JsonSchema
  readonly output: (schema: TSchema) => JsonSchema
}

/** Yields after each step, none of which takes long. */
export const componentsOf = function* (
  routes: ReadonlyArray<Route<unknown>>,
  known: Readonly<Record<string, JsonSchema>>
): Generator<undefined, Components> {
  const schemas: Record<string, JsonSchema> = { ...known }
  // Many routes share a schema.
  const [inputs, outputs] = [new Map<TSchema, JsonSchema>(), new Map<TSchema, JsonSchema>()]

  const named = (schema: TSchema, isInput: boolean): JsonSchema => {
    const done = isInput ? inputs : outputs
    const found = done.get(schema) ?? namedAnew(schema, isInput)
    done.set(schema, found)
    return found
  }

  const namedAnew = (schema: TSchema, isInput: boolean): JsonSchema => {
    const title = "title" in schema && typeof schema.title === "string" ? schema.title : undefined
    const plain = plainOf(schema, isInput)
    if (title === undefined) return plain
    const name = [title, `${title}Input`].find((free) => schemas[free] === undefined || isSame(schemas[free], plain)) ?? title
    schemas[name] = plain
    return { $ref: `#/components/schemas/${name}` }
  }

  const plainOf = (schema: TSchema, isInput: boolean): JsonSchema => {
    if (Type.IsObject(schema)) return objectOf(schema, isInput)
    if (Type.IsArray(schema)) return { ...bare(schema), items: named(schema.items, isInput) }
    if (Type.IsUnion(schema)) return unionOf(schema, isInput)
    return bare(schema)
  }

  const objectOf = (schema: TSchema & { readonly properties: Readonly<Record<string, TSchema>> }, isInput: boolean): JsonSchema => {
    const properties = Object.entries(schema.properties)
    const required = properties.filter(([, one]) => !Type.IsOptional(one) && !(isInput && "default" in one)).map(([name]) => name)
    return {
      ...bare(schema),
      properties: Object.fromEntries(properties.map(([name, one]) => [name, named(one, isInput)])),
      ...(required.length === 0 ? { required: undefined } : { required })
    }
  }

  const unionOf = (schema: TSchema & { readonly anyOf: ReadonlyArray<TSchema> }, isInput: boolean): JsonSchema => {
    const anyOf = schema.anyOf.map((one) => named(one, isInput))
    const propertyName = tagOf(schema)
    if (propertyName === undefined) return { ...bare(schema), anyOf }
    const mapping = schema.anyOf.flatMap((one, at) => {
      const tag = Type.IsObject(one) ? one.properties[propertyName] : undefined
      return tag !== undefined && Type.IsLiteral(tag) ? [[String(tag.const), anyOf[at]?.["$ref"]]] : []
    })
    return { ...bare(schema), anyOf, discriminator: { propertyName, mapping: Object.fromEntries(mapping) } }
  }

  for (const { success } of routes) {
    if (success._tag === "Json") named(success.schema, false)
    yield
  }
  for (const { body } of routes) {
    if (body._tag === "Json") named(body.schema, true)
    yield
  }
  return { schemas, input: (schema) => named(schema, true), output: (schema) => named(schema, false) }
}

/** The keywords of a schema, without TypeBox's own marks and without its subschemas. */
const bare = (schema: TSchema): JsonSchema => Object.fromEntries(Object.entries(schema).filter(([name]) => !name.startsWith("~")))

const isSame = (one: JsonSchema | undefined, other: JsonSchema): boolean => JSON.stringify(one) === JSON.stringify(other)
