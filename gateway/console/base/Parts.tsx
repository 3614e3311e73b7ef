/** What all pages are made of. */
import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { useEffect } from "preact/hooks"
import { Refused } from "./api.ts"
import { now } from "./clock.ts"
import type { Reading } from "./reading.ts"
import { ago, moment, type Standing, standingOf, words } from "./words.ts"

const marks: Readonly<Record<Standing, string>> = { good: "●", busy: "▶", waiting: "◌", bad: "✕", over: "■" }

export const State = ({ of }: { readonly of: string }) => {
  const standing = standingOf(of)
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
    <time dateTime={at} title={moment(at)}>
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

export const Panel = ({ children, title }: { readonly children: ComponentChildren; readonly title: string }) => (
  <section class="panel">
    <h2>{title}</h2>
    {children}
  </section>
)

/** What was read, or why it could not be. */
export function Shown<A>({ of, show }: { readonly of: Reading<A>; readonly show: (value: A) => ComponentChildren }) {
  const { error, renew, value } = of
  return (
    <>
      {error.value === undefined ? null : (
        <p role="alert" class="fault">
          {error.value}{" "}
          <button type="button" onClick={renew}>
            Try again
          </button>
        </p>
      )}
      {value.value === undefined ? error.value === undefined && <p class="none">Loading</p> : show(value.value)}
    </>
  )
}

/** A button that does something in the engine, and says why if it is refused. */
export const Act = ({ act, label }: { readonly act: () => Promise<unknown>; readonly label: string }) => {
  const isActing = useSignal(false)
  const refused = useSignal<string | undefined>(undefined)
  const press = async () => {
    isActing.value = true
    refused.value = undefined
    try {
      await act()
    } catch (cause) {
      refused.value = cause instanceof Refused ? cause.message : String(cause)
    }
    isActing.value = false
  }
  return (
    <span class="act">
      <button type="button" disabled={isActing.value} onClick={press}>
        {label}
      </button>
      {refused.value === undefined ? null : <span role="alert">{refused.value}</span>}
    </span>
  )
}
