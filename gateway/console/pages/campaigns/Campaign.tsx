/** One campaign: how far it is, what can be done with it, its contacts and its log. */
import { ask } from "#gateway/console/base/api.ts"
import { Act, Bar, Panel, Shown, State, When } from "#gateway/console/base/Parts.tsx"
import { useReading } from "#gateway/console/base/reading.ts"
import { type Column, Table } from "#gateway/console/base/Table.tsx"
import type { Campaign as Its, Contacts as ContactPage, Happened, Progress } from "#gateway/console/base/types.ts"
import { figure, words } from "#gateway/console/base/words.ts"
import { limitsOf } from "./limits.ts"

/** What a person may do next, in each state. */
const acts: Readonly<Record<string, readonly [act: string, label: string]>> = {
  created: ["start", "Start"],
  running: ["pause", "Pause"],
  paused: ["resume", "Resume"]
}

const isAbout =
  (id: string) =>
  ({ data, subject, type }: Happened): boolean =>
    subject === `campaigns/${id}` || (type.startsWith("run.") && String(data["campaign_id"]) === id)

const Figures = ({ id }: { readonly id: string }) => {
  const progress = useReading<Progress>(`/campaign/${id}/progress`, isAbout(id))
  return (
    <Shown
      of={progress}
      show={({ cancelled, completed, failed, pending, processed, source_sync: { warnings }, total }) => (
        <>
          <p class="large">
            <strong>{figure(processed)}</strong> of {figure(total)} contacts dialed{" "}
            <Bar label={`${processed} of ${total} contacts dialed`} share={total === 0 ? 0 : processed / total} />
          </p>
          <dl class="facts">
            <dt>Reached</dt>
            <dd>{figure(completed)}</dd>
            <dt>Failed</dt>
            <dd>{figure(failed)}</dd>
            <dt>Opted out</dt>
            <dd>{figure(cancelled)}</dd>
            <dt>Left</dt>
            <dd>{figure(pending)}</dd>
          </dl>
          {warnings.map((warning) => (
            <p key={warning} class="note">
              {warning}
            </p>
          ))}
        </>
      )}
    />
  )
}

const contactColumns: ReadonlyArray<Column<ContactPage["contacts"][number]>> = [
  { name: "Row", isNumber: true, show: ({ row_number: row }) => row },
  { name: "Number", show: ({ phone_number: number }) => number },
  { name: "State", show: ({ state }) => words(state) },
  { name: "Last outcome", show: ({ last_outcome: outcome }) => (outcome === null ? "" : words(outcome)) },
  { name: "Due", show: ({ due_at: due }) => (due === null ? "" : <When at={due} />) },
  { name: "Call", show: ({ run }) => (run === null ? "" : <a href={`#/runs/${run.workflow_id}/${run.id}`}>Open</a>) }
]

const Contacts = ({ id }: { readonly id: string }) => {
  const contacts = useReading<ContactPage>(`/campaign/${id}/contacts?limit=100`, isAbout(id))
  return (
    <Panel title="Contacts">
      <Shown
        of={contacts}
        show={({ contacts }) => (
          <Table label="Contacts" columns={contactColumns} rows={contacts} keyOf={({ row_number: row }) => row} empty="None." />
        )}
      />
    </Panel>
  )
}

const Log = ({ logs }: Pick<Its, "logs">) => (
  <Panel title="Log">
    {logs.length === 0 ? (
      <p class="none">Nothing yet.</p>
    ) : (
      <ol class="log">
        {logs.toReversed().map(({ event, level, message, ts }) => (
          <li key={`${ts} ${event}`} class={level}>
            <When at={ts} /> {message}
          </li>
        ))}
      </ol>
    )}
  </Panel>
)

export const Campaign = ({ id }: { readonly id: string }) => {
  const campaign = useReading<Its>(`/campaign/${id}`, isAbout(id))
  return (
    <Shown
      of={campaign}
      show={(its) => {
        const [act, label] = acts[its.state] ?? []
        return (
          <>
            <header class="head">
              <h1>{its.name}</h1>
              <State of={its.state} />
              {act === undefined || label === undefined ? null : (
                <Act
                  label={label}
                  act={async () => {
                    await ask("POST", `/campaign/${id}/${act}`)
                    campaign.renew()
                  }}
                />
              )}
            </header>
            <Figures id={id} />
            <p class="note">{limitsOf(its)}</p>
            <Contacts id={id} />
            <Log logs={its.logs} />
          </>
        )
      }}
    />
  )
}
