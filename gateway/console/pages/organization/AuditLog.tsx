/** Who changed what, the newest first. */
import { Panel, Shown, When } from "#gateway/console/base/Parts.tsx"
import { useReading } from "#gateway/console/base/reading.ts"
import { type Column, Table } from "#gateway/console/base/Table.tsx"
import { Turns, useTurned } from "#gateway/console/base/Turns.tsx"
import { words } from "#gateway/console/base/words.ts"
import type { AuditEntry, AuditLog as Log } from "./types.ts"

const whoOf = ({ api_key_id: key, api_key_name: keyName, user_email: email }: AuditEntry): string => {
  const program = key === null ? [] : [`key ${keyName ?? key}`]
  return [...(email === null ? [] : [email]), ...program].join(", ")
}

const columns: ReadonlyArray<Column<AuditEntry>> = [
  { name: "When", show: ({ at }) => <When at={at} /> },
  { name: "Who", show: whoOf },
  { name: "What", show: ({ action }) => words(action.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)) },
  { name: "Of", show: ({ resource_id: id, resource_kind: kind }) => `${words(kind)} ${id ?? ""}` },
  { name: "From", show: ({ address }) => address }
]

export const AuditLog = () => {
  const turned = useTurned()
  const before = turned.value.at(-1)
  const log = useReading<Log>(`/organizations/audit-log${before === undefined ? "" : `?before=${before}`}`)
  return (
    <Panel title="Audit log">
      <Shown
        of={log}
        show={({ entries, next_before: next }) => (
          <>
            <Table label="Audit log" columns={columns} rows={entries} keyOf={({ id }) => id} empty="Nothing yet." />
            <Turns of={turned} next={next === null ? undefined : String(next)} />
          </>
        )}
      />
    </Panel>
  )
}
