/** The limits of a campaign: their fields, what they mean, and what the API gets. */
import { type Signal, useSignal } from "@preact/signals"
import { caller } from "#gateway/console/base/caller.ts"
import { now } from "#gateway/console/base/clock.ts"
import { CheckField, entered, enteredNumber, TextField } from "#gateway/console/base/Form.tsx"
import type { Campaign } from "#gateway/console/base/types.ts"
import { counted, moment } from "#gateway/console/base/words.ts"
import { endOf } from "./forecast.ts"
import { type Calling, HoursField } from "./HoursField.tsx"
import { limitsOf, type Settings } from "./limits.ts"
import { hoursOf, officeHours, slotsOf } from "./schedule.ts"

export const callingOf = (schedule: Campaign["schedule_config"]): Calling => ({
  hours: schedule === null || !schedule.enabled ? [] : hoursOf(schedule.slots),
  timezone: schedule?.timezone ?? caller.value?.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone
})
export const newCalling = (): Calling => ({ ...callingOf(null), hours: [officeHours] })

const flags = [
  ["retry_on_busy", "busy"],
  ["retry_on_no_answer", "not answered"],
  ["retry_on_voicemail", "a machine answered"],
  ["retry_on_trunk_lost", "the trunk was lost in the call"]
] as const

/** What the API gets. `before`: settings that the form does not show stay as they were. */
export const settingsIn = (fields: FormData, { hours }: Calling, before: Campaign["retry_config"]): Settings => ({
  max_concurrency: enteredNumber(fields, "max_concurrency") ?? null,
  rate_limit: enteredNumber(fields, "rate_limit") ?? 1,
  retry_config: {
    ...before,
    enabled: (enteredNumber(fields, "retry_config.max_retries") ?? 0) > 0,
    max_retries: enteredNumber(fields, "retry_config.max_retries") ?? 0,
    retry_delay_seconds: enteredNumber(fields, "retry_config.retry_delay_seconds") ?? before.retry_delay_seconds,
    ...Object.fromEntries(flags.map(([name]) => [name, fields.get(`retry_config.${name}`) !== null]))
  },
  schedule_config:
    hours.length === 0 ? null : { enabled: true, timezone: entered(fields, "schedule_config.timezone") ?? "", slots: slotsOf(hours) }
})

/** From dialing to the end of a call, for the forecast. */
const CALL_SECONDS = 60

/** `contacts`: how many are still to be called. */
const Meaning = ({ contacts, settings }: { readonly contacts: number | undefined; readonly settings: Settings }) => {
  const { max_concurrency: most, rate_limit: rate, schedule_config: schedule } = settings
  const course = { perSecond: rate, atOnce: most ?? 1, callSeconds: CALL_SECONDS, schedule_config: schedule, from: now() }
  const end = contacts === undefined || most === null ? undefined : endOf({ ...course, contacts })
  return (
    <output class="note">
      {limitsOf(settings)}
      {end === undefined || contacts === undefined
        ? ""
        : `. If a call takes a minute, ${counted(contacts, "contact")} are through by ${moment(new Date(end).toISOString())}, retries not included`}
      .
    </output>
  )
}

interface SettingsFieldsProps {
  readonly before: Settings
  readonly calling: Signal<Calling>
  readonly contacts: number | undefined
}

export const SettingsFields = ({ before, calling, contacts }: SettingsFieldsProps) => {
  const retry = before.retry_config
  const shown = useSignal(before)
  const look = ({ currentTarget }: { readonly currentTarget: HTMLElement }) => {
    const form = currentTarget.closest("form")
    if (form !== null) shown.value = settingsIn(new FormData(form), calling.peek(), retry)
  }
  const { value } = shown
  const { hours } = calling.value
  const schedule =
    hours.length === 0
      ? null
      : { enabled: true, timezone: value.schedule_config?.timezone ?? calling.value.timezone, slots: slotsOf(hours) }
  return (
    <div class="form" onInput={look}>
      <TextField name="max_concurrency" label="Calls at once, at most" type="number" min={1} max={100} value={before.max_concurrency} />
      <TextField
        name="rate_limit"
        label="Calls placed per second, at most"
        type="number"
        min={1}
        max={1000}
        value={before.rate_limit}
        isRequired
      />
      <HoursField calling={calling} />
      <fieldset class="group">
        <legend>Retries</legend>
        <TextField
          name="retry_config.max_retries"
          label="Retries of a contact, at most"
          type="number"
          min={0}
          max={10}
          value={retry.enabled ? retry.max_retries : 0}
          isRequired
        />
        <TextField
          name="retry_config.retry_delay_seconds"
          label="Seconds until a retry"
          type="number"
          min={30}
          max={3600}
          value={retry.retry_delay_seconds}
          isRequired
        />
        {flags.map(([name, label]) => (
          <CheckField key={name} name={`retry_config.${name}`} label={`If ${label}`} isChecked={retry[name]} />
        ))}
      </fieldset>
      <Meaning contacts={contacts} settings={{ ...value, schedule_config: schedule }} />
    </div>
  )
}
