/** Figures, times and states in words. */
import { caller } from "./caller.ts"

const number = new Intl.NumberFormat("en")
export const figure = (value: number): string => number.format(value)

/** The word for one of it, or for another number of it. */
export const counted = (count: number, one: string, many = `${one}s`): string => `${figure(count)} ${count === 1 ? one : many}`

const styles = { dateStyle: "medium", timeStyle: "medium" } as const

/** In the organization's time zone. */
export const moment = (instant: string): string => {
  const timeZone = caller.value?.timezone ?? undefined
  return new Intl.DateTimeFormat("en-GB", { ...styles, ...(timeZone === undefined ? {} : { timeZone }) }).format(new Date(instant))
}

/** In the organization's time zone, with its name, and in that of whoever looks. */
export const moments = (instant: string): string => {
  const zone = caller.value?.timezone ?? undefined
  const here = new Intl.DateTimeFormat("en-GB", styles).format(new Date(instant))
  return zone === undefined ? here : `${moment(instant)} (${zone}), ${here} here`
}

const steps = [
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
  ["second", 1]
] as const
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" })

/** `3 minutes ago`, `in 2 hours`. */
export const ago = (instant: string, now: number): string => {
  const seconds = Math.round((Date.parse(instant) - now) / 1000)
  const [unit, size] = steps.find(([, length]) => Math.abs(seconds) >= length) ?? ["second", 1]
  return relative.format(Math.trunc(seconds / size), unit)
}

/** `75` -> `1 min 15 s` */
export const lasting = (seconds: number): string => {
  const whole = Math.round(seconds)
  const parts = [
    [Math.floor(whole / 3600), "h"],
    [Math.floor((whole % 3600) / 60), "min"],
    [whole % 60, "s"]
  ] as const
  const shown = parts.filter(([count]) => count > 0).slice(0, 2)
  return shown.length === 0 ? "0 s" : shown.map(([count, unit]) => `${count} ${unit}`).join(" ")
}

/** `user_hangup` -> `user hangup` */
export const words = (name: string): string => name.replaceAll(/[_.]/g, " ")

/** How something stands; each has its own mark, because color alone tells some people nothing. */
export type Standing = "good" | "busy" | "waiting" | "bad" | "over"
const standings: Readonly<Record<string, Standing>> = {
  draft: "waiting",
  created: "waiting",
  running: "busy",
  paused: "waiting",
  completed: "over",
  failed: "bad",
  up: "good",
  ready: "good",
  connecting: "waiting",
  unused: "waiting",
  down: "bad",
  degraded: "bad",
  active: "good",
  archived: "over"
}
export const standingOf = (state: string): Standing => standings[state] ?? "over"
