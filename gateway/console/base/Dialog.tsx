/** A question before something that cannot be taken back. It always has a way out that does nothing. */
import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { useEffect, useId, useRef } from "preact/hooks"
import { Fault, useAct } from "./Parts.tsx"

interface ConfirmProps {
  /** The button that opens it. */
  readonly label: string
  /** What it is about, for those who do not see beside what the button is. */
  readonly about?: string
  /** What happens then. */
  readonly children: ComponentChildren
  readonly title: string
  /** The buttons in it: what does it, and what leaves everything as it is. */
  readonly yes: string
  readonly no: string
  readonly act: () => Promise<unknown>
}

export const Confirm = ({ about, act, children, label, no, title, yes }: ConfirmProps) => {
  const isOpen = useSignal(false)
  const { isActing, press, refused } = useAct(act)
  const close = () => {
    isOpen.value = false
    refused.value = undefined
  }
  return (
    <>
      <button type="button" aria-label={about === undefined ? undefined : `${label} ${about}`} onClick={() => (isOpen.value = true)}>
        {label}
      </button>
      {isOpen.value ? (
        <Dialog title={title} close={close}>
          {children}
          {refused.value === undefined ? null : <Fault>{refused.value}</Fault>}
          <p class="choices">
            <button type="button" onClick={close}>
              {no}
            </button>
            <button type="button" class="main" disabled={isActing.value} onClick={async () => (await press()) && close()}>
              {yes}
            </button>
          </p>
        </Dialog>
      ) : null}
    </>
  )
}

interface DialogProps {
  readonly title: string
  readonly children: ComponentChildren
  /** Escape, too. */
  readonly close: () => void
}

export const Dialog = ({ children, close, title }: DialogProps) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} aria-labelledby={titleId} onClose={close}>
      <h2 id={titleId}>{title}</h2>
      {children}
    </dialog>
  )
}
