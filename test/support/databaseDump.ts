/** A dump of the whole database, and the forms in which a text may appear in it. */
import type { Witness } from "./engine.ts"

/** The forms that a dump may contain: the text itself, half of it, and its JSON, hexadecimal and base64 encodings at any offset. */
export const formsOf = (mark: string): ReadonlyArray<string> => {
  const half = mark.length / 2
  const encoded = [0, 1, 2].map((shift) =>
    Buffer.from("x".repeat(shift) + mark)
      .toString("base64")
      .slice(4, -4)
  )
  return [mark, mark.slice(0, half), mark.slice(half), ...encoded, Buffer.from(mark).toString("hex")]
}

export const dump = async (sql: Witness): Promise<ReadonlyMap<string, string>> => {
  const tables = await sql`SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`
  const rows = await Promise.all(tables.map(({ name }) => sql`SELECT ${sql(String(name))}::text AS row FROM ${sql(String(name))}`))
  return new Map(tables.map(({ name }, at) => [String(name), (rows[at] ?? []).map(({ row }) => String(row)).join("\n")]))
}
