/** An agent as JSON: each fault has a link to its place. */
import { useSignal } from "@preact/signals"
import { useId, useRef } from "preact/hooks"
import { Refused, reasonOf } from "#gateway/console/base/api.ts"
import { type Placed, placedFaults, syntaxFault } from "./faultPlace.ts"

interface JsonEditorProps {
  readonly label: string
  readonly value: unknown
  readonly isReadOnly: boolean
  readonly save: (value: unknown) => Promise<unknown>
  /** The name of the value in the request that saves it. */
  readonly field: string
}

export const JsonEditor = ({ field, isReadOnly, label, save, value }: JsonEditorProps) => {
  const id = useId()
  const area = useRef<HTMLTextAreaElement>(null)
  const faults = useSignal<ReadonlyArray<Placed>>([])
  const said = useSignal("")
  const show = ({ from, until }: Placed) => {
    area.current?.focus()
    area.current?.setSelectionRange(from, until)
  }
  const check = (text: string): boolean => {
    const fault = syntaxFault(text)
    faults.value = fault === undefined ? [] : [fault]
    said.value = ""
    return fault === undefined
  }
  const press = async () => {
    const text = area.current?.value ?? ""
    if (!check(text)) return
    try {
      await save(JSON.parse(text))
      said.value = "Saved"
    } catch (cause) {
      if (cause instanceof Refused) faults.value = placedFaults(text, cause, `${field}.`)
      else faults.value = [{ line: 1, message: reasonOf(cause), from: 0, until: 0 }]
    }
  }
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        ref={area}
        class="code"
        rows={24}
        readOnly={isReadOnly}
        spellcheck={false}
        defaultValue={JSON.stringify(value, null, 2)}
        onInput={(event) => check(event.currentTarget.value)}
      />
      {faults.value.length === 0 ? null : (
        <div role="alert">
          <ul class="faults">
            {faults.value.map((fault) => (
              <li key={`${fault.from} ${fault.message}`}>
                <button type="button" class="link" onClick={() => show(fault)}>
                  Line {fault.line}
                </button>{" "}
                {fault.message}
              </li>
            ))}
          </ul>
        </div>
      )}
      {isReadOnly ? null : (
        <p class="choices">
          <button type="button" class="main" onClick={press}>
            Save
          </button>
          <output class="good">{said.value}</output>
        </p>
      )}
    </div>
  )
}
