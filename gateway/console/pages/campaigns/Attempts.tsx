/** All calls to a contact. */
import { Dialog } from "#gateway/console/base/Dialog.tsx"
import { Shown } from "#gateway/console/base/Parts.tsx"
import { useReading } from "#gateway/console/base/reading.ts"
import { type Column, Table } from "#gateway/console/base/Table.tsx"
import type { ContactAttempts, Happened } from "#gateway/console/base/types.ts"
import { lasting, moment, words } from "#gateway/console/base/words.ts"

type Attempt = ContactAttempts["attempts"][number]

const secondsOf = ({ answered_at: from, ended_at: until }: Attempt): string =>
  from === null || until === null ? "" : lasting((Date.parse(until) - Date.parse(from)) / 1000)

const columns: ReadonlyArray<Column<Attempt>> = [
  { name: "Placed", show: ({ created_at: created, sent_at: sent }) => moment(sent ?? created) },
  { name: "Outcome", show: ({ outcome, state }) => words(outcome ?? state) },
  { name: "Cause", show: ({ hangup_cause: cause }) => (cause === null ? "" : words(cause)) },
  { name: "Talked", isNumber: true, show: secondsOf },
  { name: "Call", show: ({ run }) => (run === null ? "" : <a href={`#/runs/${run.workflow_id}/${run.id}`}>Open</a>) }
]

interface AttemptsProps {
  readonly campaign: string
  readonly row: number
  readonly number: string
  readonly isAbout: (event: Happened) => boolean
  readonly close: () => void
}

export const Attempts = ({ campaign, close, isAbout, number, row }: AttemptsProps) => {
  const attempts = useReading<ContactAttempts>(`/campaign/${campaign}/contacts/${row}/attempts`, isAbout)
  return (
    <Dialog title={`Calls to ${number}`} close={close}>
      <Shown
        of={attempts}
        show={({ attempts }) => (
          <Table label={`Calls to ${number}`} columns={columns} rows={attempts} keyOf={({ call_id: id }) => id} empty="None yet." />
        )}
      />
      <p class="choices">
        <button type="button" onClick={close}>
          Close
        </button>
      </p>
    </Dialog>
  )
}
