/** Callers in browsers, in a process of their own: WebRTC connections, and the websockets of their pages. They converse as the other callees do. */
import { openPage } from "#test/support/browserCall.ts"
import { type Conversed, type ConverserPlan, makeConversers } from "./Converser.ts"

export interface BrowserFlow {
  readonly played: number
  /** Ticks of 20 ms without a frame, since the first one. */
  readonly missed: number
  /** The frames of all calls that have arrived, and wait for their tick. */
  readonly waiting: number
}

export interface BrowserAnswers {
  /** How many calls are up. */
  readonly up: number
  /** How calls were ended that were not hung up here. */
  readonly ended: ReadonlyArray<string>
  readonly conversed: Conversed
  readonly flow: BrowserFlow
}

type Message = { readonly question: keyof BrowserAnswers } | { readonly call: string } | { readonly hangUp: true }

// The benchmark passes it on in this variable.
const conversers = makeConversers(JSON.parse(process.env["CALLERS"] ?? "") as ConverserPlan)
const pages = new Set<ReturnType<typeof openPage>>()
const ended: Array<string> = []
const flow = { played: 0, missed: 0 }
/** The process itself is the end. */
const never = { teardown: () => {} }

const caller = () => {
  const inner = conversers.join()
  let hasHeard = false
  return {
    next: (heard: Buffer | undefined) => {
      hasHeard ||= heard !== undefined
      if (heard !== undefined) flow.played += 1
      else if (hasHeard) flow.missed += 1
      return inner.next(heard)
    }
  }
}

const call = async (url: string) => {
  const page = openPage(never, url)
  pages.add(page)
  page.browser.converses(caller())
  void page.closed.then(({ code, reason }) => {
    if (pages.delete(page)) ended.push(`${code} ${reason} ${JSON.stringify(page.frames.at(-1))}`)
  })
  await page.negotiates()
}

const hangUp = () => {
  for (const { browser, closes } of pages) {
    closes()
    void browser.closes()
  }
  pages.clear()
}

const answers: { readonly [Name in keyof BrowserAnswers]: () => BrowserAnswers[Name] } = {
  up: () => [...pages].filter(({ browser }) => browser.state() === "connected").length,
  ended: () => ended,
  conversed: conversers.take,
  flow: () => ({ ...flow, waiting: [...pages].reduce((sum, { browser }) => sum + browser.waiting(), 0) })
}
process.on("message", (message: Message) => {
  if ("call" in message) void call(message.call)
  else if ("hangUp" in message) hangUp()
  else process.send?.({ [message.question]: answers[message.question]() })
})
process.on("disconnect", () => process.exit())
