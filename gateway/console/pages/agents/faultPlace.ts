/** Where in a JSON text a fault is. */
import { findNodeAtLocation, type Node, parseTree, type ParseError, printParseErrorCode } from "jsonc-parser"
import type { Refused } from "#gateway/console/base/api.ts"

export interface Placed {
  /** From 1. */
  readonly line: number
  readonly message: string
  /** In characters of the text. */
  readonly from: number
  readonly until: number
}

const lineAt = (text: string, offset: number): number => text.slice(0, offset).split("\n").length

/** What keeps the text from being JSON; undefined if it is. */
export const syntaxFault = (text: string): Placed | undefined => {
  const errors: Array<ParseError> = []
  parseTree(text, errors, { disallowComments: true })
  const [first] = errors
  if (first === undefined) return undefined
  const { error, length, offset } = first
  const said = printParseErrorCode(error)
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ")
    .toLowerCase()
  return { line: lineAt(text, offset), message: said, from: offset, until: offset + Math.max(1, length) }
}

/** The innermost part of the path that the text has. */
const nodeAt = (root: Node, path: ReadonlyArray<string>): Node => {
  for (let length = path.length; length > 0; length--) {
    const steps = path.slice(0, length).map((step) => (/^\d+$/.test(step) ? Number(step) : step))
    const found = findNodeAtLocation(root, steps)
    if (found !== undefined) return found
  }
  return root
}

/** The faults that the API found, at their places. `below`: what their paths begin with. */
export const placedFaults = (text: string, { faults }: Refused, below: string): ReadonlyArray<Placed> => {
  const root = parseTree(text)
  return faults.map(({ field, message }) => {
    const path = field.startsWith(below) ? field.slice(below.length) : field
    const { length, offset } = root === undefined ? { length: 0, offset: 0 } : nodeAt(root, path.split(".").filter(Boolean))
    return { line: lineAt(text, offset), message: `${path === "" ? "" : `${path}: `}${message}`, from: offset, until: offset + length }
  })
}
