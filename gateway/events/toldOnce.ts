/** What followers are told about an event, made once for all of them: the feed hands the same events to each. */
import type { Compatibility } from "#core/Compatibility.ts"
import type { Event } from "#core/event/Event.ts"
import { eventWire } from "#gateway/wire/Event.ts"

/** An engine has one `Compatibility` for as long as it runs. */
const madeOnce = <Of extends WeakKey, A>(make: (of: Of, compatibility: Compatibility) => A) => {
  const made = new WeakMap<Of, A>()
  return (of: Of, compatibility: Compatibility): A => {
    const known = made.get(of)
    if (known !== undefined) return known
    const it = make(of, compatibility)
    made.set(of, it)
    return it
  }
}

export const eventText = madeOnce((event: Event, compatibility) => JSON.stringify(eventWire(event, compatibility)))

/** Formatted as https://html.spec.whatwg.org/multipage/server-sent-events.html requires. */
const eventFrame = madeOnce((event: Event, compatibility) =>
  Buffer.from(`id: ${event.id}\nevent: ${event.type}\ndata: ${eventText(event, compatibility)}\n\n`)
)

/** Those that come together go out together. */
export const eventFrames = madeOnce((events: ReadonlyArray<Event>, compatibility) =>
  Buffer.concat(events.map((event) => eventFrame(event, compatibility)))
)
