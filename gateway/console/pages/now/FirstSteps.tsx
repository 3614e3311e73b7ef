/** The way from an empty engine to the first answered call. It is gone once somebody has been reached. */
import { signal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { useEffect } from "preact/hooks"
import { ask } from "#gateway/console/base/api.ts"
import { caller } from "#gateway/console/base/caller.ts"
import { Act, Panel } from "#gateway/console/base/Parts.tsx"
import { Permitted } from "#gateway/console/base/Permitted.tsx"
import { useReading } from "#gateway/console/base/reading.ts"
import type { AgentName, Campaigns, Happened, Progress, TelephonyConfigs } from "#gateway/console/base/types.ts"

const isCampaign = ({ type }: Happened) => type.startsWith("campaign.") || type === "run.completed"

interface StepProps {
  readonly isDone: boolean
  readonly name: string
  readonly children: ComponentChildren
}
const Step = ({ children, isDone, name }: StepProps) => (
  <li class={isDone ? "good" : ""}>
    <strong>
      {isDone ? "● " : "◌ "}
      {name}
    </strong>
    {isDone ? null : <div>{children}</div>}
  </li>
)

const simulate = () =>
  ask("POST", "/organizations/telephony-configs", { name: "Simulated", config: { provider: "simulated" }, is_default_outbound: true })

/** The organization that is known to need them no more. */
const knowing = signal<number | undefined>(undefined)
export const FirstSteps = () => (knowing.value === caller.value?.organization_id ? null : <Steps />)

const Steps = () => {
  const telephony = useReading<TelephonyConfigs>("/organizations/telephony-configs")
  const agents = useReading<ReadonlyArray<AgentName>>("/workflow/summary")
  const campaigns = useReading<Campaigns>("/campaign/?limit=1", isCampaign)
  const newest = campaigns.value.value?.campaigns[0]
  const progress = useReading<Progress>(newest === undefined ? undefined : `/campaign/${newest.id}/progress`, isCampaign)
  const configurations = telephony.value.value?.configurations
  const known = agents.value.value
  const isReached = (progress.value.value?.completed ?? 0) > 0
  const isOver = newest !== undefined && ["paused", "completed", "failed"].includes(newest.state)
  const isDone = isReached || isOver
  // Nothing of it is read again from then on.
  useEffect(() => {
    if (isDone) knowing.value = caller.value?.organization_id
  }, [isDone])
  if (configurations === undefined || known === undefined || campaigns.value.value === undefined || isDone) return null
  const [agent] = known
  return (
    <Panel title="First steps">
      <ol class="steps">
        <Step name="An account" isDone>
          {null}
        </Step>
        <Step name="A trunk" isDone={configurations.length > 0}>
          <Permitted needs="admin" scope="admin">
            <a href="#/telephony">Connect Asterisk or a carrier</a> or{" "}
            <Act
              label="use simulated phones for now"
              act={async () => {
                await simulate()
                telephony.renew()
              }}
            />
          </Permitted>
        </Step>
        <Step name="An agent" isDone={agent !== undefined}>
          <Permitted needs="member" scope="agents">
            <a href="#/agents">Make one from a template</a>
          </Permitted>
        </Step>
        <Step name="A campaign" isDone={newest !== undefined}>
          <Permitted needs="member" scope="campaigns">
            {agent === undefined ? "" : <a href={`#/agents/${agent.id}`}>Try the agent</a>}
            {agent === undefined ? "" : ", then "}
            <a href="#/campaigns/new">{agent === undefined ? "Give" : "give"} it a list of contacts</a>
          </Permitted>
        </Step>
        <Step name="The first answered call" isDone={isReached}>
          <Permitted needs="member" scope="campaigns">
            {newest === undefined ? "Start the campaign." : <a href={`#/campaigns/${newest.id}`}>Start the campaign, and watch</a>}
          </Permitted>
        </Step>
      </ol>
    </Panel>
  )
}
