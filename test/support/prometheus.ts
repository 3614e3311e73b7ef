/** Parses the text format of Prometheus as strictly as it is specified; any deviation is an error. */

type Type = "counter" | "gauge" | "histogram" | "summary" | "untyped"

export interface Figures {
  readonly types: ReadonlyMap<string, Type>
  /** Keys are `name{labels}`, with the labels in the order in which they are written. */
  readonly values: ReadonlyMap<string, number>
}

const helpLine = /^# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) (\S.*)$/
const typeLine = /^# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram|summary|untyped)$/
const label = String.raw`[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"`
const sampleLine = new RegExp(String.raw`^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{${label}(?:,${label})*\})? (\S+)$`)
const aNumber = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/

/** The names that the samples of a family may have. */
const namesOf = (family: string, type: Type): ReadonlyArray<string> => {
  if (type === "histogram") return [`${family}_bucket`, `${family}_sum`, `${family}_count`]
  return type === "summary" ? [family, `${family}_sum`, `${family}_count`] : [family]
}

const fail = (why: string, line: string): never => {
  throw new Error(`${why}: ${line}`)
}

export const parse = (text: string): Figures => {
  if (!text.endsWith("\n")) fail("no line end", text.slice(-80))
  const helps = new Set<string>()
  const types = new Map<string, Type>()
  const values = new Map<string, number>()
  let family = ""
  for (const line of text.slice(0, -1).split("\n")) {
    const [, helped] = helpLine.exec(line) ?? []
    if (helped !== undefined) {
      if (helps.has(helped)) fail("a second HELP", line)
      helps.add(helped)
      family = helped
      continue
    }
    const [, typed, type] = typeLine.exec(line) ?? []
    if (typed !== undefined) {
      if (types.has(typed)) fail("a second TYPE", line)
      if (typed !== family) fail("a TYPE without its HELP before it", line)
      // The cast holds because the pattern accepts only these words.
      types.set(typed, type as Type)
      continue
    }
    const [, name = "", labels = "", value = ""] = sampleLine.exec(line) ?? fail("neither comment nor sample", line)
    if (!namesOf(family, types.get(family) ?? "untyped").includes(name)) fail(`not of the family ${family}`, line)
    if (!aNumber.test(value)) fail("no number", line)
    if (values.has(name + labels)) fail("a second value", line)
    values.set(name + labels, Number(value))
  }
  if (helps.size !== types.size) fail("a HELP without TYPE", [...helps].filter((name) => !types.has(name)).join())
  const figures = { types, values }
  for (const [name, type] of types) {
    if (type === "counter" && !name.endsWith("_total")) fail("a counter that is not called so", name)
    if (type === "histogram") for (const series of seriesOf(figures, name)) checkHistogram(figures, name, series)
  }
  return figures
}

/** The labels of each histogram of a family, without `le`. */
const seriesOf = ({ values }: Figures, name: string): ReadonlyArray<string> =>
  [...values.keys()].filter((key) => key.startsWith(`${name}_count`)).map((key) => key.slice(`${name}_count`.length))

const bucketsOf = ({ values }: Figures, name: string, series: string): ReadonlyArray<readonly [le: number, count: number]> =>
  [...values].flatMap(([key, count]) => {
    const [, others = "", le = ""] = new RegExp(`^${name}_bucket\\{(.*?),?le="([^"]+)"\\}$`).exec(key) ?? []
    if (le === "" || (others === "" ? "" : `{${others}}`) !== series) return []
    return [[le === "+Inf" ? Number.POSITIVE_INFINITY : Number(le), count] as const]
  })

const checkHistogram = (figures: Figures, name: string, series: string): void => {
  const buckets = bucketsOf(figures, name, series)
  const isAscending = buckets.every(([le, count], at) => {
    const [leBefore, countBefore] = buckets[at - 1] ?? [Number.NEGATIVE_INFINITY, 0]
    return le > leBefore && count >= countBefore
  })
  if (!isAscending) fail("buckets that are not cumulative", name + series)
  const [le, count] = buckets.at(-1) ?? []
  if (le !== Number.POSITIVE_INFINITY || count !== figures.values.get(`${name}_count${series}`))
    fail("a last bucket of not all", name + series)
  if (!figures.values.has(`${name}_sum${series}`)) fail("no sum", name + series)
}

/** The value of one sample; 0 if it is missing, as for something that has not been counted yet. */
export const countOf = ({ values }: Figures, key: string): number => values.get(key) ?? 0

/** How much samples have grown, without those that have not changed. */
export const growth = (before: Figures, after: Figures, names: RegExp): Readonly<Record<string, number>> =>
  Object.fromEntries(
    [...after.values].flatMap(([key, value]) => {
      const more = value - countOf(before, key)
      return names.test(key) && more !== 0 ? [[key, more]] : []
    })
  )
