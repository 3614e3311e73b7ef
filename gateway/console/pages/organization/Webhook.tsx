/** One webhook endpoint, and what has become of the events that were sent to it. */
import { useSignal } from "@preact/signals"
import { ask } from "#gateway/console/base/api.ts"
import { may } from "#gateway/console/base/caller.ts"
import { Confirm } from "#gateway/console/base/Dialog.tsx"
import { Act, Panel, Shown, State, When } from "#gateway/console/base/Parts.tsx"
import { useReading } from "#gateway/console/base/reading.ts"
import { go } from "#gateway/console/base/router.ts"
import { type Column, Table } from "#gateway/console/base/Table.tsx"
import { Turns, useTurned } from "#gateway/console/base/Turns.tsx"
import type { Standing } from "#gateway/console/base/words.ts"
import { EndpointForm, eventsOf, Secret } from "./EndpointForm.tsx"
import type { Deliveries, Delivery, Endpoint, EndpointSecret } from "./types.ts"
import { EndpointState } from "./Webhooks.tsx"

const PAGE = 50
const standings: Readonly<Record<Delivery["state"], Standing>> = { pending: "waiting", delivered: "good", dead: "bad" }

const Outcome = ({ of: { last_error: error, last_status: status } }: { readonly of: Delivery }) => (
  <>
    {status === null ? null : `HTTP ${status}`} {error}
  </>
)

const columns: ReadonlyArray<Column<Delivery>> = [
  { name: "Event", show: ({ event_type: type, subject }) => `${type} ${subject}` },
  { name: "State", show: ({ state }) => <State as={standings[state]} of={state} /> },
  { name: "Tries", isNumber: true, show: ({ attempts }) => attempts },
  { name: "Last try", show: ({ last_attempt_at: at }) => <When at={at} /> },
  { name: "Answer", show: (delivery) => <Outcome of={delivery} /> },
  { name: "Next try", show: ({ next_attempt_at: at }) => <When at={at} /> }
]

const DeliveryList = ({ id }: { readonly id: string }) => {
  const path = `/organizations/webhook-endpoints/${id}`
  const turned = useTurned()
  const before = turned.value.at(-1)
  const deliveries = useReading<Deliveries>(
    `${path}/deliveries?limit=${PAGE}${before === undefined ? "" : `&before_id=${before}`}`,
    () => true
  )
  const replay = async (below: string) => {
    await ask("POST", `${path}${below}`)
    deliveries.renew()
  }
  const acts: Column<Delivery> = {
    name: "",
    show: ({ event_type: type, id, state }) =>
      state === "dead" ? <Act label="Resend" about={`${type} ${id}`} act={() => replay(`/deliveries/${id}/replay`)} /> : null
  }
  return (
    <Panel
      title="Deliveries of the last seven days"
      more={
        <span class="choices">
          <button type="button" onClick={deliveries.renew}>
            Refresh
          </button>
          {may("admin", "admin") ? <Act label="Resend all that have failed" act={() => replay("/replay")} /> : null}
        </span>
      }
    >
      <Shown
        of={deliveries}
        show={({ deliveries: rows }) => (
          <>
            <Table
              label="Deliveries"
              columns={may("admin", "admin") ? [...columns, acts] : columns}
              rows={rows}
              keyOf={({ id }) => id}
              empty="None."
            />
            <Turns of={turned} next={rows.length < PAGE ? undefined : rows.at(-1)?.id.toString()} />
          </>
        )}
      />
    </Panel>
  )
}

interface EditProps {
  readonly endpoint: Endpoint
  readonly renew: () => void
}

const Acts = ({ endpoint: { enabled, id, url }, renew }: EditProps) => {
  const path = `/organizations/webhook-endpoints/${id}`
  return (
    <span class="choices">
      {enabled ? <Act label="Send a test event" act={() => ask("POST", `${path}/test`)} /> : null}
      <Act
        label={enabled ? "Disable" : "Enable"}
        act={async () => {
          await ask("PATCH", path, { enabled: !enabled })
          renew()
        }}
      />
      <Confirm
        label="Delete"
        title={`Delete ${url}?`}
        yes="Delete it"
        no="Keep it"
        act={async () => {
          await ask("DELETE", path)
          go("organization/webhooks")
        }}
      >
        <p>What has not been delivered yet is dropped.</p>
      </Confirm>
    </span>
  )
}

const Rotate = ({ id }: Pick<Endpoint, "id">) => {
  const made = useSignal<EndpointSecret | undefined>(undefined)
  return (
    <>
      <Confirm
        label="New secret"
        title="Create a new secret?"
        yes="Create it"
        no="Keep the present one"
        act={async () => {
          made.value = await ask<EndpointSecret>("POST", `/organizations/webhook-endpoints/${id}/rotate-secret`)
        }}
      >
        <p>For 24 hours, everything is also signed with the present one.</p>
      </Confirm>
      {made.value === undefined ? null : <Secret of={made.value} />}
    </>
  )
}

const Edit = ({ endpoint, renew }: EditProps) => (
  <Panel title="Settings" more={<Rotate id={endpoint.id} />}>
    <EndpointForm
      endpoint={endpoint}
      label="Save"
      done="Saved."
      submit={async (body) => {
        await ask("PATCH", `/organizations/webhook-endpoints/${endpoint.id}`, body)
        renew()
      }}
    />
  </Panel>
)

export const Webhook = ({ id }: { readonly id: string }) => {
  const endpoint = useReading<Endpoint>(`/organizations/webhook-endpoints/${id}`)
  return (
    <Shown
      of={endpoint}
      show={(its) => (
        <>
          <Panel title={its.url} more={may("admin", "admin") ? <Acts endpoint={its} renew={endpoint.renew} /> : null}>
            <dl class="facts">
              <dt>State</dt>
              <dd>
                <EndpointState of={its} />
              </dd>
              <dt>Events</dt>
              <dd>{eventsOf(its)}</dd>
              <dt>Description</dt>
              <dd>{its.description}</dd>
            </dl>
          </Panel>
          <DeliveryList id={id} />
          {may("admin", "admin") ? <Edit endpoint={its} renew={endpoint.renew} /> : null}
        </>
      )}
    />
  )
}
