/** A new campaign: its list is checked, and its limits are told in words, before it is created. Nothing is dialed until it is started. */
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { ask, reasonOf } from "#gateway/console/base/api.ts"
import { ChoiceField, entered, Form, TextField } from "#gateway/console/base/Form.tsx"
import { Fault, Panel, Shown } from "#gateway/console/base/Parts.tsx"
import { useOnce } from "#gateway/console/base/once.ts"
import { Permitted } from "#gateway/console/base/Permitted.tsx"
import { useReading } from "#gateway/console/base/reading.ts"
import { go } from "#gateway/console/base/router.ts"
import type { AdvisedCampaign, AgentName, CampaignDefaults, ListCheck, TelephonyConfigs } from "#gateway/console/base/types.ts"
import { CheckedList, type Listed, ListField } from "./List.tsx"
import type { Settings } from "./limits.ts"
import { callingOf, newCalling, SettingsFields, settingsIn } from "./SettingsFields.tsx"

const settingsOf = ({
  concurrent_call_limit: limit,
  default_retry_config: retry,
  last_campaign_settings: last
}: CampaignDefaults): Settings => ({
  max_concurrency: Math.min(limit, last?.max_concurrency ?? limit, 100),
  rate_limit: 1,
  retry_config: last?.retry_config ?? retry,
  schedule_config: last?.schedule_config ?? null
})

/** What the engine says about the list, for this agent; undefined until it has been asked. */
const useCheck = (source: string | undefined, agent: string | undefined, telephony: string | undefined) => {
  const check = useSignal<ListCheck | undefined>(undefined)
  const fault = useSignal<string | undefined>(undefined)
  useEffect(() => {
    check.value = undefined
    fault.value = undefined
    if (source === undefined || agent === undefined) return
    let isOver = false
    const asked = {
      source_id: source,
      workflow_id: Number(agent),
      ...(telephony === undefined ? {} : { telephony_configuration_id: Number(telephony) })
    }
    ask<ListCheck>("POST", "/campaign/check", asked).then(
      (answer) => {
        if (!isOver) check.value = answer
      },
      (cause) => {
        if (!isOver) fault.value = reasonOf(cause)
      }
    )
    return () => {
      isOver = true
    }
  }, [source, agent, telephony])
  return { check, fault }
}

interface OfferedProps {
  readonly agents: ReadonlyArray<AgentName>
  readonly configurations: TelephonyConfigs["configurations"]
  readonly defaults: CampaignDefaults
}

const New = ({ agents, configurations, defaults }: OfferedProps) => {
  const list = useSignal<Listed | undefined>(undefined)
  const hours = useSignal(newCalling())
  // Apart, so that no hours of phones that do not ring are ever those of phones that do.
  const simulatedHours = useSignal(callingOf(null))
  const agent = useSignal(agents[0] === undefined ? undefined : String(agents[0].id))
  const usual = configurations.find(({ is_default_outbound: isDefault }) => isDefault) ?? configurations[0]
  const telephony = useSignal(usual === undefined ? undefined : String(usual.id))
  const through = configurations.find(({ id }) => String(id) === telephony.value)
  const isSimulated = through?.provider === "simulated"
  const calling = isSimulated ? simulatedHours : hours
  const { check, fault } = useCheck(list.value?.sourceId, agent.value, telephony.value)
  const once = useOnce()
  const before = settingsOf(defaults)
  const create = async (fields: FormData) => {
    if (list.value === undefined) throw new Error("Choose a list of contacts first")
    const campaign = await once.post<AdvisedCampaign>("/campaign/create", {
      name: entered(fields, "name"),
      workflow_id: Number(fields.get("workflow_id")),
      telephony_configuration_id: Number(fields.get("telephony_configuration_id")),
      source_type: "csv",
      source_id: list.value.sourceId,
      ...settingsIn(fields, calling.peek(), before.retry_config)
    })
    go(`campaigns/${campaign.id}`)
  }
  return (
    <Form label="Create campaign" submit={create}>
      <TextField name="name" label="Name" isRequired />
      <ChoiceField
        name="workflow_id"
        label="Agent"
        choices={agents.map(({ id, name }) => [String(id), name])}
        onChoose={(id) => {
          agent.value = id
        }}
      />
      <ChoiceField
        name="telephony_configuration_id"
        label="Dials through"
        value={telephony.peek()}
        choices={configurations.map(({ id, name, provider }) => [String(id), `${name} (${provider})`])}
        onChoose={(id) => {
          telephony.value = id
        }}
      />
      <ListField list={list} agent={agent.value} isSimulated={isSimulated} />
      {fault.value === undefined ? null : <Fault>{fault.value}</Fault>}
      {check.value === undefined ? null : <CheckedList check={check.value} />}
      <SettingsFields before={before} calling={calling} contacts={check.value?.accepted} />
    </Form>
  )
}

const Read = () => {
  const agents = useReading<ReadonlyArray<AgentName>>("/workflow/summary")
  const telephony = useReading<TelephonyConfigs>("/organizations/telephony-configs")
  const defaults = useReading<CampaignDefaults>("/organizations/campaign-defaults")
  return (
    <Shown
      of={agents}
      show={(agents) => (
        <Shown
          of={telephony}
          show={({ configurations }) => (
            <Shown of={defaults} show={(defaults) => <New agents={agents} configurations={configurations} defaults={defaults} />} />
          )}
        />
      )}
    />
  )
}

export const NewCampaign = () => (
  <>
    <h1>New campaign</h1>
    <Panel title="Who is called, by which agent, within which limits">
      <Permitted needs="member" scope="campaigns">
        <Read />
      </Permitted>
    </Panel>
  </>
)
