/** All campaigns, the newest first. */
import { Shown, State, When } from "#gateway/console/base/Parts.tsx"
import { useReading } from "#gateway/console/base/reading.ts"
import type { Campaigns as List } from "#gateway/console/base/types.ts"
import { figure } from "#gateway/console/base/words.ts"

export const Campaigns = () => {
  const campaigns = useReading<List>("/campaign/", ({ type }) => type.startsWith("campaign."))
  return (
    <>
      <h1>Campaigns</h1>
      <Shown
        of={campaigns}
        show={({ campaigns }) =>
          campaigns.length === 0 ? (
            <p class="none">There are no campaigns yet.</p>
          ) : (
            <table>
              <thead>
                <tr>
                  <th scope="col">Name</th>
                  <th scope="col">State</th>
                  <th scope="col">Agent</th>
                  <th scope="col" class="number">
                    Contacts
                  </th>
                  <th scope="col" class="number">
                    Dialed
                  </th>
                  <th scope="col" class="number">
                    Failed
                  </th>
                  <th scope="col">Created</th>
                </tr>
              </thead>
              <tbody>
                {campaigns.map((campaign) => (
                  <tr key={campaign.id}>
                    <td>
                      <a href={`#/campaigns/${campaign.id}`}>{campaign.name}</a>
                    </td>
                    <td>
                      <State of={campaign.state} />
                    </td>
                    <td>{campaign.workflow_name}</td>
                    <td class="number">{figure(campaign.total_rows)}</td>
                    <td class="number">{figure(campaign.processed_rows)}</td>
                    <td class="number">{figure(campaign.failed_rows)}</td>
                    <td>
                      <When at={campaign.created_at} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )
        }
      />
    </>
  )
}
