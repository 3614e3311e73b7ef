/** One campaign: how far it is, what can be done with it, its contacts and its log. */
import { ask } from "#gateway/console/base/api.ts"
import { may } from "#gateway/console/base/caller.ts"
import { Confirm } from "#gateway/console/base/Dialog.tsx"
import { Act, Bar, Panel, Shown, State, When } from "#gateway/console/base/Parts.tsx"
import { useReading } from "#gateway/console/base/reading.ts"
import type { Campaign as Its, Happened } from "#gateway/console/base/types.ts"
import { figure } from "#gateway/console/base/words.ts"
import { Changes } from "./Changes.tsx"
import { Contacts } from "./Contacts.tsx"
import { limitsOf } from "./limits.ts"
import { OutcomesOverTime } from "./OutcomesOverTime.tsx"
import { useProgress } from "./progress.ts"

const isAbout =
  (id: string) =>
  ({ data, subject, type }: Happened): boolean =>
    subject === `campaigns/${id}` || (type.startsWith("run.") && String(data["campaign_id"]) === id)

const Figures = ({ id }: { readonly id: string }) => {
  const progress = useProgress(Number(id))
  return (
    <Shown
      of={progress}
      show={({ cancelled, completed, failed, pending, processed, source_sync: { warnings }, total }) => (
        <>
          <p class="large">
            <strong>{figure(processed)}</strong> of {figure(total)} contacts dialed{" "}
            <Bar label={`${processed} of ${total} contacts dialed`} share={total === 0 ? 0 : processed / total} />
          </p>
          <dl class="facts across">
            <dt>Reached</dt>
            <dd>{figure(completed)}</dd>
            <dt>Not reached</dt>
            <dd>{figure(failed)}</dd>
            <dt>Opted out</dt>
            <dd>{figure(cancelled)}</dd>
            <dt>Left</dt>
            <dd>{figure(pending)}</dd>
          </dl>
          {warnings.map((warning) => (
            <p key={warning} class="note">
              {warning}
            </p>
          ))}
        </>
      )}
    />
  )
}

interface ActsProps {
  readonly its: Its
  readonly renew: () => void
}

/** What a person may do next, in each state. */
const Next = ({ its: { id, name, state, total_rows: total }, renew }: ActsProps) => {
  const act = (what: string) => async () => {
    await ask("POST", `/campaign/${id}/${what}`)
    renew()
  }
  if (state === "running") return <Act label="Pause" act={act("pause")} />
  if (state === "paused") return <Act label="Resume" isMain act={act("resume")} />
  if (state === "completed" || state === "failed") return null
  return (
    <Confirm label="Start" title={`Start ${name}?`} yes="Start dialing" no="Not yet" act={act("start")}>
      <p>{figure(total)} people are called, as soon as the calling hours and limits allow.</p>
    </Confirm>
  )
}

const Log = ({ logs }: Pick<Its, "logs">) => (
  <Panel title="Log">
    {logs.length === 0 ? (
      <p class="none">Nothing yet.</p>
    ) : (
      <ol class="log">
        {logs.toReversed().map(({ event, level, message, ts }) => (
          <li key={`${ts} ${event}`} class={level}>
            <When at={ts} /> {message}
          </li>
        ))}
      </ol>
    )}
  </Panel>
)

const Downloads = ({ id }: { readonly id: string }) => (
  <p class="choices">
    <a href={`/api/v1/campaign/${id}/report`} download>
      Download the calls
    </a>
    <a href={`/api/v1/campaign/${id}/contacts/download`} download>
      Download the contacts
    </a>
  </p>
)

export const Campaign = ({ id }: { readonly id: string }) => {
  const about = isAbout(id)
  const campaign = useReading<Its>(`/campaign/${id}`, about)
  return (
    <Shown
      of={campaign}
      show={(its) => (
        <>
          <header class="head">
            <h1>{its.name}</h1>
            <State of={its.state} />
            {may("member", "campaigns") ? (
              <>
                <Next its={its} renew={campaign.renew} />
                <Changes its={its} renew={campaign.renew} />
              </>
            ) : null}
          </header>
          <p class="note">
            Agent <a href={`#/agents/${its.workflow_id}`}>{its.workflow_name}</a>, through{" "}
            {its.telephony_configuration_name ?? "no configuration"}. {limitsOf(its)}.
          </p>
          <Figures id={id} />
          <Downloads id={id} />
          <OutcomesOverTime id={id} isAbout={about} />
          <Contacts id={id} isAbout={about} />
          <Log logs={its.logs} />
        </>
      )}
    />
  )
}
