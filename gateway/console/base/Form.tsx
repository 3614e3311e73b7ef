/** Forms: what is wrong with a field, as the API says it, is shown at the field. */
import { type Signal, useSignal } from "@preact/signals"
import { type ComponentChildren, createContext, type InputHTMLAttributes, type TargetedSubmitEvent } from "preact"
import { useContext, useId } from "preact/hooks"
import { Refused, reasonOf } from "./api.ts"
import { Fault } from "./Parts.tsx"

interface Faults {
  readonly byField: ReadonlyMap<string, string>
  /** About no field that the form has. */
  readonly other: ReadonlyArray<string>
}
const none: Faults = { byField: new Map(), other: [] }
const Found = createContext<Signal<Faults> | undefined>(undefined)

/** `known`: the form's fields. */
const faultsIn = (cause: unknown, known: ReadonlySet<string>): Faults => {
  if (!(cause instanceof Refused)) return { ...none, other: [reasonOf(cause)] }
  const isKnown = ({ field }: { readonly field: string }) => known.has(field)
  return {
    byField: new Map(cause.faults.filter(isKnown).map(({ field, message }) => [field, message])),
    other: cause.faults.filter((fault) => !isKnown(fault)).map(({ field, message }) => (field === "" ? message : `${field}: ${message}`))
  }
}

interface FormProps {
  /** The button. */
  readonly label: string
  readonly children: ComponentChildren
  readonly submit: (fields: FormData) => Promise<unknown>
  /** Said afterwards, if the form is still there. */
  readonly done?: string
  /** More buttons. */
  readonly more?: ComponentChildren
}

export const Form = ({ children, done, label, more, submit }: FormProps) => {
  const faults = useSignal(none)
  const standing = useSignal<"open" | "sending" | "done">("open")
  const send = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    const fields = new FormData(event.currentTarget)
    const known = new Set([...event.currentTarget.elements].flatMap((element) => element.getAttribute("name") ?? []))
    faults.value = none
    standing.value = "sending"
    try {
      await submit(fields)
      standing.value = "done"
    } catch (cause) {
      faults.value = faultsIn(cause, known)
      standing.value = "open"
    }
  }
  return (
    <Found.Provider value={faults}>
      <form class="form" onSubmit={send} onInput={() => (standing.value = "open")}>
        {children}
        {faults.value.other.map((message) => (
          <Fault key={message}>{message}</Fault>
        ))}
        <p class="choices">
          {more}
          <button type="submit" class="main" disabled={standing.value === "sending"}>
            {label}
          </button>
          {standing.value === "done" && done !== undefined ? <output class="good">{done}</output> : null}
        </p>
      </form>
    </Found.Provider>
  )
}

interface LabeledProps {
  /** As the API names it, with the names above it: `config.account_sid`. */
  readonly name: string
  readonly label: string
  readonly hint?: string | undefined
}

/** A label, a hint and what is wrong around a field. */
const Labeled = ({ field, hint, label, name }: LabeledProps & { readonly field: (ids: FieldIds) => ComponentChildren }) => {
  const id = useId()
  const fault = useContext(Found)?.value.byField.get(name)
  const described = [hint === undefined || hint === "" ? [] : [`${id}-hint`], fault === undefined ? [] : [`${id}-fault`]].flat().join(" ")
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {field({ id, "aria-invalid": fault !== undefined, ...(described === "" ? {} : { "aria-describedby": described }) })}
      {hint === undefined || hint === "" ? null : (
        <small id={`${id}-hint`} class="hint">
          {hint}
        </small>
      )}
      {fault === undefined ? null : (
        <small id={`${id}-fault`} role="alert" class="fault">
          {fault}
        </small>
      )}
    </div>
  )
}

interface FieldIds {
  readonly id: string
  readonly "aria-invalid": boolean
  readonly "aria-describedby"?: string
}

interface TextProps extends LabeledProps {
  readonly value?: string | number | null | undefined
  readonly type?: "text" | "password" | "email" | "number" | "time" | "date" | "url"
  readonly isRequired?: boolean
  readonly isReadOnly?: boolean
  readonly placeholder?: string
  readonly autocomplete?: string
  readonly min?: number
  readonly max?: number
}

export const TextField = (field: TextProps) => {
  const {
    autocomplete = "off",
    hint,
    isReadOnly = false,
    isRequired = false,
    label,
    max,
    min,
    name,
    placeholder,
    type = "text",
    value
  } = field
  // Cast: Preact declares the attributes of each type of field apart.
  const attributes = {
    name,
    type,
    autocomplete,
    defaultValue: String(value ?? ""),
    readOnly: isReadOnly,
    required: isRequired,
    spellcheck: false,
    ...(placeholder === undefined ? {} : { placeholder }),
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max })
  } as InputHTMLAttributes<HTMLInputElement>
  return <Labeled name={name} label={label} hint={hint} field={(ids) => <input {...attributes} {...ids} />} />
}

interface AreaProps extends LabeledProps {
  readonly value?: string | undefined
  readonly rows?: number
  readonly isRequired?: boolean
}
export const AreaField = ({ isRequired, rows = 4, value = "", ...labeled }: AreaProps) => (
  <Labeled
    {...labeled}
    field={(ids) => <textarea {...ids} name={labeled.name} rows={rows} required={isRequired === true} defaultValue={value} />}
  />
)

interface ChoiceProps extends LabeledProps {
  readonly value?: string | undefined
  readonly choices: ReadonlyArray<readonly [value: string, label: string]>
  readonly onChoose?: (value: string) => void
}
export const ChoiceField = ({ choices, onChoose, value, ...labeled }: ChoiceProps) => (
  <Labeled
    {...labeled}
    field={(ids) => (
      <select {...ids} name={labeled.name} onChange={(event) => onChoose?.(event.currentTarget.value)}>
        {choices.map(([choice, name]) => (
          <option key={choice} value={choice} selected={choice === value}>
            {name}
          </option>
        ))}
      </select>
    )}
  />
)

export const CheckField = ({ isChecked = false, label, name }: LabeledProps & { readonly isChecked?: boolean }) => (
  <label class="check">
    <input type="checkbox" name={name} defaultChecked={isChecked} /> {label}
  </label>
)

/** What was entered; undefined if nothing was. */
export const entered = (fields: FormData, name: string): string | undefined => {
  const value = fields.get(name)
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined
}
export const enteredNumber = (fields: FormData, name: string): number | undefined => {
  const text = entered(fields, name)
  return text === undefined ? undefined : Number(text)
}
