/** A parser for the part of TwiML that an answered call needs. */

export interface Verb {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: ReadonlyArray<Verb>
  /** Present only if the verb has text. */
  readonly text?: string
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }
const tag = /([^<]*)<(\/?)([A-Za-z]+)((?:\s+[A-Za-z]+="[^"<]*")*)\s*(\/?)>/y
const attribute = /([A-Za-z]+)="([^"<]*)"/g

/** Undefined for a bare `&`, and for an entity that XML does not define. */
const decoded = (text: string): string | undefined =>
  /&(?!(amp|lt|gt|quot|apos);)/.test(text) ? undefined : text.replace(/&(\w+);/g, (_, name: string) => entities[name] ?? "")

/** The verbs of a `<Response>`; undefined: not well-formed, or not a response. */
export const verbsOf = (document: string): ReadonlyArray<Verb> | undefined => {
  const source = document.replace(/^<\?xml[^>]*\?>/, "").trim()
  const root: Array<Verb> = []
  const open: Array<{ readonly name: string; readonly children: Array<Verb>; text?: string }> = [{ name: "", children: root }]
  tag.lastIndex = 0
  while (tag.lastIndex < source.length) {
    const [found, before = "", closes, name = "", rest = "", isEmpty] = tag.exec(source) ?? []
    const parent = open.at(-1)
    const text = decoded(before.trim())
    if (found === undefined || parent === undefined || text === undefined) return undefined
    if (text !== "") parent.text = (parent.text ?? "") + text
    if (closes === "/") {
      if (open.pop()?.name !== name) return undefined
      continue
    }
    const attributes: Record<string, string> = {}
    for (const [, key = "", value = ""] of rest.matchAll(attribute)) {
      const plain = decoded(value)
      if (plain === undefined) return undefined
      attributes[key] = plain
    }
    const children: Array<Verb> = []
    const verb = { name, attributes, children }
    parent.children.push(verb)
    if (isEmpty !== "/") open.push(verb)
  }
  const [response, another] = root
  return open.length === 1 && another === undefined && response?.name === "Response" ? response.children : undefined
}
