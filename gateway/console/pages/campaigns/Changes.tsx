/** What can be changed about a campaign: its limits, and calling again those who were not reached. */
import { useSignal } from "@preact/signals"
import { ask } from "#gateway/console/base/api.ts"
import { Dialog } from "#gateway/console/base/Dialog.tsx"
import { CheckField, entered, Form, TextField } from "#gateway/console/base/Form.tsx"
import { go } from "#gateway/console/base/router.ts"
import type { Campaign } from "#gateway/console/base/types.ts"
import { callingOf, SettingsFields, settingsIn } from "./SettingsFields.tsx"

interface ChangeProps {
  readonly its: Campaign
  readonly close: () => void
}

const leave = (close: () => void) => (
  <button type="button" onClick={close}>
    Leave it as it is
  </button>
)

const EditDialog = ({ close, its, renew }: ChangeProps & { readonly renew: () => void }) => {
  const calling = useSignal(callingOf(its.schedule_config))
  const save = async (fields: FormData) => {
    const change = { name: entered(fields, "name"), ...settingsIn(fields, calling.peek(), its.retry_config) }
    await ask("PATCH", `/campaign/${its.id}`, change)
    renew()
    close()
  }
  return (
    <Dialog title={`Edit ${its.name}`} close={close}>
      <Form label="Save" submit={save} more={leave(close)}>
        <TextField name="name" label="Name" value={its.name} isRequired />
        <SettingsFields before={its} calling={calling} contacts={its.total_rows - its.processed_rows} />
      </Form>
    </Dialog>
  )
}

const reasons = [
  ["retry_on_voicemail", "a machine answered", true],
  ["retry_on_no_answer", "nobody answered", true],
  ["retry_on_busy", "the line was busy", true],
  ["retry_on_unknown", "nobody knows: they may have been reached already", false]
] as const

const RedialDialog = ({ close, its }: ChangeProps) => {
  const redial = async (fields: FormData) => {
    const chosen = Object.fromEntries(reasons.map(([name]) => [name, fields.get(name) !== null]))
    const made = await ask<Campaign>("POST", `/campaign/${its.id}/redial`, { name: entered(fields, "name"), ...chosen })
    go(`campaigns/${made.id}`)
    close()
  }
  return (
    <Dialog title="Call again those who were not reached" close={close}>
      <p>A new campaign is created from the contacts of this one. It does not start by itself.</p>
      <Form label="Create campaign" submit={redial} more={leave(close)}>
        <TextField name="name" label="Name" value={`${its.name} again`} isRequired />
        {reasons.map(([name, label, isChecked]) => (
          <CheckField key={name} name={name} label={`If ${label}`} isChecked={isChecked} />
        ))}
      </Form>
    </Dialog>
  )
}

/** The buttons that open them. */
export const Changes = ({ its, renew }: { readonly its: Campaign; readonly renew: () => void }) => {
  const open = useSignal<"edit" | "redial" | undefined>(undefined)
  const close = () => {
    open.value = undefined
  }
  const isOver = its.state === "completed" || its.state === "failed"
  return (
    <>
      {isOver || its.state === "running" ? null : (
        <button
          type="button"
          onClick={() => {
            open.value = "edit"
          }}
        >
          Edit
        </button>
      )}
      {isOver ? (
        <button
          type="button"
          onClick={() => {
            open.value = "redial"
          }}
        >
          Redial
        </button>
      ) : null}
      {open.value === "edit" ? <EditDialog its={its} close={close} renew={renew} /> : null}
      {open.value === "redial" ? <RedialDialog its={its} close={close} /> : null}
    </>
  )
}
