/** The summary for people to read. */
import { join } from "node:path"
import { type Provider, providers } from "./Callees.ts"
import { conversationLines, conversationTable } from "./ConversationReport.ts"
import { styled } from "./Display.ts"
import { shown } from "./Service.ts"
import type { Row, Summary } from "./Summary.ts"
import { type Column, listed, tableOf } from "./Table.ts"

/** A call whose transcript is shown. */
export interface Sample {
  readonly number: string
  readonly transcript: string
  readonly transcriptKey: string
  readonly recordingKey: string
}

interface Place {
  readonly url: string
  readonly folder: string
  readonly key: string
  readonly isKept: boolean
}

const shownProblems = 20
const columns: ReadonlyArray<Column<Row>> = [
  { title: "The callee", of: (row) => row.callee },
  { title: "number", of: (row) => `…${row.number}` },
  { title: "calls", right: true, of: (row) => String(row.calls) },
  { title: "expected", of: (row) => row.expected },
  { title: "as expected", right: true, of: (row) => `${row.asExpected}/${row.contacts}` }
]

const rowsOf = (rows: ReadonlyArray<Row>): ReadonlyArray<string> => {
  const sum = (of: (row: Row) => number) => String(rows.reduce((total, row) => total + of(row), 0))
  const asExpected = `${sum((row) => row.asExpected)}/${sum((row) => row.contacts)}`
  const total = ["together", "", sum((row) => row.calls), "", asExpected]
  return tableOf(columns, rows, (row) => row.asExpected === row.contacts, total)
}

const timesOf = (name: string, what: string, of: Summary["firstWordMillis"]): ReadonlyArray<readonly [string, string]> =>
  of === null ? [] : [[name, `${what} ${of.p50.toFixed(0)} ms (p50), ${of.p99.toFixed(0)} ms (p99)`]]

const figuresOf = (summary: Summary): ReadonlyArray<readonly [string, string]> => {
  const { calls, conversations, dialsPerSecond, firstWordMillis, retries, slots } = summary
  const judge = slots.judgedBy === "callees" ? "by the callees' log" : "by the service's records"
  return [
    [
      "calls",
      `${calls.seenByCallees} reached the callees, ${calls.recorded} are on record, ${calls.dialedTwice} were dialed twice for one attempt`
    ],
    ["retries", `${retries.done} done of ${retries.scheduled} scheduled`],
    ["slots", `never more than ${slots.most} of ${slots.limit} (${judge})`],
    ...timesOf("greeting", "begins after", firstWordMillis),
    ...timesOf("answers", "the agent answers a callee after", conversations?.answerMillis ?? null),
    ["dialing", `${dialsPerSecond.mean} calls/s, ${dialsPerSecond.most} in the busiest second, ${dialsPerSecond.limit} allowed`]
  ]
}

const problemsOf = ({ problems }: Summary): ReadonlyArray<string> =>
  problems.length === 0
    ? [`  ${styled("green", "✔")} ${styled("bold", "Every call ended as expected.")}`]
    : [
        `  ${styled("red", "✘")} ${styled("bold", "Not everything is as expected:")}`,
        ...problems.slice(0, shownProblems).map((problem) => `    ${problem}`),
        ...(problems.length > shownProblems ? [`    and ${problems.length - shownProblems} more`] : [])
      ]

const filesOf = (
  { recordings, transcripts }: Summary,
  { recordingKey, transcriptKey }: Pick<Sample, "recordingKey" | "transcriptKey">,
  { folder }: Place
): ReadonlyArray<string> => {
  const path = (key: string) => shown(join(folder, "files", key))
  return listed(
    [
      ["transcript", `${path(transcriptKey)}, one of ${transcripts}`],
      ["recording", `${path(recordingKey)}, one of ${recordings}: callee left, agent right`]
    ],
    12
  )
}

const sampleOf = (summary: Summary, sample: Sample, place: Place): ReadonlyArray<string> => [
  `  ${styled("bold", "What was said")}, in the call to ${sample.number}:`,
  "",
  ...sample.transcript
    .trimEnd()
    .split("\n")
    .map((line) => `    ${styled("italic", line)}`),
  "",
  ...filesOf(summary, sample, place)
]

/** A whole conversation if there is one, otherwise a call in which only the agent spoke. */
const spokenOf = (summary: Summary, sample: Sample | undefined, place: Place): ReadonlyArray<string> => {
  const { conversations } = summary
  if (conversations !== null && conversations.shown !== null) {
    return [...conversationLines(conversations.shown, conversations.recognizer), ...filesOf(summary, conversations.shown, place), ""]
  }
  return sample === undefined ? [] : [...sampleOf(summary, sample, place), ""]
}

const nextOf = (provider: Provider, { isKept, key, url }: Place): ReadonlyArray<string> =>
  isKept
    ? listed(
        [
          ["API", `${url}/api/v1`],
          ["manual", `${url}/docs`],
          ["key", key]
        ],
        12
      )
    : listed(
        [
          ["npm start", "runs the service on http://127.0.0.1:8000, with its manual at http://127.0.0.1:8000/docs"],
          ["npm run demo -- --keep", "leaves this demo's service running, with its campaign and its calls"],
          [
            "npm run demo -- --provider NAME",
            `calls through another simulated provider: ${providers.filter((name) => name !== provider).join(", ")}`
          ],
          ["npm run demo -- --asterisk", "calls through a real Asterisk"]
        ],
        33
      )

export const reportOf = (summary: Summary, sample: Sample | undefined, place: Place): ReadonlyArray<string> => [
  "",
  ...rowsOf(summary.rows),
  "",
  ...(summary.conversations === null ? [] : [...conversationTable(summary.conversations), ""]),
  ...(summary.notes.length === 0 ? [] : [...summary.notes.map((note) => styled("dim", `    ${note}`)), ""]),
  ...listed(figuresOf(summary), 12),
  "",
  ...spokenOf(summary, sample, place),
  ...problemsOf(summary),
  "",
  `  ${styled("bold", place.isKept ? "The service runs until Ctrl-C" : "Next steps")}`,
  ...nextOf(summary.provider, place),
  ""
]
