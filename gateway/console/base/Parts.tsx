/** What all pages are made of. */
import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { useEffect, useRef } from "preact/hooks"
import { reasonOf } from "./api.ts"
import { now } from "./clock.ts"
import type { Reading } from "./reading.ts"
import { ago, moments, type Standing, standingOf, words } from "./words.ts"

const marks: Readonly<Record<Standing, string>> = { good: "●", busy: "▶", waiting: "◌", bad: "✕", over: "■" }

/** `as`: how it stands, if its name does not tell. */
export const State = ({ as, of }: { readonly as?: Standing; readonly of: string }) => {
  const standing = as ?? standingOf(of)
  return (
    <span class={`state ${standing}`}>
      <span aria-hidden="true">{marks[standing]}</span> {words(of)}
    </span>
  )
}

/** Changes each second. */
const useNow = () => {
  const present = useSignal(now())
  useEffect(() => {
    const ticking = setInterval(() => {
      present.value = now()
    }, 1000)
    return () => clearInterval(ticking)
  }, [])
  return present.value
}

export const When = ({ at }: { readonly at: string | null }) => {
  const present = useNow()
  return at === null ? (
    <span class="none">-</span>
  ) : (
    <time dateTime={at} title={moments(at)}>
      {ago(at, present)}
    </time>
  )
}

/** `share`: 0 to 1. */
export const Bar = ({ label, share }: { readonly label: string; readonly share: number }) => (
  <span class="bar" role="img" aria-label={label} title={label}>
    <span style={{ width: `${Math.round(100 * Math.min(1, Math.max(0, share)))}%` }} />
  </span>
)

interface PanelProps {
  readonly children: ComponentChildren
  readonly title: string
  /** Beside the title. */
  readonly more?: ComponentChildren
}
export const Panel = ({ children, more, title }: PanelProps) => (
  <section class="panel">
    <header class="head">
      <h2>{title}</h2>
      {more}
    </header>
    {children}
  </section>
)

export const Fault = ({ children }: { readonly children: ComponentChildren }) => (
  <p role="alert" class="fault">
    {children}
  </p>
)

/** What was read, or why it could not be. What was read before stays. */
export function Shown<A>({ of, show }: { readonly of: Reading<A>; readonly show: (value: A) => ComponentChildren }) {
  const { error, renew, value } = of
  return (
    <>
      {error.value === undefined ? null : (
        <Fault>
          {error.value}{" "}
          <button type="button" onClick={renew}>
            Try again
          </button>
        </Fault>
      )}
      {value.value === undefined ? error.value === undefined && <p class="none">Loading</p> : show(value.value)}
    </>
  )
}

/** Whether something is being done in the engine, and why it was refused. */
export const useAct = (act: () => Promise<unknown>) => {
  const isActing = useSignal(false)
  const refused = useSignal<string | undefined>(undefined)
  /** Resolves with whether it was done. */
  const press = async (): Promise<boolean> => {
    isActing.value = true
    refused.value = undefined
    try {
      await act()
      return true
    } catch (cause) {
      refused.value = reasonOf(cause)
      return false
    } finally {
      isActing.value = false
    }
  }
  return { isActing, press, refused }
}

interface ActProps {
  readonly act: () => Promise<unknown>
  readonly label: string
  /** What it is about, for those who do not see beside what the button is. */
  readonly about?: string
  readonly isMain?: boolean
}

/** A button that does something in the engine, and says why if it is refused. */
export const Act = ({ about, act, isMain = false, label }: ActProps) => {
  const { isActing, press, refused } = useAct(act)
  return (
    <span class="act">
      <button
        type="button"
        class={isMain ? "main" : ""}
        aria-label={about === undefined ? undefined : `${label} ${about}`}
        disabled={isActing.value}
        onClick={press}
      >
        {label}
      </button>
      {refused.value === undefined ? null : <span role="alert">{refused.value}</span>}
    </span>
  )
}

/** A text, and a button that copies it. */
export const Copied = ({ text }: { readonly text: string }) => {
  const isCopied = useSignal(false)
  const shown = useRef<HTMLElement>(null)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      isCopied.value = true
    } catch {
      // Browsers keep the clipboard from pages without TLS. What is selected can be copied by the keyboard.
      if (shown.current !== null) getSelection()?.selectAllChildren(shown.current)
    }
  }
  return (
    <span class="copied">
      <code ref={shown}>{text}</code>{" "}
      <button type="button" onClick={copy}>
        {isCopied.value ? "Copied" : "Copy"}
      </button>
    </span>
  )
}
