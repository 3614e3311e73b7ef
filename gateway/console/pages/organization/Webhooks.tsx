/** Where events are sent. */
import { useSignal } from "@preact/signals"
import { ask } from "#gateway/console/base/api.ts"
import { may } from "#gateway/console/base/caller.ts"
import { Panel, Shown, State } from "#gateway/console/base/Parts.tsx"
import { useReading } from "#gateway/console/base/reading.ts"
import { type Column, Table } from "#gateway/console/base/Table.tsx"
import { EndpointForm, eventsOf, Secret } from "./EndpointForm.tsx"
import type { Endpoint, EndpointSecret, Endpoints } from "./types.ts"

const path = "/organizations/webhook-endpoints"

export const EndpointState = ({ of: { disabled_reason: reason, enabled } }: { readonly of: Endpoint }) => (
  <>
    <State as={enabled ? "good" : "over"} of={enabled ? "enabled" : "disabled"} />
    {reason === null ? null : <span class="figures">It has answered 410: it wants no more events.</span>}
  </>
)

const columns: ReadonlyArray<Column<Endpoint>> = [
  { name: "URL", show: ({ id, url }) => <a href={`#/organization/webhooks/${id}`}>{url}</a> },
  { name: "Description", show: ({ description }) => description },
  { name: "Events", show: eventsOf },
  { name: "State", show: (endpoint) => <EndpointState of={endpoint} /> }
]

const Create = ({ renew }: { readonly renew: () => void }) => {
  const made = useSignal<EndpointSecret | undefined>(undefined)
  const create = async (body: object) => {
    made.value = undefined
    made.value = await ask<EndpointSecret>("POST", path, body)
    renew()
  }
  return (
    <details>
      <summary>Add an endpoint</summary>
      <EndpointForm label="Add" isForMany submit={create} />
      {made.value === undefined ? null : <Secret of={made.value} />}
    </details>
  )
}

export const Webhooks = () => {
  const endpoints = useReading<Endpoints>(path)
  return (
    <Panel title="Webhooks">
      <Shown
        of={endpoints}
        show={({ endpoints: rows }) => (
          <Table label="Webhooks" columns={columns} rows={rows} keyOf={({ id }) => id} empty="None: events are sent nowhere." />
        )}
      />
      {may("admin", "admin") ? <Create renew={endpoints.renew} /> : null}
    </Panel>
  )
}
