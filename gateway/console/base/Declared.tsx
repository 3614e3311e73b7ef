/** Fields that the API declares, such as those of a carrier or a voice: the console knows none of them by name. */
import { AreaField, CheckField, ChoiceField, entered, enteredLines, TextField } from "./Form.tsx"

export interface Declared {
  readonly name: string
  readonly label: string
  readonly hint: string
  readonly placeholder: string
  readonly isRequired: boolean
  /** `fixed`: only the engine changes it. */
  readonly kind: "text" | "secret" | "area" | "check" | "list" | "choice" | "fixed"
  /** Of a choice. */
  readonly choices?: ReadonlyArray<string>
}
export type Values = Readonly<Record<string, unknown>>

const textOf = (value: unknown): string => (value === undefined || value === null ? "" : String(value))
const linesOf = (value: unknown): string => (Array.isArray(value) ? value.join("\n") : textOf(value))

interface FieldProps {
  readonly field: Declared
  /** As the API names it: `config.acme.account_id`. */
  readonly name: string
  readonly value: unknown
}

const Field = ({ field: { choices = [], hint, isRequired, kind, label, placeholder }, name, value }: FieldProps) => {
  const labeled = { name, label: isRequired || kind === "check" || kind === "fixed" ? label : `${label} (optional)`, hint }
  switch (kind) {
    case "check":
      return <CheckField {...labeled} isChecked={value === true} />
    case "list":
      return (
        <AreaField {...labeled} hint={`${hint === "" ? "" : `${hint}. `}One per line`} placeholder={placeholder} value={linesOf(value)} />
      )
    case "area":
      return <AreaField {...labeled} isRequired={isRequired} placeholder={placeholder} value={textOf(value)} />
    case "choice": {
      const none = isRequired ? [] : [["", "Not chosen"] as const]
      return <ChoiceField {...labeled} value={textOf(value)} choices={[...none, ...choices.map((choice) => [choice, choice] as const)]} />
    }
    case "fixed":
      return textOf(value) === "" ? null : <TextField {...labeled} isReadOnly value={textOf(value)} />
    case "secret":
      return (
        <TextField
          {...labeled}
          type="password"
          autocomplete="new-password"
          isRequired={isRequired}
          placeholder={placeholder}
          value={textOf(value)}
        />
      )
    case "text":
      return <TextField {...labeled} isRequired={isRequired} placeholder={placeholder} value={textOf(value)} />
  }
}

interface DeclaredFieldsProps {
  readonly fields: ReadonlyArray<Declared>
  /** What their names begin with: `config.acme`. */
  readonly below: string
  readonly values: Values
}

export const DeclaredFields = ({ below, fields, values }: DeclaredFieldsProps) => (
  <>
    {fields.map((field) => (
      <Field key={field.name} field={field} name={`${below}.${field.name}`} value={values[field.name]} />
    ))}
  </>
)

const enteredFor = (form: FormData, { kind, name: own }: Declared, name: string, values: Values): unknown => {
  const { [own]: before } = values
  if (kind === "check") return form.has(name)
  if (kind === "list") return enteredLines(form, name)
  const text = entered(form, name)
  // What nobody has changed goes back as it came: a number as a number, and a masked secret as its mask.
  return kind === "fixed" || text === textOf(before) ? before : text
}

/** `values`: as the API has shown them. What is left empty is left out. */
export const enteredValues = (form: FormData, { below, fields, values }: DeclaredFieldsProps): Values =>
  Object.fromEntries(
    fields
      .map((field) => [field.name, enteredFor(form, field, `${below}.${field.name}`, values)])
      .filter(([, value]) => value !== undefined)
  )

/** For those who may not change them. */
export const DeclaredFacts = ({ fields, values }: Omit<DeclaredFieldsProps, "below">) => (
  <dl class="facts">
    {fields
      .filter(({ name }) => values[name] !== undefined && linesOf(values[name]) !== "")
      .flatMap(({ label, name }) => [<dt key={name}>{label}</dt>, <dd key={`${name} value`}>{linesOf(values[name])}</dd>])}
  </dl>
)
