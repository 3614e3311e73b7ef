/** Documents that tell a carrier what to do with a call. Every value is escaped, and characters that XML cannot hold are left out. */

/** A complete element, or escaped text. */
type Element = string

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" }

const isHeld = (character: string): boolean => character >= " " && character !== "\uFFFE" && character !== "\uFFFF"

/** True for ASCII that needs no escaping, as in most addresses and numbers. */
const isPlain = (value: string): boolean => /^[ !#-%(-;=?-~]*$/.test(value)

const escaped = (value: string): string =>
  isPlain(value)
    ? value
    : [...value.toWellFormed()]
        .filter(isHeld)
        .map((character) => escapes[character] ?? character)
        .join("")

/** Names are written as they are: they must come from the code. */
export const element = (name: string, attributes: Readonly<Record<string, string>>, ...children: ReadonlyArray<Element>): Element => {
  const open = [name, ...Object.entries(attributes).map(([attribute, value]) => `${attribute}="${escaped(value)}"`)].join(" ")
  return children.length === 0 ? `<${open}/>` : `<${open}>${children.join("")}</${name}>`
}

/** What is between the tags of an element. */
export const text = (value: string): Element => escaped(value)

export const documentOf = (root: Element): string => `<?xml version="1.0" encoding="UTF-8"?>${root}`
