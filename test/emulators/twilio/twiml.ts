/** As much of TwiML as an answered call needs: what is well-formed, and what it says. */

interface Verb {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: ReadonlyArray<Verb>
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }
const tag = /<(\/?)([A-Za-z]+)((?:\s+[A-Za-z]+="[^"<]*")*)\s*(\/?)>/y
const attribute = /([A-Za-z]+)="([^"<]*)"/g

/** Undefined: a bare `&`, or an entity that XML does not know. */
const decoded = (text: string): string | undefined =>
  /&(?!(amp|lt|gt|quot|apos);)/.test(text) ? undefined : text.replace(/&(\w+);/g, (_, name: string) => entities[name] ?? "")

/** The verbs of a `<Response>`; undefined: not well-formed, or not a response. */
export const verbsOf = (twiml: string): ReadonlyArray<Verb> | undefined => {
  const text = twiml.replace(/^<\?xml[^>]*\?>/, "").trim()
  const root: Array<Verb> = []
  const open: Array<{ readonly name: string; readonly children: Array<Verb> }> = [{ name: "", children: root }]
  tag.lastIndex = 0
  while (tag.lastIndex < text.length) {
    const [found, closes, name = "", rest = "", isEmpty] = tag.exec(text) ?? []
    const parent = open.at(-1)
    if (found === undefined || parent === undefined) return undefined
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
    parent.children.push({ name, attributes, children })
    if (isEmpty !== "/") open.push({ name, children })
  }
  const [response, another] = root
  return open.length === 1 && another === undefined && response?.name === "Response" ? response.children : undefined
}
