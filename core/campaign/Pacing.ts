/** How many contacts to dial now, and how far apart. Pure: the owner of the campaign keeps the state and the clock. */

/** How late a send may leave after its reserved moment without breaking the rate, in milliseconds. */
export const guardMillis = 20

/** Most contacts that one turn claims. */
export const claimLimit = 50

/** Milliseconds between two sends at `rate` dial requests per second; the guard is spread over the second. */
export const spacing = (rate: number): number => (1000 + guardMillis) / rate

export interface Pace {
  /** Dial requests per second. */
  readonly rate: number
  /** The earliest moment of the next send, epoch milliseconds; a fraction is kept, so that rounding never costs rate. */
  readonly nextAt: number
}

export const pace = (rate: number): Pace => ({ rate, nextAt: Number.NEGATIVE_INFINITY })

/**
 * Reserves the next send: it may leave `waitMillis` from now. Reservations lie `spacing(rate)` apart, so send i is reserved at least
 * 1020 ms after send i - rate, and any rolling second holds at most `rate` sends as long as each leaves within `guardMillis` of its
 * moment. A sender that is later than that reserves again.
 */
export const next = (state: Pace, now: number): { readonly state: Pace; readonly waitMillis: number } => {
  const at = Math.max(now, state.nextAt)
  return { state: { rate: state.rate, nextAt: at + spacing(state.rate) }, waitMillis: at - now }
}

/** How many sends could be reserved to leave by `now + withinMillis`. */
export const available = (state: Pace, now: number, withinMillis = 0): number =>
  Math.max(0, Math.floor((now + withinMillis - Math.max(now, state.nextAt)) / spacing(state.rate)) + 1)
