/** The conversations for people to read: the outcome of each, and one of them word for word. */
import type { ConversationRow, ConversationSummary, ShownConversation } from "./ConversationSummary.ts"
import { styled } from "./Display.ts"
import type { Line } from "./RunRecord.ts"
import { type Column, listed, tableOf, wrapped } from "./Table.ts"

const textWidth = 96
const aboutRecognizer =
  "a package that the demo installs for the service (SERVICES): it knows the sound of these callees. Real calls are heard by Moonshine, on " +
  "this machine, or by a service of your choice."
const speakerWidth = 8

const columns: ReadonlyArray<Column<ConversationRow>> = [
  { title: "Who talks", of: (row) => row.callee },
  { title: "number", of: (row) => `…${row.number}` },
  { title: "seconds", right: true, of: (row) => String(row.seconds) },
  { title: "turns", right: true, of: (row) => String(row.turns) },
  { title: "expected", of: (row) => row.expected }
]

export const conversationTable = ({ rows }: ConversationSummary): ReadonlyArray<string> => tableOf(columns, rows, (row) => row.isAsExpected)

const lineOf = ({ seconds, speaker, text }: Line): readonly [string, string] => {
  const style = speaker === "agent" ? "cyan" : "yellow"
  return [`${seconds.toFixed(1).padStart(6)} s  ${speaker.padEnd(speakerWidth)}`, styled(style, wrapped(text, textWidth))]
}

export const conversationLines = (
  { callee, disposition, firstName, lines, node, number, variables }: ShownConversation,
  recognizer: string
): ReadonlyArray<string> => {
  const found = Object.entries(variables).map(([name, value]) => `${name} = ${value}`)
  return [
    `  ${styled("bold", "A conversation")}, with ${firstName} at ${number}, who ${callee}:`,
    "",
    ...listed(lines.map(lineOf), 19),
    "",
    ...listed(
      [
        ["ended at", `the node "${node}", with the disposition ${disposition}`],
        ["variables", found.join(", ")],
        ["heard by", wrapped(`${recognizer}, ${aboutRecognizer}`, textWidth)]
      ],
      12
    )
  ]
}
