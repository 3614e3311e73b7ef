/** What came of a campaign's calls over time, and the retries that are ahead. */
import { Panel, Shown } from "#gateway/console/base/Parts.tsx"
import { type Curve, Plot } from "#gateway/console/base/Plot.tsx"
import { useReading } from "#gateway/console/base/reading.ts"
import type { Happened, Outcomes } from "#gateway/console/base/types.ts"
import { counted, figure } from "#gateway/console/base/words.ts"

type Counts = Outcomes["calls"][number]["outcomes"]

const kinds: ReadonlyArray<Pick<Curve, "name" | "color" | "dash"> & { readonly of: ReadonlyArray<keyof Counts> }> = [
  { name: "answered", color: "--good", of: ["answered"] },
  { name: "machine", color: "--accent", dash: [8, 4], of: ["voicemail"] },
  { name: "busy or not answered", color: "--faint", dash: [3, 3], of: ["busy", "no_answer", "canceled"] },
  { name: "failed or unknown", color: "--bad", dash: [12, 3, 3, 3], of: ["failed", "error", "unknown"] }
]

const sizes: Readonly<Record<Outcomes["bucket"], number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }

interface Bucket {
  /** Epoch milliseconds. */
  readonly at: number
  readonly isRoom: boolean
  readonly outcomes: Counts | undefined
}

/** The API leaves out what had no calls. Before the first and after the last bucket there is room for one, so that a single one has a width. */
const filled = ({ bucket, calls }: Outcomes): ReadonlyArray<Bucket> => {
  const found = new Map(calls.map(({ at, outcomes }) => [Date.parse(at), outcomes]))
  const times = [...found.keys()]
  const [first, last] = [times[0], times.at(-1)]
  if (first === undefined || last === undefined) return []
  const count = Math.round((last - first) / sizes[bucket]) + 3
  return Array.from({ length: count }, (_, index) => {
    const at = first + (index - 1) * sizes[bucket]
    return { at, isRoom: index === 0 || index === count - 1, outcomes: found.get(at) }
  })
}

const Drawn = ({ outcomes }: { readonly outcomes: Outcomes }) => {
  const buckets = filled(outcomes)
  const { due, later, ahead } = outcomes.retries
  const waiting = ahead.reduce((sum, { retries }) => sum + retries, later)
  const sum = (counts: Counts | undefined, of: ReadonlyArray<keyof Counts>) => of.reduce((total, name) => total + (counts?.[name] ?? 0), 0)
  const curves = kinds.map(({ of, ...curve }) => ({
    ...curve,
    values: buckets.map(({ isRoom, outcomes: counts }) => (isRoom ? null : sum(counts, of)))
  }))
  const total = (values: ReadonlyArray<number | null>) => values.reduce<number>((all, value) => all + (value ?? 0), 0)
  const spoken = curves.map(({ name, values }) => `${figure(total(values))} ${name}`).join(", ")
  return (
    <>
      {buckets.length === 0 ? (
        <p class="none">No call has ended yet.</p>
      ) : (
        <Plot label={`Calls per ${outcomes.bucket}: ${spoken}`} times={buckets.map(({ at }) => at)} curves={curves} />
      )}
      {due + waiting === 0 ? null : (
        <p class="note">
          {counted(due, "retry is", "retries are")} due now, {figure(waiting)} later.
        </p>
      )}
    </>
  )
}

export const OutcomesOverTime = ({ id, isAbout }: { readonly id: string; readonly isAbout: (event: Happened) => boolean }) => {
  const outcomes = useReading<Outcomes>(`/campaign/${id}/outcomes`, isAbout)
  return (
    <Panel title="Calls by outcome">
      <Shown of={outcomes} show={(outcomes) => <Drawn outcomes={outcomes} />} />
    </Panel>
  )
}
