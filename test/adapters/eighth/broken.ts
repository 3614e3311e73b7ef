/** Adapters with one fault each, made from one that has none. */
import { Effect } from "effect"
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import { type Adapter, OriginateDoubtful, OriginateRefused, type Trunk, type TrunkContext } from "#core/provider/Adapter.ts"
import type { Callback, CallbackRead } from "#core/provider/Callback.ts"
import type { MediaStream } from "#core/provider/Media.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"

export const withTrunk = (adapter: Adapter, change: (trunk: Trunk, context: TrunkContext) => Partial<Trunk>): Adapter => ({
  ...adapter,
  connect: (config, context) => Effect.map(adapter.connect(config, context), (trunk) => ({ ...trunk, ...change(trunk, context) }))
})

export const withContext = (adapter: Adapter, change: (context: TrunkContext) => Partial<TrunkContext>): Adapter => ({
  ...adapter,
  connect: (config, context) => adapter.connect(config, { ...context, ...change(context) })
})

export const withManifest = (adapter: Adapter, change: Partial<Adapter["manifest"]>): Adapter => ({
  ...adapter,
  manifest: { ...adapter.manifest, ...change }
})

export const withRead = (adapter: Adapter, change: (read: CallbackRead, callback: Callback) => CallbackRead): Adapter => ({
  ...adapter,
  read: (config, callback) => {
    const read = adapter.read?.(config, callback)
    return read && change(read, callback)
  }
})

/** Changes every event, from callbacks, looks and the trunk alike. */
export const withEvents = (adapter: Adapter, change: (event: TrunkEvent) => ReadonlyArray<TrunkEvent>): Adapter => {
  const taking = (context: TrunkContext): Partial<TrunkContext> => ({
    onEvent: (callId, event) => {
      for (const one of change(event)) context.onEvent(callId, one)
    }
  })
  const accept = adapter.media?.accept
  const read = withRead(withContext(adapter, taking), (read) => ({
    ...read,
    events: read.events.flatMap(({ event, ...call }) => change(event).map((one) => ({ ...call, event: one })))
  }))
  const looking = withTrunk(read, ({ lookup }) => ({
    lookup: (call) => Effect.map(lookup(call), (look) => ({ ...look, told: look.told.flatMap(change) }))
  }))
  if (accept === undefined) return looking
  const media: NonNullable<Adapter["media"]> = {
    ...adapter.media,
    accept: (call, socket, onEvent) => accept(call, socket, (event) => change(event).forEach(onEvent))
  }
  return { ...looking, media }
}

/** Reports ends with another cause. */
export const withCause = (adapter: Adapter, from: HangupCause, cause: HangupCause): Adapter =>
  withEvents(adapter, (event) => [event._tag === "HungUp" && event.cause === from ? { ...event, cause } : event])

export const without = (adapter: Adapter, tag: TrunkEvent["_tag"]): Adapter =>
  withEvents(adapter, (event) => (event._tag === tag ? [] : [event]))

export const withStream = (adapter: Adapter, change: (stream: MediaStream) => Partial<MediaStream>): Adapter => {
  const accept = adapter.media?.accept
  if (accept === undefined) throw new Error("it has no media sockets")
  const media: NonNullable<Adapter["media"]> = {
    ...adapter.media,
    accept: (call, socket, onEvent) => {
      const protocol = accept(call, socket, onEvent)
      const changed = (stream: MediaStream): MediaStream => ({
        clear: () => stream.clear(),
        listen: (listener) => stream.listen(listener),
        mark: (name) => stream.mark(name),
        send: (frame) => stream.send(frame),
        skip: (frames) => stream.skip(frames),
        ...change(stream)
      })
      return {
        closed: (how, why) => protocol.closed(how, why),
        message: (data, isText) => {
          const stream = protocol.message(data, isText)
          return stream && changed(stream)
        }
      }
    }
  }
  return { ...adapter, media }
}

/** Replaces the doubtful result of an originate; `again` requests the call a second time. */
export const whereDoubtful = (
  adapter: Adapter,
  otherwise: (again: ReturnType<Trunk["originate"]>) => ReturnType<Trunk["originate"]>
): Adapter =>
  withTrunk(adapter, ({ originate }) => ({
    originate: (request) =>
      Effect.catchTag(originate(request), "OriginateDoubtful", () => otherwise(originate(request))) satisfies ReturnType<Trunk["originate"]>
  }))

export const refused = (reason: OriginateRefused["reason"]) => Effect.fail(new OriginateRefused({ detail: "broken", reason }))
export const doubtful = Effect.fail(new OriginateDoubtful({ detail: "broken" }))

/** Searches by number alone, and takes the latest call that it has placed to that number. */
export const searchingByNumber = (adapter: Adapter): Adapter =>
  withTrunk(adapter, ({ lookup, originate }) => {
    const placed = new Map<string | undefined, string>()
    return {
      lookup: (call) => {
        const providerCallId = call.providerCallId ?? placed.get(call.to)
        if (providerCallId === undefined) return lookup(call)
        const named = [{ _tag: "Named", providerCallId } as const]
        return Effect.map(lookup({ ...call, providerCallId }), (look) => ({ ...look, told: [...named, ...look.told] }))
      },
      originate: (request) =>
        Effect.tap(originate(request), ({ providerCallId }) => Effect.sync(() => placed.set(request.to, providerCallId)))
    }
  })
