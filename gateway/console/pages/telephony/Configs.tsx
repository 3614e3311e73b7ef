/** All telephony configurations, the oldest first. */
import { Shown } from "#gateway/console/base/Parts.tsx"
import { may } from "#gateway/console/base/caller.ts"
import { useReading } from "#gateway/console/base/reading.ts"
import { type Column, Table } from "#gateway/console/base/Table.tsx"
import type { Happened, Trunks } from "#gateway/console/base/types.ts"
import { counted, figure, words } from "#gateway/console/base/words.ts"
import { Readiness, TrunkState } from "./TrunkState.tsx"
import type { Configs as List, Trunk, Warnings as Found } from "./types.ts"

type Row = List["configurations"][number]

/** Trunks have no events of their own, but they change with calls. */
export const isOfTrunk = ({ type }: Pick<Happened, "type">): boolean => type.startsWith("run.") || type.startsWith("campaign.")

const columnsWith = (trunks: ReadonlyArray<Trunk>): ReadonlyArray<Column<Row>> => [
  { name: "Name", show: ({ id, name }) => <a href={`#/telephony/${id}`}>{name}</a> },
  { name: "Provider", show: ({ provider }) => provider },
  { name: "Outbound", show: (config) => <Readiness of={config} /> },
  {
    name: "Trunk",
    show: ({ id }) => <TrunkState trunk={trunks.find(({ telephony_configuration_id: of }) => of === id)} />
  },
  { name: "Default", show: ({ is_default_outbound: isDefault }) => (isDefault ? "Default" : "") },
  { name: "Active numbers", isNumber: true, show: ({ phone_number_count: count }) => figure(count) },
  { name: "Calls at once", isNumber: true, show: ({ max_concurrent_calls: most }) => (most === null ? "no limit" : figure(most)) }
]

/** Each is a count, named for what is missing. */
const Warnings = () => (
  <Shown
    of={useReading<Found>("/organizations/telephony-config-warnings")}
    show={(warnings) =>
      Object.entries(warnings)
        .filter(([, count]) => count > 0)
        .map(([name, count]) => (
          <p key={name} class="note">
            {counted(count, "configuration")}: {words(name.replace(/_count$/, ""))}. What the carrier reports cannot be verified without it.
          </p>
        ))
    }
  />
)

export const Configs = () => {
  const configs = useReading<List>("/organizations/telephony-configs")
  const trunks = useReading<Trunks>("/organizations/telephony-trunks", isOfTrunk)
  return (
    <>
      <header class="head">
        <h1>Telephony</h1>
        {may("admin", "admin") ? <a href="#/telephony/new">Add a configuration</a> : null}
      </header>
      <Warnings />
      <Shown
        of={configs}
        show={({ configurations }) => (
          <Table
            label="Telephony configurations"
            columns={columnsWith(trunks.value.value?.trunks ?? [])}
            rows={configurations}
            keyOf={({ id }) => id}
            empty="There are none yet. Calls need one: an account with a carrier, or an Asterisk of your own."
          />
        )}
      />
    </>
  )
}
