/** What followers are told about an event, made once for all of them: the feed hands the same event to each. */
import type { Compatibility } from "#core/Compatibility.ts"
import type { Event } from "#core/event/Event.ts"
import { eventWire } from "#gateway/wire/Event.ts"

/** An engine has one `Compatibility` for as long as it runs. */
const madeOnce = <A>(make: (event: Event, compatibility: Compatibility) => A) => {
  const made = new WeakMap<Event, A>()
  return (event: Event, compatibility: Compatibility): A => {
    const known = made.get(event)
    if (known !== undefined) return known
    const it = make(event, compatibility)
    made.set(event, it)
    return it
  }
}

export const eventText = madeOnce((event, compatibility) => JSON.stringify(eventWire(event, compatibility)))

/** Formatted as https://html.spec.whatwg.org/multipage/server-sent-events.html requires. */
export const eventFrame = madeOnce((event, compatibility) =>
  Buffer.from(`id: ${event.id}\nevent: ${event.type}\ndata: ${eventText(event, compatibility)}\n\n`)
)
