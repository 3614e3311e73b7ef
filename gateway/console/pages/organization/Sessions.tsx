/** Where the user is logged in, and their password. */
import { ask, isSignedOut } from "#gateway/console/base/api.ts"
import { Confirm } from "#gateway/console/base/Dialog.tsx"
import { entered, Form, TextField } from "#gateway/console/base/Form.tsx"
import { Act, Panel, When } from "#gateway/console/base/Parts.tsx"
import { useReading } from "#gateway/console/base/reading.ts"
import { type Column, Table } from "#gateway/console/base/Table.tsx"
import type { Session, Sessions as List } from "./types.ts"

const forget = async () => {
  await ask("DELETE", "/auth/browser")
  isSignedOut.value = true
}

const columnsFor = (renew: () => void): ReadonlyArray<Column<Session>> => [
  { name: "From", show: ({ address, is_current: isCurrent }) => (isCurrent ? `${address}, this one` : address) },
  { name: "Began", show: ({ created_at: at }) => <When at={at} /> },
  { name: "Last used", show: ({ last_used_at: at }) => <When at={at} /> },
  { name: "Expires", show: ({ expires_at: at }) => <When at={at} /> },
  {
    name: "",
    show: ({ address, id, is_current: isCurrent }) => (
      <Act
        label="End"
        about={`the log-in from ${address}`}
        act={async () => {
          await ask("DELETE", `/user/sessions/${id}`)
          if (isCurrent) await forget()
          else renew()
        }}
      />
    )
  }
]

const EndAll = () => (
  <Confirm
    label="End all"
    title="End all log-ins?"
    yes="End all of them"
    no="Keep them"
    act={async () => {
      await ask("POST", "/auth/logout-everywhere")
      await forget()
    }}
  >
    <p>This one ends, too. API keys stay valid.</p>
  </Confirm>
)

const Password = ({ renew }: { readonly renew: () => void }) => {
  const change = async (form: FormData) => {
    await ask("PUT", "/user/password", {
      current_password: entered(form, "current_password") ?? "",
      new_password: String(form.get("new_password"))
    })
    renew()
  }
  return (
    <Panel title="Password">
      <Form label="Change" done="Changed. All other log-ins have ended." submit={change}>
        <TextField name="current_password" label="Current password" type="password" autocomplete="current-password" isRequired />
        <TextField
          name="new_password"
          label="New password"
          type="password"
          autocomplete="new-password"
          isRequired
          hint="At least 8 characters. All other log-ins end"
        />
      </Form>
    </Panel>
  )
}

export const Sessions = () => {
  const sessions = useReading<List>("/user/sessions")
  const found = sessions.value.value?.sessions
  if (sessions.error.value !== undefined) return <p class="note">{sessions.error.value}. An API key has no log-ins.</p>
  if (found === undefined) return <p class="none">Loading</p>
  return (
    <>
      <Panel title="Log-ins" more={<EndAll />}>
        <Table label="Log-ins" columns={columnsFor(sessions.renew)} rows={found} keyOf={({ id }) => id} empty="None." />
      </Panel>
      <Password renew={sessions.renew} />
    </>
  )
}
