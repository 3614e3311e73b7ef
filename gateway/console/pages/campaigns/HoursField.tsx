/** The hours in which a campaign may dial. */
import type { Signal } from "@preact/signals"
import { TextField } from "#gateway/console/base/Form.tsx"
import { dayNames, type Hours, officeHours } from "./schedule.ts"

/** `hours`: none means any time. */
export interface Calling {
  readonly hours: ReadonlyArray<Hours>
  readonly timezone: string
}

const HoursRow = ({ hours, onChange }: { readonly hours: Hours; readonly onChange: (hours: Hours | undefined) => void }) => {
  const { days, from, until } = hours
  const toggle = (day: number) => onChange({ ...hours, days: days.includes(day) ? days.filter((one) => one !== day) : [...days, day] })
  return (
    <div class="hours">
      {dayNames.map((name, day) => (
        <label key={name} class="check">
          <input type="checkbox" checked={days.includes(day)} onChange={() => toggle(day)} /> {name}
        </label>
      ))}
      <label>
        from{" "}
        <input
          type="text"
          pattern="\d{2}:\d{2}"
          value={from}
          onInput={(event) => onChange({ ...hours, from: event.currentTarget.value })}
        />
      </label>
      <label>
        until{" "}
        <input
          type="text"
          pattern="\d{2}:\d{2}"
          value={until}
          onInput={(event) => onChange({ ...hours, until: event.currentTarget.value })}
        />
      </label>
      <button type="button" onClick={() => onChange(undefined)}>
        Remove
      </button>
    </div>
  )
}

export const HoursField = ({ calling }: { readonly calling: Signal<Calling> }) => {
  const { hours } = calling.value
  const set = (next: ReadonlyArray<Hours>) => {
    calling.value = { ...calling.value, hours: next }
  }
  return (
    <fieldset class="group">
      <legend>Calling hours</legend>
      {hours.length === 0 ? <p class="note">At any time, also at night.</p> : null}
      {hours.map((one, at) => (
        <HoursRow
          // Hours have no name but their place.
          key={`${at}`}
          hours={one}
          onChange={(next) => set(hours.flatMap((present, other) => (other === at ? (next === undefined ? [] : [next]) : [present])))}
        />
      ))}
      <p class="choices">
        <button type="button" onClick={() => set([...hours, officeHours])}>
          Add hours
        </button>
      </p>
      {hours.length === 0 ? null : (
        <TextField name="schedule_config.timezone" label="Time zone of these hours" value={calling.peek().timezone} isRequired />
      )}
    </fieldset>
  )
}
