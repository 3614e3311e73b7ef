/** How much the organization may have, how much it uses, and lowering that. */
import { ask } from "#gateway/console/base/api.ts"
import { may } from "#gateway/console/base/caller.ts"
import { pushedQuotas } from "#gateway/console/base/figures.ts"
import { enteredNumber, Form, TextField } from "#gateway/console/base/Form.tsx"
import { Bar, Panel, Shown } from "#gateway/console/base/Parts.tsx"
import { useReading } from "#gateway/console/base/reading.ts"
import { type Column, Table } from "#gateway/console/base/Table.tsx"
import { figure } from "#gateway/console/base/words.ts"
import type { OwnQuotas, Quotas as All } from "./types.ts"

const path = "/organizations/quotas"
type Name = keyof All
const names: Readonly<Record<Name, string>> = {
  calls: "Calls at once",
  storage_bytes: "Stored files",
  rows: "Contacts in all campaigns",
  agents: "Agents",
  keys: "API keys",
  text_chats: "Open text chats",
  text_chat_turns: "Turns per text chat",
  followers: "Event connections, per engine",
  requests_per_second: "Requests per second, per engine",
  request_burst: "Burst of requests, per engine"
}
/** Those that an organization may lower for itself. */
const lowerable: Readonly<Record<keyof OwnQuotas, true>> = {
  calls: true,
  storage_bytes: true,
  rows: true,
  agents: true,
  keys: true,
  text_chats: true,
  text_chat_turns: true,
  followers: true
}
// Cast: the names of a record are its keys.
const lowerableNames = Object.keys(lowerable) as ReadonlyArray<keyof OwnQuotas>

const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]
/** `1.5 GiB` */
const bytes = (count: number): string => {
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, count)) / 10))
  return `${figure(Math.round((10 * count) / 1024 ** power) / 10)} ${units[power]}`
}
const shown = (name: Name, count: number): string => (name === "storage_bytes" ? bytes(count) : figure(count))

interface Row {
  readonly name: Name
  readonly quota: All[Name]
}

const Use = ({ name, quota: { limit, used } }: Row) => {
  if (used === null) return <span class="none">not counted</span>
  const label = `${shown(name, used)} of ${shown(name, limit)}`
  return (
    <>
      <Bar label={label} share={used / Math.max(1, limit)} /> <span class="figures">{label}</span>
    </>
  )
}

const columns: ReadonlyArray<Column<Row>> = [
  { name: "Quota", show: ({ name }) => names[name] },
  { name: "In use", show: (row) => <Use {...row} /> },
  { name: "Limit", isNumber: true, show: ({ name, quota: { limit } }) => shown(name, limit) },
  { name: "Allowed by the operator", isNumber: true, show: ({ name, quota: { allowed } }) => shown(name, allowed) }
]

const Lower = ({ quotas, renew }: { readonly quotas: All; readonly renew: () => void }) => {
  const lower = async (form: FormData) => {
    await ask("PUT", path, Object.fromEntries(lowerableNames.map((name) => [name, enteredNumber(form, name) ?? null])))
    renew()
  }
  return (
    <Panel title="Lower the limits">
      <Form label="Save" done="Saved. Existing data stays, and calls in progress continue." submit={lower}>
        <p class="note">Empty: as much as the operator allows.</p>
        {lowerableNames.map((name) => (
          <TextField
            key={name}
            name={name}
            label={name === "storage_bytes" ? `${names[name]}, in bytes` : names[name]}
            type="number"
            min={0}
            hint={`At most ${figure(quotas[name].allowed)}`}
            value={quotas[name].own}
          />
        ))}
      </Form>
    </Panel>
  )
}

export const Quotas = () => {
  const quotas = useReading<All>(path, undefined, { pushed: pushedQuotas })
  return (
    <Shown
      of={quotas}
      show={(all) => (
        <>
          <Panel title="Quotas">
            <Table
              label="Quotas"
              columns={columns}
              // Cast: the names of a record are its keys.
              rows={(Object.keys(names) as ReadonlyArray<Name>).map((name) => ({ name, quota: all[name] }))}
              keyOf={({ name }) => name}
              empty=""
            />
          </Panel>
          {may("admin", "admin") ? <Lower quotas={all} renew={quotas.renew} /> : null}
        </>
      )}
    />
  )
}
