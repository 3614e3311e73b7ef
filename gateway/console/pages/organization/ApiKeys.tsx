/** Keys for programs. A key is shown once, when it is created. */
import { useSignal } from "@preact/signals"
import { ask } from "#gateway/console/base/api.ts"
import { caller, may, rolesToGive } from "#gateway/console/base/caller.ts"
import { Confirm } from "#gateway/console/base/Dialog.tsx"
import { ChoiceField, ChoicesField, chosen, entered, Form, TextField } from "#gateway/console/base/Form.tsx"
import { Act, Copied, Panel, Shown, State, When } from "#gateway/console/base/Parts.tsx"
import { useReading } from "#gateway/console/base/reading.ts"
import { type Column, Table } from "#gateway/console/base/Table.tsx"
import type { Caller } from "#gateway/console/base/types.ts"
import type { ApiKey, NewApiKey } from "./types.ts"

const path = "/user/api-keys"
type Scope = NonNullable<Caller["scopes"]>[number]
const scopes: Readonly<Record<Scope, string>> = {
  read: "read: everything that changes nothing",
  calls: "calls: start calls",
  campaigns: "campaigns: create and change campaigns, and upload lists",
  agents: "agents: create and change agents, and what they use",
  admin: "admin: everything else"
}

const Standing = ({ of: { archived_at: archived, is_active: isActive } }: { readonly of: ApiKey }) => {
  if (archived !== null) return <State of="archived" />
  return isActive ? <State of="active" /> : <State as="bad" of="refused" />
}

/** Nobody changes a key that may do more than themselves. */
const isWithin = ({ role, scopes: of }: ApiKey): boolean => {
  const own = caller.value?.scopes ?? null
  return may("admin", "admin") && may(role, "admin") && (own === null || of?.every((scope) => own.includes(scope)) === true)
}

const Acts = ({ of, renew }: { readonly of: ApiKey; readonly renew: () => void }) => {
  if (!isWithin(of)) return null
  const reactivate = async () => {
    await ask("PUT", `${path}/${of.id}/reactivate`)
    renew()
  }
  if (of.archived_at !== null) return <Act label="Reactivate" about={of.name} act={reactivate} />
  return (
    <Confirm
      label="Archive"
      about={of.name}
      title={`Archive the key ${of.name}?`}
      yes="Archive it"
      no="Keep it"
      act={async () => {
        await ask("DELETE", `${path}/${of.id}`)
        renew()
      }}
    >
      <p>It is refused from then on, and so are the keys that were created with it. It can be reactivated.</p>
    </Confirm>
  )
}

const columnsFor = (renew: () => void): ReadonlyArray<Column<ApiKey>> => [
  { name: "Name", show: ({ name }) => name },
  { name: "Begins with", show: ({ key_prefix: prefix }) => <code>{prefix}</code> },
  { name: "Role", show: ({ is_operator: isOperator, role }) => (isOperator ? `${role}, operator` : role) },
  { name: "Scopes", show: ({ scopes: of }) => of?.join(", ") ?? "all" },
  { name: "State", show: (key) => <Standing of={key} /> },
  { name: "Last used", show: ({ last_used_at: at }) => <When at={at} /> },
  { name: "Expires", show: ({ expires_at: at }) => (at === null ? "never" : <When at={at} />) },
  { name: "", show: (key) => <Acts of={key} renew={renew} /> }
]

/** The end of that day where the browser is. */
const endOf = (day: string | undefined) => (day === undefined ? null : new Date(`${day}T23:59:59`).toISOString())

const Create = ({ renew }: { readonly renew: () => void }) => {
  const made = useSignal<NewApiKey | undefined>(undefined)
  const create = async (form: FormData) => {
    const given = chosen(form, "scopes")
    made.value = await ask<NewApiKey>("POST", path, {
      name: entered(form, "name"),
      role: entered(form, "role"),
      scopes: given.length === 0 ? null : given,
      expires_at: endOf(entered(form, "expires_at"))
    })
    renew()
  }
  const own = caller.value?.scopes ?? null
  return (
    <details>
      <summary>Create a key</summary>
      {made.value === undefined ? (
        <Form label="Create" submit={create}>
          <TextField name="name" label="Name" isRequired />
          <ChoiceField name="role" label="Role" value="member" choices={rolesToGive().map((role) => [role, role])} />
          <ChoicesField
            name="scopes"
            label="Scopes"
            hint="None chosen: whatever its role allows"
            choices={Object.entries(scopes).filter(([scope]) => own?.some((one) => one === scope) !== false)}
          />
          <TextField name="expires_at" label="Last day (optional)" type="date" />
        </Form>
      ) : (
        <>
          <p>
            The key of {made.value.name}. It is shown only now: <Copied text={made.value.api_key} />
          </p>
          <button
            type="button"
            onClick={() => {
              made.value = undefined
            }}
          >
            Hide it
          </button>
        </>
      )}
    </details>
  )
}

export const ApiKeys = () => {
  const withArchived = useSignal(false)
  const keys = useReading<ReadonlyArray<ApiKey>>(`${path}?include_archived=${withArchived.value}`)
  return (
    <Panel title="API keys">
      <label class="check">
        <input
          type="checkbox"
          checked={withArchived.value}
          onChange={(event) => {
            withArchived.value = event.currentTarget.checked
          }}
        />{" "}
        Show archived keys
      </label>
      <Shown
        of={keys}
        show={(rows) => <Table label="API keys" columns={columnsFor(keys.renew)} rows={rows} keyOf={({ id }) => id} empty="None." />}
      />
      {may("admin", "admin") ? <Create renew={keys.renew} /> : null}
    </Panel>
  )
}
