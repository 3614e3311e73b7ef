/** All campaigns, the newest first. */
import { useSignal } from "@preact/signals"
import { may } from "#gateway/console/base/caller.ts"
import { Shown, State, When } from "#gateway/console/base/Parts.tsx"
import { useReading } from "#gateway/console/base/reading.ts"
import { Search } from "#gateway/console/base/Search.tsx"
import { type Column, Table } from "#gateway/console/base/Table.tsx"
import type { Campaign, Campaigns as List } from "#gateway/console/base/types.ts"
import { figure } from "#gateway/console/base/words.ts"

const columns: ReadonlyArray<Column<Campaign>> = [
  { name: "Name", show: ({ id, name }) => <a href={`#/campaigns/${id}`}>{name}</a> },
  { name: "State", show: ({ state }) => <State of={state} /> },
  { name: "Agent", show: ({ workflow_name: agent }) => agent },
  { name: "Contacts", isNumber: true, show: ({ total_rows: total }) => figure(total) },
  { name: "Dialed", isNumber: true, show: ({ processed_rows: dialed }) => figure(dialed) },
  { name: "Failed", isNumber: true, show: ({ failed_rows: failed }) => figure(failed) },
  { name: "Created", show: ({ created_at: at }) => <When at={at} /> }
]

export const Campaigns = () => {
  const name = useSignal("")
  const campaigns = useReading<List>(`/campaign/?name=${encodeURIComponent(name.value)}`, ({ type }) => type.startsWith("campaign."))
  return (
    <>
      <header class="head">
        <h1>Campaigns</h1>
        {may("member", "campaigns") ? <a href="#/campaigns/new">New campaign</a> : null}
        <Search
          label="Search by name"
          onSearch={(text) => {
            name.value = text
          }}
        />
      </header>
      <Shown
        of={campaigns}
        show={({ campaigns }) => (
          <Table
            label="Campaigns"
            columns={columns}
            rows={campaigns}
            keyOf={({ id }) => id}
            empty={name.value === "" ? "There are no campaigns yet." : "No campaign has this in its name."}
          />
        )}
      />
    </>
  )
}
