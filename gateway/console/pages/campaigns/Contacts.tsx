/** The contacts of a campaign, by state, outcome or number. */
import { useSignal } from "@preact/signals"
import { ask } from "#gateway/console/base/api.ts"
import { may } from "#gateway/console/base/caller.ts"
import { LongTable } from "#gateway/console/base/LongTable.tsx"
import { Act, Fault, Panel, When } from "#gateway/console/base/Parts.tsx"
import type { Column } from "#gateway/console/base/Table.tsx"
import type { Happened } from "#gateway/console/base/types.ts"
import { words } from "#gateway/console/base/words.ts"
import { type Contact, useContactPages } from "./contactPages.ts"

const states = ["pending", "queued", "in_progress", "completed", "failed", "cancelled"]

const columns: ReadonlyArray<Column<Contact>> = [
  { name: "Row", isNumber: true, show: ({ row_number: row }) => row },
  { name: "Number", show: ({ phone_number: number }) => number },
  { name: "State", show: ({ state }) => words(state) },
  { name: "Last outcome", show: ({ last_outcome: outcome }) => (outcome === null ? "" : words(outcome)) },
  { name: "Due", show: ({ due_at: due }) => (due === null ? "" : <When at={due} />) },
  { name: "Call", show: ({ run }) => (run === null ? "" : <a href={`#/runs/${run.workflow_id}/${run.id}`}>Open</a>) }
]

/** Those whose outcome nobody knows: a person says whether they were reached. */
const marksOf = (id: string, renew: () => void): Column<Contact> => {
  const mark = (row: number, reached: boolean) => async () => {
    await ask("POST", `/campaign/${id}/contacts/mark`, { row_numbers: [row], reached })
    renew()
  }
  return {
    name: "Reached?",
    show: ({ last_outcome: outcome, reached, row_number: row }) =>
      outcome !== "unknown" ? (
        ""
      ) : reached !== null ? (
        words(reached ? "yes" : "no")
      ) : (
        <>
          <Act label="Yes" act={mark(row, true)} /> <Act label="No" act={mark(row, false)} />
        </>
      )
  }
}

export const Contacts = ({ id, isAbout }: { readonly id: string; readonly isAbout: (event: Happened) => boolean }) => {
  const state = useSignal("")
  const { error, isAll, onSight, renew, rows } = useContactPages(
    `/campaign/${id}/contacts?${state.value === "" ? "" : `state=${state.value}`}`,
    isAbout
  )
  const choice = (
    <select
      aria-label="State"
      onChange={({ currentTarget }) => {
        state.value = currentTarget.value
      }}
    >
      <option value="">All states</option>
      {states.map((one) => (
        <option key={one} value={one}>
          {words(one)}
        </option>
      ))}
    </select>
  )
  return (
    <Panel title="Contacts" more={choice}>
      {error.value === undefined ? null : <Fault>{error.value}</Fault>}
      {rows.value.length === 0 && isAll.value ? (
        <p class="none">None.</p>
      ) : (
        <LongTable
          label="Contacts"
          columns={may("member", "campaigns") ? [...columns, marksOf(id, renew)] : columns}
          rows={rows.value}
          keyOf={({ row_number: row }) => row}
          onSight={onSight}
        />
      )}
    </Panel>
  )
}
