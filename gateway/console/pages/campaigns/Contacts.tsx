/** The contacts of a campaign, by state or number: what came of each, and why it has not been called yet. */
import { useSignal } from "@preact/signals"
import { ask } from "#gateway/console/base/api.ts"
import { may } from "#gateway/console/base/caller.ts"
import { LongTable } from "#gateway/console/base/LongTable.tsx"
import { Act, Fault, Panel, When } from "#gateway/console/base/Parts.tsx"
import { Search } from "#gateway/console/base/Search.tsx"
import type { Column } from "#gateway/console/base/Table.tsx"
import type { Happened } from "#gateway/console/base/types.ts"
import { words } from "#gateway/console/base/words.ts"
import { Attempts } from "./Attempts.tsx"
import { type Contact, useContactPages } from "./contactPages.ts"

const states: Readonly<Record<Contact["state"], string>> = {
  pending: "to be called",
  dialing: "being dialed",
  in_call: "in a call",
  retry_wait: "to be called again",
  completed: "reached",
  failed: "not reached",
  cancelled: "opted out"
}

const waits: Readonly<Record<NonNullable<Contact["waiting_for"]>, string>> = {
  campaign_not_running: "the campaign to run",
  retry_due: "its retry",
  window: "the calling hours",
  trunk_down: "the trunk to be up",
  number_in_call: "another call to the number to end",
  slot: "a call to end",
  turn: "its turn"
}

const Waiting = ({ contact }: { readonly contact: Contact }) => {
  const { due_at: due, waiting_for: waiting, window_opens_at: opens } = contact
  if (waiting === null) return null
  const at = waiting === "window" ? opens : waiting === "retry_due" ? due : null
  return (
    <>
      {waits[waiting]}
      {at === null ? null : (
        <>
          , <When at={at} />
        </>
      )}
    </>
  )
}

const columnsOf = (open: (contact: Contact) => void): ReadonlyArray<Column<Contact>> => [
  { name: "Row", isNumber: true, show: ({ row_number: row }) => row },
  {
    name: "Number",
    show: (contact) => (
      <button type="button" class="link" title="All calls to it" onClick={() => open(contact)}>
        {contact.phone_number}
      </button>
    )
  },
  { name: "State", show: ({ state }) => states[state] },
  { name: "Waits for", show: (contact) => <Waiting contact={contact} /> },
  { name: "Last outcome", show: ({ last_outcome: outcome }) => (outcome === null ? "" : words(outcome)) },
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
      outcome !== "unknown" ? null : reached !== null ? (
        words(reached ? "yes" : "no")
      ) : (
        <>
          <Act label="Yes" act={mark(row, true)} /> <Act label="No" act={mark(row, false)} />
        </>
      )
  }
}

const digits = (text: string): string => text.replaceAll(/\D/g, "")
/** The API compares no less. */
const FEWEST_DIGITS = 3

interface FiltersProps {
  readonly onState: (state: string) => void
  readonly onNumber: (digits: string) => void
}
const Filters = ({ onNumber, onState }: FiltersProps) => (
  <>
    <select aria-label="State" onChange={({ currentTarget }) => onState(currentTarget.value)}>
      <option value="">All states</option>
      {Object.entries(states).map(([state, name]) => (
        <option key={state} value={state}>
          {name}
        </option>
      ))}
    </select>
    <Search label="Search by number" onSearch={(text) => onNumber(digits(text))} />
  </>
)

export const Contacts = ({ id, isAbout }: { readonly id: string; readonly isAbout: (event: Happened) => boolean }) => {
  const filter = useSignal({ state: "", number: "" })
  const opened = useSignal<Contact | undefined>(undefined)
  const { number, state } = filter.value
  const query = new URLSearchParams({ ...(state === "" ? {} : { state }), ...(number.length < FEWEST_DIGITS ? {} : { number }) })
  const { error, isAll, onSight, renew, rows } = useContactPages(`/campaign/${id}/contacts?${query}`, isAbout)
  const columns = columnsOf((contact) => {
    opened.value = contact
  })
  const filters = (
    <Filters
      onState={(next) => {
        filter.value = { ...filter.peek(), state: next }
      }}
      onNumber={(next) => {
        filter.value = { ...filter.peek(), number: next }
      }}
    />
  )
  return (
    <Panel title="Contacts" more={filters}>
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
      {opened.value === undefined ? null : (
        <Attempts
          campaign={id}
          row={opened.value.row_number}
          number={opened.value.phone_number}
          isAbout={isAbout}
          close={() => {
            opened.value = undefined
          }}
        />
      )}
    </Panel>
  )
}
