/** The numbers that calls of a configuration show to callees. */
import { useSignal } from "@preact/signals"
import { ask } from "#gateway/console/base/api.ts"
import { Confirm } from "#gateway/console/base/Dialog.tsx"
import { CheckField, entered, enteredNumber, Form, TextField } from "#gateway/console/base/Form.tsx"
import { Act, Fault, Panel, Shown, State } from "#gateway/console/base/Parts.tsx"
import { useReading } from "#gateway/console/base/reading.ts"
import { type Column, Table } from "#gateway/console/base/Table.tsx"
import { figure } from "#gateway/console/base/words.ts"
import { CarrierImport } from "./CarrierImport.tsx"
import type { Numbers } from "./types.ts"

type Row = Numbers["phone_numbers"][number]
type Changed = Pick<Row, "provider_sync">

const Shape = ({ of: { is_active: isActive, refused_reason: refused } }: { readonly of: Row }) => (
  <>
    <State
      as={refused !== null ? "bad" : isActive ? "good" : "over"}
      of={refused !== null ? "refused" : isActive ? "active" : "inactive"}
    />
    {refused === null ? null : <span class="figures">The carrier does not let calls show it: {refused}</span>}
  </>
)

interface ActsProps {
  readonly of: Row
  readonly path: string
  readonly changed: (answer: Changed) => void
}

const Acts = ({
  of: { address, id, is_active: isActive, is_default_caller_id: isDefault, refused_reason: refused },
  changed,
  path
}: ActsProps) => {
  const send = async (method: string, below: string, body?: object) => {
    changed(await ask<Changed>(method, `${path}/${id}${below}`, body))
  }
  return (
    <span class="choices">
      {isActive && refused === null ? (
        <Act label="Deactivate" about={address} act={() => send("PUT", "", { is_active: false })} />
      ) : (
        <Act label="Activate" about={address} act={() => send("PUT", "", { is_active: true })} />
      )}
      {isDefault ? null : <Act label="Make default" about={address} act={() => send("POST", "/set-default-caller")} />}
      <Confirm label="Remove" about={address} title={`Remove ${address}?`} yes="Remove it" no="Keep it" act={() => send("DELETE", "")}>
        <p>Only here: the carrier keeps it. No later call is placed from it.</p>
      </Confirm>
    </span>
  )
}

const facts: ReadonlyArray<Column<Row>> = [
  { name: "Number", show: ({ address }) => address },
  { name: "Label", show: ({ label }) => label },
  { name: "State", show: (number) => <Shape of={number} /> },
  { name: "Single calls", show: ({ is_default_caller_id: isDefault }) => (isDefault ? "Default" : "") },
  { name: "Calls at once", isNumber: true, show: ({ max_concurrent: most }) => (most === null ? "no limit" : figure(most)) }
]

const Added = ({ changed, path }: Omit<ActsProps, "of">) => {
  const add = async (form: FormData) => {
    const answer = await ask<Changed>("POST", path, {
      address: entered(form, "address"),
      label: entered(form, "label") ?? null,
      max_concurrent: enteredNumber(form, "max_concurrent") ?? null,
      is_default_caller_id: form.has("is_default_caller_id")
    })
    changed(answer)
  }
  return (
    <details>
      <summary>Add a number</summary>
      <Form label="Add" done="Added." isForMany submit={add}>
        <TextField name="address" label="Number" isRequired placeholder="+14155550100" hint="E.164, or a SIP address or an extension" />
        <TextField name="label" label="Label (optional)" />
        <TextField name="max_concurrent" label="Calls at once (optional)" type="number" min={1} hint="How many calls may show it at once" />
        <CheckField name="is_default_caller_id" label="Default for single calls" />
      </Form>
    </details>
  )
}

export const PhoneNumbers = ({ id, isEditable }: { readonly id: string; readonly isEditable: boolean }) => {
  const path = `/organizations/telephony-configs/${id}/phone-numbers`
  const numbers = useReading<Numbers>(path)
  const warning = useSignal<string | undefined>(undefined)
  const changed = ({ provider_sync: sync }: Changed) => {
    warning.value = sync === null || sync.ok ? undefined : (sync.message ?? "The carrier has not taken the change")
    numbers.renew()
  }
  const acts: Column<Row> = { name: "", show: (number) => <Acts of={number} path={path} changed={changed} /> }
  return (
    <Panel title="Numbers">
      <Shown
        of={numbers}
        show={({ phone_numbers: rows }) => (
          <Table label="Numbers" columns={isEditable ? [...facts, acts] : facts} rows={rows} keyOf={({ id }) => id} empty="None yet." />
        )}
      />
      {isEditable ? (
        <>
          {warning.value === undefined ? null : <Fault>{warning.value}</Fault>}
          <Added path={path} changed={changed} />
          <CarrierImport id={id} renew={numbers.renew} />
        </>
      ) : null}
    </Panel>
  )
}
