/** What happens now: calls in progress, limits, trunks, campaigns under way, and the latest events. */
import { lately } from "#gateway/console/base/follow.ts"
import { pushedQuotas } from "#gateway/console/base/figures.ts"
import { Bar, Panel, Shown, State, When } from "#gateway/console/base/Parts.tsx"
import { useReading } from "#gateway/console/base/reading.ts"
import { type Column, Table } from "#gateway/console/base/Table.tsx"
import type { Campaign, Campaigns, Engines, Happened, Quotas, Trunks } from "#gateway/console/base/types.ts"
import { figure, words } from "#gateway/console/base/words.ts"
import { useProgress } from "#gateway/console/pages/campaigns/progress.ts"
import { FirstSteps } from "./FirstSteps.tsx"

const isCall = ({ type }: Pick<Happened, "type">) => type.startsWith("run.") || type.startsWith("campaign.")
const isCampaign = ({ type }: Pick<Happened, "type">) => type.startsWith("campaign.")

/** What changes less often than calls do. */
const seldom = { pause: 10_000 }

const Done = ({ id }: { readonly id: number }) => (
  <Shown
    of={useProgress(id)}
    show={({ completed, failed, pending, processed, total }) => (
      <>
        <Bar label={`${figure(processed)} of ${figure(total)} contacts dialed`} share={total === 0 ? 0 : processed / total} />
        <span class="figures">
          {figure(completed)} reached, {figure(failed)} failed, {figure(pending)} left
        </span>
      </>
    )}
  />
)

const campaignColumns: ReadonlyArray<Column<Campaign>> = [
  { name: "Name", show: ({ id, name }) => <a href={`#/campaigns/${id}`}>{name}</a> },
  { name: "State", show: ({ state }) => <State of={state} /> },
  { name: "Contacts", show: ({ id }) => <Done id={id} /> },
  {
    name: "Limits",
    show: ({ max_concurrency: most, rate_limit: rate }) => `${most === null ? "" : `${figure(most)} at once, `}${figure(rate)} a second`
  }
]

const Running = () => {
  const campaigns = useReading<Campaigns>("/campaign/?state=running,paused", isCampaign)
  return (
    <Panel title="Campaigns under way">
      <Shown
        of={campaigns}
        show={({ campaigns }) => (
          <Table
            label="Campaigns under way"
            columns={campaignColumns}
            rows={campaigns}
            keyOf={({ id }) => id}
            empty="None. Start one under Campaigns."
          />
        )}
      />
    </Panel>
  )
}

const Calls = () => {
  const quotas = useReading<Quotas>("/organizations/quotas", undefined, { pushed: pushedQuotas })
  return (
    <Panel title="Calls">
      <Shown
        of={quotas}
        show={({ calls: { limit, used } }) => (
          <p class="large">
            <strong id="calls-up">{figure(used ?? 0)}</strong> of {figure(limit)} at once{" "}
            <Bar label={`${used ?? 0} of ${limit} calls`} share={(used ?? 0) / Math.max(1, limit)} />
          </p>
        )}
      />
    </Panel>
  )
}

const trunkColumns: ReadonlyArray<Column<Trunks["trunks"][number]>> = [
  { name: "Provider", show: ({ provider }) => provider },
  { name: "State", show: ({ status }) => <State of={status} /> },
  { name: "Reason", show: ({ reason }) => reason }
]

const TrunkList = () => {
  const trunks = useReading<Trunks>("/organizations/telephony-trunks", isCall, seldom)
  return (
    <Panel title="Trunks">
      <Shown
        of={trunks}
        show={({ trunks }) => (
          <Table
            label="Trunks"
            columns={trunkColumns}
            rows={trunks}
            keyOf={({ telephony_configuration_id: id }) => id}
            empty="None has been used since the engine's start."
          />
        )}
      />
    </Panel>
  )
}

const engineColumns: ReadonlyArray<Column<Engines["engines"][number]>> = [
  { name: "Engine", show: ({ name }) => name },
  { name: "Role", show: ({ role }) => words(role) },
  { name: "Since", show: ({ since }) => <When at={since} /> },
  { name: "Calls", isNumber: true, show: ({ calls }) => figure(calls) }
]

const EngineTable = () => {
  const engines = useReading<Engines>("/organizations/engines", isCall, seldom)
  return (
    <Panel title="Engines">
      <Shown
        of={engines}
        show={({ engines }) => (
          <Table label="Engines" columns={engineColumns} rows={engines} keyOf={({ name }) => name} empty="None dials." />
        )}
      />
    </Panel>
  )
}

const subjectOf = ({ data, subject }: Happened) => {
  const [kind = "", id = ""] = subject.split("/")
  const name = typeof data["name"] === "string" ? data["name"] : subject
  const { workflow_id: agent } = data
  if (kind === "campaigns") return <a href={`#/campaigns/${id}`}>{name}</a>
  return kind === "runs" && typeof agent === "number" ? <a href={`#/runs/${agent}/${id}`}>{name}</a> : name
}

const eventColumns: ReadonlyArray<Column<Happened>> = [
  { name: "When", show: ({ time }) => <When at={time} /> },
  { name: "What", show: ({ type }) => words(type) },
  { name: "Where", show: subjectOf }
]

export const Now = () => (
  <>
    <h1>Now</h1>
    <FirstSteps />
    <div class="columns">
      <Calls />
      <TrunkList />
      <EngineTable />
    </div>
    <Running />
    <Panel title="Just happened">
      <Table
        label="Just happened"
        columns={eventColumns}
        rows={lately.value}
        keyOf={({ id }) => id}
        empty="Nothing since this page was opened."
      />
    </Panel>
  </>
)
