/** Adding numbers of the account at the carrier. The carrier is asked only once somebody opens this. */
import { useSignal } from "@preact/signals"
import { ask } from "#gateway/console/base/api.ts"
import { ChoicesField, chosen, Form } from "#gateway/console/base/Form.tsx"
import { Shown } from "#gateway/console/base/Parts.tsx"
import { useReading } from "#gateway/console/base/reading.ts"
import { counted } from "#gateway/console/base/words.ts"
import type { CarrierNumbers, Imported } from "./types.ts"

interface ImportProps {
  readonly id: string
  /** Reads the configuration's own numbers again. */
  readonly renew: () => void
}

export const CarrierImport = (its: ImportProps) => {
  const isOpen = useSignal(false)
  return (
    <details
      onToggle={(event) => {
        isOpen.value = event.currentTarget.open
      }}
    >
      <summary>Import from the carrier</summary>
      {isOpen.value ? <Account {...its} /> : null}
    </details>
  )
}

const Account = ({ id, renew }: ImportProps) => {
  const path = `/organizations/telephony-configs/${id}/carrier-numbers`
  const account = useReading<CarrierNumbers>(path)
  const imported = useSignal<Imported | undefined>(undefined)
  const add = async (form: FormData) => {
    imported.value = await ask<Imported>("POST", `${path}/import`, { addresses: chosen(form, "addresses") })
    account.renew()
    renew()
  }
  const taken = imported.value?.numbers.filter(({ result }) => result === "taken") ?? []
  return (
    <>
      <Shown
        of={account}
        show={({ numbers }) => {
          const others = numbers.filter(({ imported }) => !imported)
          if (others.length === 0) return <p class="none">All {counted(numbers.length, "number")} of the account have been added.</p>
          return (
            <Form label="Import" submit={add}>
              <ChoicesField
                name="addresses"
                label="Numbers of the account"
                choices={others.map(({ address }) => [address, address])}
                values={others.map(({ address }) => address)}
              />
            </Form>
          )
        }}
      />
      {imported.value === undefined ? null : <output class="good">{counted(imported.value.imported, "number")} added.</output>}
      {taken.map(({ address }) => (
        <p key={address} role="alert">
          {address} was not added: another organization has it, with the same account.
        </p>
      ))}
    </>
  )
}
