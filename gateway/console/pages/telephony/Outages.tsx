/** When a trunk could not be reached, and why. */
import { Panel, Shown, When } from "#gateway/console/base/Parts.tsx"
import { useReading } from "#gateway/console/base/reading.ts"
import { type Column, Table } from "#gateway/console/base/Table.tsx"
import type { TrunkOutages } from "#gateway/console/base/types.ts"
import { lasting } from "#gateway/console/base/words.ts"
import { isOfTrunk } from "./Configs.tsx"

const seldom = { pause: 10_000 }

type Outage = TrunkOutages["outages"][number]

const lastedOf = ({ began_at: from, ended_at: until }: Outage): string =>
  until === null ? "not over" : lasting((Date.parse(until) - Date.parse(from)) / 1000)

const columns: ReadonlyArray<Column<Outage>> = [
  { name: "From", show: ({ began_at: at }) => <When at={at} /> },
  { name: "Lasted", show: lastedOf },
  { name: "Calls cut", show: ({ calls_cut: calls }) => calls ?? "" },
  { name: "Endpoint", show: ({ endpoint }) => endpoint ?? "" },
  { name: "Why", show: ({ reason }) => reason ?? "not known" }
]

export const Outages = ({ id }: { readonly id: string }) => {
  const outages = useReading<TrunkOutages>(`/organizations/telephony-configs/${id}/outages`, isOfTrunk, seldom)
  return (
    <Panel title="Outages">
      <Shown
        of={outages}
        show={({ outages: rows }) => (
          <Table
            label="Outages"
            columns={columns}
            rows={rows}
            keyOf={({ began_at: at, endpoint }) => `${at} ${endpoint ?? ""}`}
            empty="None in the last 90 days."
          />
        )}
      />
    </Panel>
  )
}
