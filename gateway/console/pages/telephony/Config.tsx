/** One telephony configuration: whether it works, what is missing, its numbers and its settings. */
import { ask } from "#gateway/console/base/api.ts"
import { may } from "#gateway/console/base/caller.ts"
import { Confirm } from "#gateway/console/base/Dialog.tsx"
import { Act, Copied, Panel, Shown, State } from "#gateway/console/base/Parts.tsx"
import { useReading } from "#gateway/console/base/reading.ts"
import { go } from "#gateway/console/base/router.ts"
import type { Trunks } from "#gateway/console/base/types.ts"
import { Settings } from "./ConfigForm.tsx"
import { isOfTrunk } from "./Configs.tsx"
import { Outages } from "./Outages.tsx"
import { PhoneNumbers } from "./PhoneNumbers.tsx"
import { Test } from "./Test.tsx"
import { Readiness, TrunkState } from "./TrunkState.tsx"
import type { Config as Its, Trunk } from "./types.ts"

type Step = Its["setup_checklist"]["steps"][number]

const addresses = /(\b(?:https?|wss?):\/\/\S+)/

const Step = ({ step }: { readonly step: Step }) => (
  <li>
    <State as={step.complete ? "good" : step.blocks_outbound ? "bad" : "waiting"} of={step.complete ? "done" : "to do"} /> {step.title}
    <span class="figures">
      {step.description.split(addresses).map((part) => (addresses.test(part) ? <Copied key={part} text={part} /> : part))}
    </span>
  </li>
)

interface PartProps {
  readonly its: Its
  readonly path: string
  readonly renew: () => void
}

const Checklist = ({ isEditable, its, path, renew }: PartProps & { readonly isEditable: boolean }) => {
  const {
    setup_checklist: { steps }
  } = its
  const prepare = async () => {
    await ask("POST", `${path}/prepare`)
    renew()
  }
  const isMissing = steps.some(({ complete }) => !complete)
  if (steps.length === 0) return null
  return (
    <Panel title="Set-up" more={isMissing && isEditable ? <Act label="Create what is missing at the provider" act={prepare} /> : null}>
      <ul class="log">
        {steps.map((step) => (
          <Step key={step.key} step={step} />
        ))}
      </ul>
    </Panel>
  )
}

const Acts = ({ its, path, renew }: PartProps) => (
  <span class="choices">
    {its.is_default_outbound ? null : (
      <Act
        label="Make default"
        act={async () => {
          await ask("POST", `${path}/set-default-outbound`)
          renew()
        }}
      />
    )}
    <Confirm
      label="Delete"
      title={`Delete ${its.name}?`}
      yes="Delete it"
      no="Keep it"
      act={async () => {
        await ask("DELETE", path)
        go("telephony")
      }}
    >
      <p>Its numbers and its credentials are deleted with it. The account at the provider stays as it is.</p>
    </Confirm>
  </span>
)

const Head = ({ isEditable, its, path, renew, trunk }: PartProps & { readonly isEditable: boolean; readonly trunk: Trunk | undefined }) => (
  <>
    <header class="head">
      <h1>{its.name}</h1>
      {isEditable ? <Acts its={its} path={path} renew={renew} /> : null}
    </header>
    <dl class="facts">
      <dt>Provider</dt>
      <dd>{its.provider}</dd>
      <dt>Outbound</dt>
      <dd id="outbound">
        <Readiness of={its} />
      </dd>
      <dt>Trunk</dt>
      <dd id="trunk">
        <TrunkState trunk={trunk} />
      </dd>
      <dt>Default</dt>
      <dd>{its.is_default_outbound ? "Yes: calls that name no configuration use it" : "No"}</dd>
    </dl>
  </>
)

export const Config = ({ id }: { readonly id: string }) => {
  const path = `/organizations/telephony-configs/${id}`
  const config = useReading<Its>(path)
  const trunks = useReading<Trunks>("/organizations/telephony-trunks", isOfTrunk)
  const trunk = trunks.value.value?.trunks.find(({ telephony_configuration_id: of }) => String(of) === id)
  const isEditable = may("admin", "admin")
  const renew = () => {
    config.renew()
    trunks.renew()
  }
  return (
    <Shown
      of={config}
      show={(its) => (
        <>
          <Head its={its} path={path} renew={renew} trunk={trunk} isEditable={isEditable} />
          <Checklist its={its} path={path} renew={renew} isEditable={isEditable} />
          <Test id={id} last={trunk?.last_test ?? null} isAllowed={isEditable} tested={renew} />
          <Outages id={id} />
          <PhoneNumbers id={id} isEditable={isEditable} />
          <Panel title="Settings">
            <Settings config={its} isEditable={isEditable} saved={renew} />
          </Panel>
        </>
      )}
    />
  )
}
