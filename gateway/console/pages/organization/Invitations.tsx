/** Inviting people: they get a link, which works once. */
import { useSignal } from "@preact/signals"
import { ask } from "#gateway/console/base/api.ts"
import { caller, may, rolesToGive } from "#gateway/console/base/caller.ts"
import { Confirm } from "#gateway/console/base/Dialog.tsx"
import { ChoiceField, entered, enteredNumber, Form, TextField } from "#gateway/console/base/Form.tsx"
import { Copied, Panel, Shown, State, When } from "#gateway/console/base/Parts.tsx"
import { useReading } from "#gateway/console/base/reading.ts"
import { type Column, Table } from "#gateway/console/base/Table.tsx"
import type { Standing } from "#gateway/console/base/words.ts"
import type { Invitation, Invitations as List, NewInvitation } from "./types.ts"

const path = "/organizations/invitations"
const standings: Readonly<Record<Invitation["status"], Standing>> = {
  pending: "waiting",
  redeemed: "good",
  revoked: "over",
  expired: "over"
}

const columnsFor = (renew: () => void): ReadonlyArray<Column<Invitation>> => [
  { name: "E-mail address", show: ({ email }) => email },
  { name: "Role", show: ({ role }) => role },
  { name: "State", show: ({ status }) => <State as={standings[status]} of={status} /> },
  { name: "Expires", show: ({ expires_at: at, status }) => (status === "pending" ? <When at={at} /> : null) },
  {
    name: "",
    show: ({ email, id, role, status }) =>
      status !== "pending" || !may("admin", "admin") || !may(role, "admin") ? null : (
        <Confirm
          label="Revoke"
          about={email}
          title={`Revoke the invitation of ${email}?`}
          yes="Revoke it"
          no="Keep it"
          act={async () => {
            await ask("DELETE", `${path}/${id}`)
            renew()
          }}
        >
          <p>Its link is refused from then on.</p>
        </Confirm>
      )
  }
]

const linkOf = (token: string) => `${location.origin}${location.pathname}#/invitation/${encodeURIComponent(token)}`

const Invite = ({ renew }: { readonly renew: () => void }) => {
  const made = useSignal<NewInvitation | undefined>(undefined)
  const invite = async (form: FormData) => {
    made.value = undefined
    made.value = await ask<NewInvitation>("POST", path, {
      email: entered(form, "email"),
      role: entered(form, "role"),
      expires_in_days: enteredNumber(form, "expires_in_days")
    })
    renew()
  }
  return (
    <details>
      <summary>Invite somebody</summary>
      <Form label="Invite" isForMany submit={invite}>
        <TextField name="email" label="E-mail address" type="email" isRequired />
        <ChoiceField name="role" label="Role" value="member" choices={rolesToGive().map((role) => [role, role])} />
        <TextField name="expires_in_days" label="Days until it expires" type="number" min={1} max={30} isRequired value={7} />
      </Form>
      {made.value === undefined ? null : (
        <p>
          Send this link to {made.value.email}. It is shown only now: <Copied text={linkOf(made.value.token)} />
        </p>
      )}
    </details>
  )
}

/** A key that is restricted in any way cannot invite. */
const mayInvite = () => may("admin", "admin") && caller.value?.scopes === null

export const Invitations = () => {
  const invitations = useReading<List>(path)
  return (
    <Panel title="Invitations">
      <Shown
        of={invitations}
        show={({ invitations: rows }) => (
          <Table label="Invitations" columns={columnsFor(invitations.renew)} rows={rows} keyOf={({ id }) => id} empty="None." />
        )}
      />
      {mayInvite() ? <Invite renew={invitations.renew} /> : null}
    </Panel>
  )
}
