/** The output while the demo runs: on a terminal, a block that is redrawn; otherwise a line from time to time. */
import { styleText } from "node:util"
import { outcomes, type Progress } from "./Watch.ts"

export interface Display {
  /** Says what is being done, then what came of it. */
  readonly step: <A>(name: string, doing: string, act: () => Promise<A>, done: (value: A) => string) => Promise<A>
  /** How often the display is updated: each update costs the service eight requests. */
  readonly everyMillis: number
  readonly show: (progress: Progress) => void
  readonly say: (...lines: ReadonlyArray<string>) => void
  /** Leaves the last drawing on the screen. */
  readonly close: () => void
}

type Style = Parameters<typeof styleText>[0]
/** Leaves the text plain if there is no terminal, or if colors are disabled. */
export const styled = (style: Style, text: string): string => styleText(style, text, { stream: process.stdout })

const nameWidth = 10
const heading = (name: string): string => styled("dim", name.padEnd(nameWidth))
const clock = (seconds: number): string => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`
const secondsSince = (at: number): number => Math.max(0, Math.round((Date.now() - at) / 1000))

const conversationsOf = ({ conversations: { held, of } = { held: 0, of: 0 } }: Progress): string => `${held} of ${of} held`

const drawMillis = 200
const terminalMillis = 500
const plainMillis = 2000
const spinner = [..."⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"]
const widestBar = 50
const leastBar = 10
const colors = { answered: "green", voicemail: "magenta", busy: "yellow", "no answer": "yellow", failed: "red" } as const

const bar = (share: number, width: number): string => {
  const eighths = Math.round(Math.min(1, share) * width * 8)
  const full = "█".repeat(eighths >> 3) + (["", ..."▏▎▍▌▋▊▉"][eighths & 7] ?? "")
  return styled("cyan", full) + styled("dim", "░".repeat(width - full.length))
}

const blockOf = (progress: Progress): ReadonlyArray<string> => {
  const { calls, contacts, dialsPerSecond, done, live, retriesWaiting, slots, startedAt } = progress
  // A terminal that does not know its width reports 0.
  const width = Math.max(leastBar, Math.min(widestBar, (process.stdout.columns || 80) - 30))
  const used = Math.min(width, Math.round((live / slots) * Math.min(width, slots)))
  const gauge = styled("green", "■".repeat(used)) + styled("dim", "□".repeat(Math.max(0, Math.min(width, slots) - used)))
  return [
    "",
    `    ${bar(done / contacts, width)} ${styled("bold", `${done}/${contacts}`)} contacts  ${clock(secondsSince(startedAt))}`,
    "",
    `    ${heading("live")}${gauge} ${live} of ${slots} slots`,
    `    ${heading("dialing")}${dialsPerSecond.toFixed(1)} calls/s`,
    `    ${heading("so far")}${outcomes.map((name) => `${styled(colors[name], String(calls[name]))} ${name}`).join(styled("dim", " · "))}`,
    `    ${heading("retries")}${retriesWaiting} waiting`,
    ...(progress.conversations === undefined ? [] : [`    ${heading("talks")}${conversationsOf(progress)}`])
  ]
}

const lineOf = (progress: Progress): string => {
  const { calls, contacts, dialsPerSecond, done, live, retriesWaiting, slots, startedAt } = progress
  const counts = outcomes.map((name) => `${calls[name]} ${name}`).join(", ")
  const time = clock(secondsSince(startedAt)).padStart(6)
  const talks = progress.conversations === undefined ? "" : `, talks: ${conversationsOf(progress)}`
  return `${time}  ${done}/${contacts} contacts, ${live}/${slots} live, ${dialsPerSecond.toFixed(1)} calls/s, ${counts}, ${retriesWaiting} retries waiting${talks}`
}

const hideCursor = "\x1b[?25l"
const showCursor = "\x1b[?25h"
const noWrap = "\x1b[?7l"
const wrap = "\x1b[?7h"

export const terminalDisplay = (): Display => {
  const out = process.stdout
  let height = 0
  let block: () => ReadonlyArray<string> = () => []
  const draw = () => {
    const lines = block()
    const back = height === 0 ? "" : `\x1b[${height}A\x1b[J`
    height = lines.length
    out.write(`${back}${noWrap}${lines.map((line) => `${line}\n`).join("")}${wrap}`)
  }
  const say = (...lines: ReadonlyArray<string>) => {
    block = () => lines
    draw()
    height = 0
    block = () => []
  }
  out.write(hideCursor)
  process.once("exit", () => out.write(showCursor))
  const timer = setInterval(() => block().length > 0 && draw(), drawMillis)
  return {
    say,
    step: async (name, doing, act, done) => {
      let turn = 0
      block = () => [`  ${styled("cyan", spinner[turn++ % spinner.length] ?? "")} ${heading(name)}${doing}`]
      draw()
      const value = await act()
      say(`  ${styled("green", "✔")} ${heading(name)}${done(value)}`)
      return value
    },
    everyMillis: terminalMillis,
    show: (progress) => {
      block = () => blockOf(progress)
      draw()
    },
    close: () => clearInterval(timer)
  }
}

/** Writes lines for a log to the given stream. */
export const plainDisplay = (out: NodeJS.WriteStream): Display => {
  const say = (...lines: ReadonlyArray<string>) => {
    out.write(lines.map((line) => `${line}\n`).join(""))
  }
  return {
    say,
    step: async (name, _, act, done) => {
      const value = await act()
      say(`  ${name.padEnd(nameWidth)}${done(value)}`)
      return value
    },
    everyMillis: plainMillis,
    show: (progress) => say(lineOf(progress)),
    close: () => {}
  }
}
