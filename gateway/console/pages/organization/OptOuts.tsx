/** Numbers that the organization does not call any more. */
import { useSignal } from "@preact/signals"
import { ask } from "#gateway/console/base/api.ts"
import { may } from "#gateway/console/base/caller.ts"
import { Confirm } from "#gateway/console/base/Dialog.tsx"
import { AreaField, enteredLines, Form } from "#gateway/console/base/Form.tsx"
import { Panel, Shown, When } from "#gateway/console/base/Parts.tsx"
import { useReading } from "#gateway/console/base/reading.ts"
import { Search } from "#gateway/console/base/Search.tsx"
import { type Column, Table } from "#gateway/console/base/Table.tsx"
import { Turns, useTurned } from "#gateway/console/base/Turns.tsx"
import { counted } from "#gateway/console/base/words.ts"
import type { Added, OptOut, OptOuts as List } from "./types.ts"

const path = "/organizations/opt-outs"
const PAGE = 100
const sources: Readonly<Record<OptOut["source"], string>> = { call: "said in a call", api: "added here or through the API" }

const Remove = ({ of: { id, phone_number: number }, renew }: { readonly of: OptOut; readonly renew: () => void }) => (
  <Confirm
    label="Allow calls"
    about={number}
    title={`Allow calls to ${number} again?`}
    yes="Allow calls"
    no="Keep it on the list"
    act={async () => {
      await ask("DELETE", `${path}/${id}`)
      renew()
    }}
  >
    <p>Somebody did not want to be called. Campaigns and single calls may dial this number from then on.</p>
  </Confirm>
)

const columnsFor = (renew: () => void): ReadonlyArray<Column<OptOut>> => [
  { name: "Number", show: ({ phone_number: number }) => number },
  { name: "Reason", show: ({ source }) => sources[source] },
  { name: "Since", show: ({ created_at: at }) => <When at={at} /> },
  { name: "", show: (optOut) => (may("admin", "campaigns") ? <Remove of={optOut} renew={renew} /> : null) }
]

const Add = ({ renew }: { readonly renew: () => void }) => {
  const added = useSignal<number | undefined>(undefined)
  const add = async (form: FormData) => {
    added.value = undefined
    const answer = await ask<Added>("POST", path, { phone_numbers: enteredLines(form, "phone_numbers") })
    added.value = answer.added
    renew()
  }
  return (
    <details>
      <summary>Add numbers</summary>
      <Form label="Do not call these" isForMany submit={add}>
        <AreaField
          name="phone_numbers"
          label="Numbers"
          isRequired
          placeholder="+14155550100"
          hint="One per line, at most 1000: a plus, the country code and the number, without spaces. Calls in progress continue"
        />
      </Form>
      {added.value === undefined ? null : <output class="good">{counted(added.value, "number")} added to the list.</output>}
    </details>
  )
}

/** As it is stored: `+1 (415) 555-0100` is found as well. */
const plain = (text: string) => text.replaceAll(/[\s()/.-]/g, "")

const queryOf = (number: string, after: string | undefined) =>
  [
    `limit=${PAGE}`,
    number === "" ? [] : [`phone_number=${encodeURIComponent(number)}`],
    after === undefined ? [] : [`after=${encodeURIComponent(after)}`]
  ]
    .flat()
    .join("&")

export const OptOuts = () => {
  const number = useSignal("")
  const turned = useTurned()
  const optOuts = useReading<List>(`${path}?${queryOf(number.value, turned.value.at(-1))}`, ({ type }) => type === "contact.opted_out")
  const search = (text: string) => {
    number.value = plain(text)
    turned.value = []
  }
  return (
    <Panel title="Numbers that are not called" more={<Search label="Look up a whole number" onSearch={search} />}>
      <Shown
        of={optOuts}
        show={({ opt_outs: rows }) => (
          <>
            <Table
              label="Numbers that are not called"
              columns={columnsFor(optOuts.renew)}
              rows={rows}
              keyOf={({ id }) => id}
              empty={number.value === "" ? "None." : "This number may be called."}
            />
            <Turns of={turned} next={rows.length < PAGE ? undefined : rows.at(-1)?.phone_number} />
          </>
        )}
      />
      {may("member", "campaigns") ? <Add renew={optOuts.renew} /> : null}
    </Panel>
  )
}
