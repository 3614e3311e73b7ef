/** The people in the organization, and those who are invited. */
import { useSignal } from "@preact/signals"
import { ask, reasonOf } from "#gateway/console/base/api.ts"
import { caller, may, rolesToGive } from "#gateway/console/base/caller.ts"
import { Confirm } from "#gateway/console/base/Dialog.tsx"
import { Panel, Shown, When } from "#gateway/console/base/Parts.tsx"
import { useReading } from "#gateway/console/base/reading.ts"
import { type Column, Table } from "#gateway/console/base/Table.tsx"
import type { Caller } from "#gateway/console/base/types.ts"
import { Invitations } from "./Invitations.tsx"
import type { Member, Members as List } from "./types.ts"

const pathOf = ({ user_id: id }: Member) => `/organizations/members/${id}`

interface RowProps {
  readonly member: Member
  readonly renew: () => void
}

const Role = ({ member, renew }: RowProps) => {
  const chosen = useSignal<string>(member.role)
  const refused = useSignal<string | undefined>(undefined)
  const change = async (role: string) => {
    chosen.value = role
    refused.value = undefined
    try {
      await ask("PATCH", pathOf(member), { role })
      if (member.email === caller.value?.email) caller.value = await ask<Caller>("GET", "/auth/browser")
      renew()
    } catch (cause) {
      refused.value = reasonOf(cause)
      chosen.value = member.role
    }
  }
  return (
    <>
      <select aria-label={`Role of ${member.email}`} value={chosen.value} onChange={(event) => change(event.currentTarget.value)}>
        {rolesToGive().map((role) => (
          <option key={role} value={role}>
            {role}
          </option>
        ))}
      </select>
      {refused.value === undefined ? null : <span role="alert">{refused.value}</span>}
    </>
  )
}

const Remove = ({ member, renew }: RowProps) => (
  <Confirm
    label="Remove"
    about={member.email}
    title={`Remove ${member.email}?`}
    yes="Remove them"
    no="Keep them"
    act={async () => {
      await ask("DELETE", pathOf(member))
      renew()
    }}
  >
    <p>They lose access to this organization, and their API keys are refused.</p>
  </Confirm>
)

/** The last owner stays one, and nobody changes those who may do more than themselves. */
const isChangeable = (members: ReadonlyArray<Member>, { role }: Member): boolean =>
  may("admin", "admin") && may(role, "admin") && (role !== "owner" || members.filter((one) => one.role === "owner").length > 1)

const columnsFor = (members: ReadonlyArray<Member>, renew: () => void): ReadonlyArray<Column<Member>> => [
  { name: "E-mail address", show: ({ email }) => email },
  { name: "Name", show: ({ name }) => name },
  { name: "Role", show: (member) => (isChangeable(members, member) ? <Role member={member} renew={renew} /> : member.role) },
  { name: "Joined", show: ({ created_at: at }) => <When at={at} /> },
  { name: "", show: (member) => (isChangeable(members, member) ? <Remove member={member} renew={renew} /> : null) }
]

export const Members = () => {
  const members = useReading<List>("/organizations/members")
  return (
    <>
      <Panel title="Members">
        <Shown
          of={members}
          show={({ members: rows }) => (
            <Table
              label="Members"
              columns={columnsFor(rows, members.renew)}
              rows={rows}
              keyOf={({ user_id: id }) => id}
              empty="Nobody has an account here yet: only API keys are used."
            />
          )}
        />
      </Panel>
      {may("admin", "read") ? <Invitations /> : null}
    </>
  )
}
