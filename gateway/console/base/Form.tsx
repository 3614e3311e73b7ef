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

/** `config.numbers` for a fault of `config.numbers.3`, if that is what the form has. */
const fieldOf = (known: ReadonlySet<string>, field: string): string | undefined => {
  if (field === "" || known.has(field)) return field === "" ? undefined : field
  return fieldOf(known, field.slice(0, Math.max(0, field.lastIndexOf("."))))
}

/** A regular expression tells people nothing: the hint at the field describes the format. */
const inWords = (message: string): string => message.replace(/^String should match pattern .*$/s, "this is not in the required format")

/** `known`: the form's fields. Of a list that is one field, the message says which item is meant. */
const faultsIn = (cause: unknown, known: ReadonlySet<string>): Faults => {
  if (!(cause instanceof Refused)) return { ...none, other: [reasonOf(cause)] }
  const byField = new Map<string, string>()
  const other: Array<string> = []
  for (const { field, message: told } of cause.faults) {
    const message = inWords(told)
    const at = fieldOf(known, field)
    if (at === undefined) other.push(field === "" ? message : `${field}: ${message}`)
    else {
      const item = /^\.(\d+)$/.exec(field.slice(at.length))?.[1]
      const words = item === undefined ? message : `Item ${Number(item) + 1}: ${message}`
      byField.set(at, [byField.get(at) ?? [], words].flat().join("; "))
    }
  }
  return { byField, other }
}

interface FormProps {
  /** The button. */
  readonly label: string
  readonly children: ComponentChildren
  readonly submit: (fields: FormData) => Promise<unknown>
  /** Said afterwards, if the form is still there. */
  readonly done?: string
  /** Whether it is empty afterwards, for the next of the kind. */
  readonly isForMany?: boolean
  /** More buttons. */
  readonly more?: ComponentChildren
}

export const Form = ({ children, done, isForMany = false, label, more, submit }: FormProps) => {
  const faults = useSignal(none)
  const standing = useSignal<"open" | "sending" | "done">("open")
  const send = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const fields = new FormData(form)
    const known = new Set([...form.elements].flatMap((element) => element.getAttribute("name") ?? []))
    faults.value = none
    standing.value = "sending"
    try {
      await submit(fields)
      if (isForMany) form.reset()
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

const describedBy = (id: string, hint: string | undefined, fault: string | undefined): { readonly "aria-describedby"?: string } => {
  const ids = [hint === undefined || hint === "" ? [] : [`${id}-hint`], fault === undefined ? [] : [`${id}-fault`]].flat()
  return ids.length === 0 ? {} : { "aria-describedby": ids.join(" ") }
}

interface DescribedProps {
  readonly id: string
  readonly hint: string | undefined
  readonly fault: string | undefined
}

/** The hint, and what is wrong. */
const Described = ({ fault, hint, id }: DescribedProps) => (
  <>
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
  </>
)

/** A label, a hint and what is wrong around a field. */
const Labeled = ({ field, hint, label, name }: LabeledProps & { readonly field: (ids: FieldIds) => ComponentChildren }) => {
  const id = useId()
  const fault = useContext(Found)?.value.byField.get(name)
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {field({ id, "aria-invalid": fault !== undefined, ...describedBy(id, hint, fault) })}
      <Described id={id} hint={hint} fault={fault} />
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
  /** `number`: a whole one. */
  readonly type?: "text" | "password" | "email" | "number" | "decimal" | "time" | "date" | "url"
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
    ...(type === "decimal" ? { type: "number", step: "any" } : { type }),
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
  readonly placeholder?: string
}
export const AreaField = ({ isRequired = false, placeholder = "", rows = 4, value = "", ...labeled }: AreaProps) => (
  <Labeled
    {...labeled}
    field={(ids) => (
      <textarea
        {...ids}
        name={labeled.name}
        rows={rows}
        required={isRequired}
        placeholder={placeholder}
        spellcheck={false}
        defaultValue={value}
      />
    )}
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

export const CheckField = ({ hint, isChecked = false, label, name }: LabeledProps & { readonly isChecked?: boolean }) => {
  const id = useId()
  const fault = useContext(Found)?.value.byField.get(name)
  return (
    <div class="field">
      <label class="check">
        <input
          type="checkbox"
          name={name}
          defaultChecked={isChecked}
          aria-invalid={fault !== undefined}
          {...describedBy(id, hint, fault)}
        />{" "}
        {label}
      </label>
      <Described id={id} hint={hint} fault={fault} />
    </div>
  )
}

interface ChoicesProps extends LabeledProps {
  readonly values?: ReadonlyArray<string>
  readonly choices: ReadonlyArray<readonly [value: string, label: string]>
}

/** Any number of them. */
export const ChoicesField = ({ choices, hint, label, name, values = [] }: ChoicesProps) => {
  const id = useId()
  const fault = useContext(Found)?.value.byField.get(name)
  return (
    <fieldset class="field" {...describedBy(id, hint, fault)}>
      <legend>{label}</legend>
      {choices.map(([choice, words]) => (
        <label key={choice} class="check">
          <input type="checkbox" name={name} value={choice} defaultChecked={values.includes(choice)} /> {words}
        </label>
      ))}
      <Described id={id} hint={hint} fault={fault} />
    </fieldset>
  )
}

/** What was entered; undefined if nothing was. */
export const entered = (fields: FormData, name: string): string | undefined => {
  const value = fields.get(name)
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined
}
export const enteredNumber = (fields: FormData, name: string): number | undefined => {
  const text = entered(fields, name)
  return text === undefined ? undefined : Number(text)
}

/** What was chosen of several. */
export const chosen = (fields: FormData, name: string): ReadonlyArray<string> => fields.getAll(name).map(String)

/** One item per line. */
export const enteredLines = (fields: FormData, name: string): ReadonlyArray<string> =>
  String(fields.get(name) ?? "")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
