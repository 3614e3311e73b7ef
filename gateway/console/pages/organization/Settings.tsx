/** How many calls the organization may have at once, what is kept of them, and where it is. */
import { ask } from "#gateway/console/base/api.ts"
import { caller, may } from "#gateway/console/base/caller.ts"
import { CheckField, ChoiceField, entered, enteredNumber, Form, TextField } from "#gateway/console/base/Form.tsx"
import { Panel, Shown } from "#gateway/console/base/Parts.tsx"
import { useReading } from "#gateway/console/base/reading.ts"
import { counted } from "#gateway/console/base/words.ts"
import type { Preferences as Wanted, Settings as Its } from "./types.ts"

const path = "/organizations/settings"
const formats: Readonly<Record<NonNullable<Its["recording_format"]>, string>> = { wav: "WAV", opus: "Opus, encoded after the call" }

const daysOf = (days: number | null) => (days === null ? "kept until they are deleted" : `deleted after ${counted(days, "day")}`)

const Facts = ({ of }: { readonly of: Its }) => (
  <dl class="facts">
    <dt>Calls at once</dt>
    <dd>
      {of.concurrency_limit}, of which {of.concurrency_reserve} for calls outside campaigns
    </dd>
    <dt>Recordings</dt>
    <dd>{of.recordings_enabled ? daysOf(of.recordings_days) : "Not made"}</dd>
    <dt>Transcripts</dt>
    <dd>{of.transcripts_enabled ? daysOf(of.transcripts_days) : "Not made"}</dd>
  </dl>
)

const Kept = ({ of }: { readonly of: Its }) => (
  <>
    <CheckField name="recordings_enabled" label="Record calls that begin from now on" isChecked={of.recordings_enabled} />
    <TextField
      name="recordings_days"
      label="Days that recordings are kept (optional)"
      type="number"
      min={1}
      hint="Empty: until they are deleted. Older ones are deleted within the hour"
      value={of.recordings_days}
    />
    <ChoiceField
      name="recording_format"
      label="Format of recordings"
      value={of.recording_format ?? ""}
      choices={[["", "The operator's default"], ...Object.entries(formats)]}
    />
    <CheckField
      name="transcripts_enabled"
      label="Transcribe calls that begin from now on"
      hint="If not, nothing that is said is stored"
      isChecked={of.transcripts_enabled}
    />
    <TextField
      name="transcripts_days"
      label="Days that transcripts are kept (optional)"
      type="number"
      min={1}
      hint="Empty: until they are deleted. Older ones are deleted within the hour"
      value={of.transcripts_days}
    />
  </>
)

const Edited = ({ of, renew }: { readonly of: Its; readonly renew: () => void }) => {
  const save = async (form: FormData) => {
    await ask("PUT", path, {
      concurrency_limit: enteredNumber(form, "concurrency_limit"),
      concurrency_reserve: enteredNumber(form, "concurrency_reserve"),
      recordings_enabled: form.has("recordings_enabled"),
      recordings_days: enteredNumber(form, "recordings_days") ?? null,
      recording_format: entered(form, "recording_format") ?? null,
      transcripts_enabled: form.has("transcripts_enabled"),
      transcripts_days: enteredNumber(form, "transcripts_days") ?? null
    })
    renew()
  }
  return (
    <Form label="Save" done="Saved. Running campaigns follow it at once." submit={save}>
      <TextField name="concurrency_limit" label="Calls at once" type="number" min={0} isRequired value={of.concurrency_limit} />
      <TextField
        name="concurrency_reserve"
        label="Of these, for calls outside campaigns"
        type="number"
        min={0}
        isRequired
        value={of.concurrency_reserve}
      />
      <Kept of={of} />
    </Form>
  )
}

const zones = ["UTC", ...Intl.supportedValuesOf("timeZone").filter((zone) => zone !== "UTC")]

const Preferences = () => {
  const wanted = useReading<Wanted>("/organizations/preferences")
  const save = async (form: FormData, before: Wanted) => {
    const timezone = entered(form, "timezone") ?? null
    const test_phone_number = entered(form, "test_phone_number") ?? null
    await ask("PUT", "/organizations/preferences", { ...before, timezone, test_phone_number })
    if (caller.value !== undefined) caller.value = { ...caller.value, timezone }
    wanted.renew()
  }
  return (
    <Panel title="Preferences">
      <Shown
        of={wanted}
        show={(its) => {
          if (!may("admin", "admin")) return <p>Time zone: {its.timezone ?? "none set"}</p>
          const { timezone } = its
          // An engine may know zones that the browser does not.
          const all = timezone === null || zones.includes(timezone) ? zones : [timezone, ...zones]
          return (
            <Form label="Save" done="Saved." submit={(form) => save(form, its)}>
              <ChoiceField
                name="timezone"
                label="Time zone"
                hint="Of the times on these pages. Campaigns have their own"
                value={timezone ?? ""}
                choices={[["", "None"], ...all.map((zone) => [zone, zone] as const)]}
              />
              <TextField name="test_phone_number" label="Number to test with (optional)" value={its.test_phone_number} />
            </Form>
          )
        }}
      />
    </Panel>
  )
}

export const Settings = () => {
  const settings = useReading<Its>(path)
  return (
    <>
      <Panel title="Calls, and what is kept of them">
        <Shown of={settings} show={(its) => (may("admin", "admin") ? <Edited of={its} renew={settings.renew} /> : <Facts of={its} />)} />
      </Panel>
      <Preferences />
    </>
  )
}
