/** Which endpoint each call left through. A call that is not remembered any more is looked for everywhere, so forgetting one costs time, not truth. */

/** Calls that are under way, or that nobody has heard the end of. */
const MOST_LIVE = 200_000
/** Calls that have ended, and channels that may be anybody's: late words of them are still for the same endpoint. */
const MOST_OVER = 20_000

export class AriPlaces<Place> {
  readonly #live = new Map<string, Place>()
  readonly #over = new Map<string, Place>()

  get(callId: string): Place | undefined {
    return this.#live.get(callId) ?? this.#over.get(callId)
  }

  /** It leaves there, or has left there. */
  put(callId: string, place: Place): void {
    this.#over.delete(callId)
    keep(this.#live, callId, place, MOST_LIVE)
  }

  /** It has shown itself there, whosever it is. */
  seen(callId: string, place: Place): void {
    keep(this.#over, callId, place, MOST_OVER)
  }

  ended(callId: string): void {
    const place = this.#live.get(callId)
    if (place === undefined) return
    this.#live.delete(callId)
    keep(this.#over, callId, place, MOST_OVER)
  }
}

const keep = <Place>(places: Map<string, Place>, callId: string, place: Place, most: number): void => {
  places.set(callId, place)
  const [oldest] = places.keys()
  if (places.size > most && oldest !== undefined) places.delete(oldest)
}
