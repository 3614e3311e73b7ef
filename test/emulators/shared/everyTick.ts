/**
 * The ticks of 20 ms in which audio is played. Ticks run only after everything that had arrived when they were due has been read. Otherwise, audio that
 * this process was late to read would count as missed, and stay in the queue from then on. One timer serves all, and runs only while there is somebody.
 */
const tickMillis = 20
const lookMillis = 2

const ticking = new Set<(now: number) => void>()
let timer: NodeJS.Timeout | undefined
const look = (): void => {
  const now = performance.now()
  setImmediate(() => {
    for (const tick of ticking) tick(now)
  })
}

/**
 * Runs every tick from now on. Up to `mostLate` ticks are made up for after a pause of the event loop; how many others are lost is told. Returns the
 * function that ends it.
 */
export const everyTick = (mostLate: number, run: () => void, tellLost: (ticks: number) => void): (() => void) => {
  let tickedAt = performance.now()
  const tick = (now: number): void => {
    // Negative if it was started after `now`.
    const due = Math.max(0, Math.floor((now - tickedAt) / tickMillis))
    tickedAt += due * tickMillis
    for (let left = Math.min(due, mostLate); left > 0; left--) run()
    if (due > mostLate) tellLost(due - mostLate)
  }
  ticking.add(tick)
  timer ??= setInterval(look, lookMillis)
  return () => {
    ticking.delete(tick)
    if (ticking.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}
