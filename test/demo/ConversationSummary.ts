/** The outcomes of the conversations, and whether they are as expected: compares the service's records with what the callees said and heard. */
import type { Run } from "./Api.ts"
import { goodbye, whenInterrupted } from "./Appointments.ts"
import type { Held } from "./Conversations.ts"
import { packageName } from "#test/support/installRecognizer.ts"
import { type Percentiles, percentilesOf } from "./Percentiles.ts"
import { dispositionOf, type Line, linesOf, nodeOf, secondsOf, variablesOf } from "./RunRecord.ts"

export interface ConversationRow {
  readonly callee: string
  /** The last four digits of the number. */
  readonly number: string
  readonly seconds: number
  /** How often the callee said or pressed something. */
  readonly turns: number
  readonly expected: string
  readonly got: string
  readonly isAsExpected: boolean
}

/** The conversation that is shown. */
export interface ShownConversation {
  readonly callee: string
  readonly firstName: string
  readonly number: string
  readonly lines: ReadonlyArray<Line>
  readonly variables: Readonly<Record<string, unknown>>
  readonly node: string
  readonly disposition: string
  readonly transcriptKey: string
  readonly recordingKey: string
}

export interface ConversationSummary {
  readonly rows: ReadonlyArray<ConversationRow>
  /** The package that recognized what the callees said. */
  readonly recognizer: string
  readonly shown: ShownConversation | null
  /** The time from the callee's last sound to the agent's first one, as the callee hears it. */
  readonly answerMillis: Percentiles | null
}

const textOf = (node: string, disposition: string, variables: Readonly<Record<string, unknown>>, hasOptedOut: boolean): string =>
  [
    `${node} (${disposition})`,
    ...Object.entries(variables)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => `${name} ${value}`),
    ...(hasOptedOut ? ["not to be called again"] : [])
  ].join(", ")

const expectedOf = ({ conversation: { expected } }: Held): string =>
  textOf(expected.node, expected.disposition, expected.variables, expected.optsOut === true)

const gotOf = ({ hasOptedOut, runs }: Held): string =>
  runs.map((run) => textOf(nodeOf(run), dispositionOf(run), variablesOf(run), hasOptedOut)).join("; ") || "never called"

const isAsExpected = (held: Held): boolean => {
  const [run, ...others] = held.runs
  return run !== undefined && others.length === 0 && expectedOf(held) === gotOf(held)
}

/** Whether the agent continued after this sentence as if nobody had interrupted it. */
const isHeardOut = (understood: ReadonlyArray<string>, sentence: string): boolean =>
  understood.some((one, at) => one === sentence && understood[at + 1] === whenInterrupted)

/** Faults in what was said and heard, whatever the outcome of the conversation. */
const faultsOf = ({ callee, conversation: { answers }, runs, transcript }: Held): ReadonlyArray<string> => {
  if (callee === undefined) return ["had no audio"]
  const { talker, understood } = callee
  const missing = talker.turns.find(({ text }) => !transcript.includes(text))
  const interrupted = answers.find((answer) => answer.interrupts)?.hears
  return [
    ...(understood.at(-1) === goodbye ? [] : [`did not hear the agent say "${goodbye}"`]),
    ...(missing === undefined ? [] : [`said "${missing.text}", which the transcript does not have`]),
    ...(transcript.includes("assistant: ") ? [] : ["has a transcript without the agent"]),
    ...(interrupted !== undefined && isHeardOut(understood, interrupted) ? ["could not interrupt the agent"] : []),
    ...(runs.every(({ recording_url }) => recording_url !== null) ? [] : ["has no recording"])
  ]
}

const rowOf = (held: Held): ConversationRow => {
  const { callee, conversation, runs } = held
  return {
    callee: conversation.title,
    number: conversation.number.slice(-4),
    seconds: Math.round(runs.reduce((sum, run) => sum + secondsOf(run), 0)),
    turns: callee?.turns ?? 0,
    expected: expectedOf(held),
    got: gotOf(held),
    isAsExpected: isAsExpected(held)
  }
}

const answersTo = ({ callee }: Held): ReadonlyArray<number> =>
  (callee?.talker.turns ?? []).flatMap(({ agentFrom, until }) =>
    agentFrom === undefined || until === undefined ? [] : [agentFrom - until]
  )

const shownOf = ({ conversation: { firstName, number, title } }: Held, run: Run): ShownConversation => ({
  callee: title,
  firstName,
  number,
  lines: linesOf(run),
  variables: variablesOf(run),
  node: nodeOf(run),
  disposition: dispositionOf(run),
  transcriptKey: run.transcript_url ?? "",
  recordingKey: run.recording_url ?? ""
})

export const summarizeConversations = (all: ReadonlyArray<Held>) => {
  const problems = all.flatMap((held) => {
    const who = `${held.conversation.number} ${held.conversation.title}`
    return [
      ...(isAsExpected(held) ? [] : [`${who}: expected ${expectedOf(held)}; got ${gotOf(held)}.`]),
      ...faultsOf(held).map((fault) => `${who}: ${fault}.`)
    ]
  })
  const shown = all.flatMap((held) => held.runs.slice(0, 1).map((run) => shownOf(held, run)))
  const summary: ConversationSummary = {
    rows: all.map(rowOf),
    recognizer: packageName,
    shown: shown[0] ?? null,
    answerMillis: percentilesOf(all.flatMap(answersTo))
  }
  return { problems, summary }
}
