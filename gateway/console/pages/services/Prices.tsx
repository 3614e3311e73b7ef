/** What services charge, from which the cost of calls is computed. */
import { useSignal } from "@preact/signals"
import { ask } from "#gateway/console/base/api.ts"
import { may } from "#gateway/console/base/caller.ts"
import { Confirm } from "#gateway/console/base/Dialog.tsx"
import { ChoiceField, entered, enteredNumber, Form, TextField } from "#gateway/console/base/Form.tsx"
import { Panel, Shown } from "#gateway/console/base/Parts.tsx"
import { useReading } from "#gateway/console/base/reading.ts"
import { type Column, Table } from "#gateway/console/base/Table.tsx"
import { words } from "#gateway/console/base/words.ts"
import type { Price, Prices as All } from "./types.ts"

const path = "/organizations/service-prices"
type Kind = Price["kind"]
const kinds: Readonly<Record<Kind, string>> = { stt: "Speech-to-text", llm: "Language model", tts: "Voice" }
/** US dollars, by what they are charged for. */
const amounts: Readonly<Record<Kind, ReadonlyArray<readonly [name: string, isRequired: boolean]>>> = {
  stt: [["per_minute", true]],
  llm: [
    ["per_million_prompt_tokens", true],
    ["per_million_cached_tokens", false],
    ["per_million_completion_tokens", true]
  ],
  tts: [["per_million_characters", true]]
}
// Cast: the names of a record are its keys.
const kindNames = Object.keys(kinds) as ReadonlyArray<Kind>

const amountsOf = (price: Price): string =>
  Object.entries(price)
    .filter(([name]) => name.startsWith("per_"))
    .map(([name, dollars]) => `$${dollars} ${words(name)}`)
    .join(", ")

const columns: ReadonlyArray<Column<Price>> = [
  { name: "Kind", show: ({ kind }) => kinds[kind] },
  { name: "Provider", show: ({ provider }) => provider },
  { name: "Model or voice", show: ({ model }) => model },
  { name: "Price", show: amountsOf },
  { name: "Of", show: ({ date }) => date }
]
const keyOf = ({ kind, model, provider }: Price) => `${kind} ${provider} ${model}`

interface ListProps {
  readonly prices: All["prices"]
  readonly renew: () => void
}

const Add = ({ prices, renew }: ListProps) => {
  const kind = useSignal<Kind>("llm")
  // The first of the list that is sent: faults name its place, and its kind.
  const below = `prices.0.${kind.value}`
  const add = async (form: FormData) => {
    const dollars = amounts[kind.value].map(([name]) => [name, enteredNumber(form, `${below}.${name}`)])
    const price = {
      kind: kind.value,
      provider: entered(form, `${below}.provider`),
      model: entered(form, `${below}.model`),
      ...Object.fromEntries(dollars.filter(([, amount]) => amount !== undefined))
    }
    await ask("PUT", path, { prices: [price, ...prices] })
    renew()
  }
  return (
    <details>
      <summary>Add a price</summary>
      <Form label="Add" done="Added. It applies to calls that end at least half a minute from now." submit={add}>
        <ChoiceField
          name="kind"
          label="Kind"
          value={kind.value}
          choices={kindNames.map((name) => [name, kinds[name]])}
          onChoose={(chosen) => {
            kind.value = kindNames.find((name) => name === chosen) ?? kind.value
          }}
        />
        <TextField name={`${below}.provider`} label="Provider" isRequired hint="As calls record it, such as openai" />
        <TextField name={`${below}.model`} label="Model or voice" isRequired hint="A * at the end stands for any rest" />
        {amounts[kind.value].map(([name, isRequired]) => (
          <TextField
            key={name}
            name={`${below}.${name}`}
            label={`US dollars ${words(name)}${isRequired ? "" : " (optional)"}`}
            type="decimal"
            isRequired={isRequired}
          />
        ))}
      </Form>
    </details>
  )
}

const Own = ({ prices, renew }: ListProps) => {
  const acts: Column<Price> = {
    name: "",
    show: (price) => (
      <Confirm
        label="Remove"
        about={keyOf(price)}
        title={`Remove the price of ${price.model}?`}
        yes="Remove it"
        no="Keep it"
        act={async () => {
          await ask("PUT", path, { prices: prices.filter((one) => one !== price) })
          renew()
        }}
      >
        <p>Calls that have ended keep their cost.</p>
      </Confirm>
    )
  }
  return (
    <>
      <Table
        label="The organization's prices"
        columns={may("admin", "admin") ? [...columns, acts] : columns}
        rows={prices}
        keyOf={keyOf}
        empty="None: the prices below apply."
      />
      {may("admin", "admin") ? <Add prices={prices} renew={renew} /> : null}
    </>
  )
}

export const Prices = () => {
  const prices = useReading<All>(path)
  return (
    <Panel title="Prices">
      <Shown
        of={prices}
        show={({ others, prices: own }) => (
          <>
            <Own prices={own} renew={prices.renew} />
            <details>
              <summary>Default prices, used where the organization has none</summary>
              <Table label="Default prices" columns={columns} rows={others} keyOf={(price) => JSON.stringify(price)} empty="None." />
            </details>
          </>
        )}
      />
    </Panel>
  )
}
