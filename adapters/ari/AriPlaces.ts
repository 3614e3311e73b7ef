/** The endpoint that each call left through. A call that is forgotten is looked for everywhere, so forgetting costs time, not correctness. */

/** Limit for calls that are live, or whose end has not been seen. */
const MOST_LIVE = 200_000
/** Limit for ended calls and for channels of unknown origin: late events about them still belong to the same endpoint. */
const MOST_OVER = 20_000

export class AriPlaces<Place> {
  readonly #live = new Map<string, Place>()
  readonly #over = new Map<string, Place>()

  get(callId: string): Place | undefined {
    return this.#live.get(callId) ?? this.#over.get(callId)
  }

  /** The call is leaving through this endpoint, or has left through it. */
  put(callId: string, place: Place): void {
    this.#over.delete(callId)
    keep(this.#live, callId, place, MOST_LIVE)
  }

  /** A channel with this id was seen there, whoever it belongs to. */
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
