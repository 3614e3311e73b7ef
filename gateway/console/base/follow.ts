/**
 * What happens in the engine, as it happens: its stream of events, which goes on after the last event that was received. Whoever shows something asks for
 * it again when an event is about it. The stream says when it is cut off, and everything is read again when it is back.
 */
import { signal } from "@preact/signals"
import { now } from "./clock.ts"
import { figures, forgetFigures } from "./figures.ts"
import type { Happened } from "./types.ts"

/** `lost`: since when, in epoch milliseconds. */
export const connection = signal<{ readonly state: "live" } | { readonly state: "lost"; readonly since: number }>({
  state: "lost",
  since: now()
})

/** The newest events first. */
export const lately = signal<ReadonlyArray<Happened>>([])
const MOST_LATELY = 50

type Listener = (event: Happened | undefined) => void
const listeners = new Set<Listener>()

/** The listener gets each event, and undefined if there may have been others. Returns how to stop. */
export const onEvent = (listener: Listener): (() => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

const tell = (event: Happened | undefined): void => {
  for (const listener of listeners) listener(event)
}

/** All types: server-sent events with a name reach only listeners for that name. */
const types: Readonly<Record<Happened["type"], true>> = {
  "campaign.created": true,
  "campaign.started": true,
  "campaign.paused": true,
  "campaign.resumed": true,
  "campaign.completed": true,
  "campaign.failed": true,
  "campaign.redialed": true,
  "run.answered": true,
  "run.completed": true,
  "contact.opted_out": true,
  "contact.callback_agreed": true,
  "storage.full": true,
  "webhook.test": true,
  "events.gap": true
}
const AGAIN_MILLIS = 1000

/** Follows until the result is called. Whoever signs in next may belong to another organization: nothing is left for them. */
export const follow = (): (() => void) => {
  let lastId = ""
  let source: EventSource | undefined
  let again: ReturnType<typeof setTimeout> | undefined
  const hear = (message: MessageEvent<string>) => {
    lastId = message.lastEventId
    // The API keeps to its types.
    const event = JSON.parse(message.data) as Happened
    lately.value = [event, ...lately.value].slice(0, MOST_LATELY)
    tell(event.type === "events.gap" ? undefined : event)
  }
  const open = () => {
    source = new EventSource(`/api/v1/events/stream?figures=true${lastId === "" ? "" : `&last_event_id=${lastId}`}`)
    source.onopen = () => {
      connection.value = { state: "live" }
      tell(undefined)
    }
    for (const type of Object.keys(types)) source.addEventListener(type, hear)
    for (const [name, push] of Object.entries(figures)) source.addEventListener(name, ({ data }: MessageEvent<string>) => push(data))
    source.onerror = () => {
      if (connection.value.state === "live") connection.value = { state: "lost", since: now() }
      // The browser gives up after an answer that is not a stream.
      if (source?.readyState === EventSource.CLOSED) again = setTimeout(open, AGAIN_MILLIS)
    }
  }
  open()
  return () => {
    clearTimeout(again)
    source?.close()
    lately.value = []
    forgetFigures()
  }
}
