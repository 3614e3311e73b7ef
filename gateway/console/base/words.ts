/** Figures, times and states in words. */

const number = new Intl.NumberFormat("en")
export const figure = (value: number): string => number.format(value)

const time = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" })
export const moment = (instant: string): string => time.format(new Date(instant))

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

/** `user_hangup` -> `user hangup` */
export const words = (name: string): string => name.replaceAll("_", " ")

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
  connecting: "waiting",
  down: "bad",
  degraded: "bad"
}
export const standingOf = (state: string): Standing => standings[state] ?? "over"
