/** What happens now: calls in progress, trunks, running campaigns, and the latest events. */
import { lately } from "#gateway/console/base/follow.ts"
import { Bar, Panel, Shown, State, When } from "#gateway/console/base/Parts.tsx"
import { useReading } from "#gateway/console/base/reading.ts"
import type { Campaign, Campaigns, Progress, Quotas, Trunks } from "#gateway/console/base/types.ts"
import { figure, words } from "#gateway/console/base/words.ts"

const isCall = ({ type }: { readonly type: string }) => type.startsWith("run.") || type.startsWith("campaign.")

const CampaignRow = ({ campaign: { id, name, state } }: { readonly campaign: Campaign }) => {
  const progress = useReading<Progress>(`/campaign/${id}/progress`, isCall)
  return (
    <tr>
      <td>
        <a href={`#/campaigns/${id}`}>{name}</a>
      </td>
      <td>
        <State of={progress.value.value?.state ?? state} />
      </td>
      <td>
        <Shown
          of={progress}
          show={({ completed, failed, pending, processed, total }) => (
            <>
              <Bar label={`${figure(processed)} of ${figure(total)} contacts dialed`} share={total === 0 ? 0 : processed / total} />
              <span class="figures">
                {figure(completed)} reached, {figure(failed)} failed, {figure(pending)} left
              </span>
            </>
          )}
        />
      </td>
    </tr>
  )
}

const Running = () => {
  const campaigns = useReading<Campaigns>("/campaign/", ({ type }) => type.startsWith("campaign."))
  return (
    <Panel title="Campaigns under way">
      <Shown
        of={campaigns}
        show={({ campaigns }) => {
          const open = campaigns.filter(({ state }) => state === "running" || state === "paused")
          if (open.length === 0) return <p class="none">None. Start one under Campaigns.</p>
          return (
            <table>
              <tbody>
                {open.map((campaign) => (
                  <CampaignRow key={campaign.id} campaign={campaign} />
                ))}
              </tbody>
            </table>
          )
        }}
      />
    </Panel>
  )
}

const Calls = () => {
  const quotas = useReading<Quotas>("/organizations/quotas", isCall)
  return (
    <Panel title="Calls">
      <Shown
        of={quotas}
        show={({ calls: { limit, used } }) => (
          <p class="large">
            <strong id="calls-up">{figure(used ?? 0)}</strong> of {figure(limit)} at once{" "}
            <Bar label={`${used ?? 0} of ${limit} calls`} share={(used ?? 0) / limit} />
          </p>
        )}
      />
    </Panel>
  )
}

const TrunkList = () => {
  const trunks = useReading<Trunks>("/organizations/telephony-trunks", isCall)
  return (
    <Panel title="Trunks">
      <Shown
        of={trunks}
        show={({ trunks }) =>
          trunks.length === 0 ? (
            <p class="none">None has been used since the engine's start.</p>
          ) : (
            <table>
              <tbody>
                {trunks.map(({ provider, reason, status, telephony_configuration_id: id }) => (
                  <tr key={id}>
                    <td>{provider}</td>
                    <td>
                      <State of={status} />
                    </td>
                    <td>{reason}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )
        }
      />
    </Panel>
  )
}

const Lately = () => (
  <Panel title="Just happened">
    {lately.value.length === 0 ? (
      <p class="none">Nothing since this page was opened.</p>
    ) : (
      <table>
        <tbody>
          {lately.value.map(({ created_at: at, data, id, subject, type }) => (
            <tr key={id}>
              <td>
                <When at={at} />
              </td>
              <td>{words(type.replace(".", " "))}</td>
              <td>{typeof data["name"] === "string" ? data["name"] : subject}</td>
            </tr>
          ))}
        </tbody>
      </table>
    )}
  </Panel>
)

export const Now = () => (
  <>
    <h1>Now</h1>
    <div class="columns">
      <Calls />
      <TrunkList />
    </div>
    <Running />
    <Lately />
  </>
)
