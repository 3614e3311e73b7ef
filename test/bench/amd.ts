/**
 * How answering machine detection classifies who answers: recorded prompts of people in six voices and five languages and flite's five voices,
 * and the greetings and beeps of machines, each on a quiet line and with four kinds of noise. It was tuned on one half of them. The goals are
 * for the other half, and the control is the half that it was tuned on.
 */
import { Effect } from "effect"
import { isFoundSoon, isTakenForMachine, type Judged, percent, trial } from "#test/support/amdTrial.ts"
import { type Half, type Kind, lines } from "#test/support/answerers.ts"
import { promptsUnavailable } from "#test/support/prompts.ts"
import type { Benchmark } from "./Benchmark.ts"
import type { Figure } from "./Figure.ts"

interface Row {
  readonly name: string
  readonly isIn: (judged: Judged) => boolean
  readonly isSo: (judged: Judged) => boolean
  readonly goal?: NonNullable<Figure["goal"]>
}

const isOf = (kind: Kind) => (judged: Judged) => judged.answerer.kind === kind
const percentOf = ({ isSo }: Row, judged: ReadonlyArray<Judged>) => percent(judged, isSo)

const rowsOf = (heard: ReadonlyArray<Judged>): ReadonlyArray<Row> => {
  const people: Row = { name: "people taken for machines", isIn: isOf("person"), isSo: isTakenForMachine }
  const machines: Row = { name: "machines found within 4 s", isIn: isOf("machine"), isSo: isFoundSoon }
  const groupsOf = (row: Row) => [...new Set(heard.filter(row.isIn).map(({ answerer }) => answerer.group))].toSorted()
  const apart = (row: Row): ReadonlyArray<Row> => [
    ...lines
      .filter((line) => heard.some((one) => one.line === line))
      .map((line) => ({ ...row, name: `${row.name}, ${line}`, isIn: (one: Judged) => row.isIn(one) && one.line === line })),
    ...groupsOf(row).map((group) => ({
      ...row,
      name: `${row.name}, ${group}`,
      isIn: (one: Judged) => row.isIn(one) && one.answerer.group === group
    }))
  ]
  return [
    { ...people, goal: { atMost: 1 } },
    { ...machines, goal: { atLeast: 95 } },
    { name: "machines found at all", isIn: machines.isIn, isSo: isTakenForMachine },
    { name: "people who speak for 2.2 to 3.5 s taken for machines", isIn: isOf("long person"), isSo: isTakenForMachine },
    ...apart(people),
    ...apart(machines)
  ]
}

/** The minimum size of the whole collection, so that it does not shrink unnoticed. */
const enough: Readonly<Record<"person" | "machine", number>> = { person: 500, machine: 200 }

const figuresOf = (tuning: ReadonlyArray<Judged>, heldOut: ReadonlyArray<Judged>): ReadonlyArray<Figure> => {
  const counts = (["person", "machine"] as const).flatMap((kind): ReadonlyArray<Figure> => {
    const who = kind === "person" ? "people" : "machines"
    // Each is heard on several lines, but counts once. None is in both halves.
    const countIn = (half: ReadonlyArray<Judged>) => new Set(half.filter(isOf(kind)).map(({ answerer }) => answerer.name)).size
    const [ours, theirs] = [countIn(heldOut), countIn(tuning)]
    return [
      { name: `amd, ${who} in both halves`, value: ours + theirs, unit: "", goal: { atLeast: enough[kind] } },
      { name: `amd, ${who} in the half`, value: ours, unit: "", control: theirs }
    ]
  })
  const shares = rowsOf(heldOut).map((row): Figure => {
    const value = percentOf(row, heldOut.filter(row.isIn))
    const control = percentOf(row, tuning.filter(row.isIn))
    return { name: `amd, ${row.name}`, value, unit: "%", control, ...(row.goal === undefined ? {} : { goal: row.goal }) }
  })
  return [...counts, ...shares]
}

export const amd: Benchmark = {
  name: "amd",
  run: Effect.fnUntraced(function* ({ quick }) {
    const reason = yield* Effect.promise(promptsUnavailable)
    if (reason !== undefined) return yield* Effect.die(new Error(reason))
    const judgedOf = (half: Half) => [...trial(half, () => true, quick ? lines.slice(0, 1) : lines)]
    return figuresOf(judgedOf("tuning"), judgedOf("held out"))
  })
}
