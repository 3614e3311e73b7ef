/**
 * The clocks and timers of this process. An operator may set its wall clock (`step`); its time may run faster (`setPace`), so that a story need not wait
 * for minutes in which nothing happens. Left as they are: the clocks of Postgres and of other processes, and the timeouts of the system.
 */
const actualDate = Date
const wall = actualDate.now
const uptime = process.hrtime.bigint
const since = performance.now.bind(performance)
const { setInterval, setTimeout } = globalThis

let stepped = 0
let pace = 1
/** How far this process is ahead of real time, at the moment at which its pace was last changed. */
let aheadMillis = 0
let pacedAt = since()
const ahead = (): number => aheadMillis + (since() - pacedAt) * (pace - 1)
/** How far the wall clock is ahead of real time. */
export const wallAhead = (): number => stepped + ahead()

const Stepped = new Proxy(actualDate, {
  construct: (_, given, newTarget) => Reflect.construct(actualDate, given.length === 0 ? [actualDate.now()] : given, newTarget)
})
const follow = () => {
  actualDate.now = () => Math.floor(wall() + wallAhead())
  globalThis.Date = Stepped
}

/** Sets the wall clock forward or back by milliseconds, and no other clock. */
export const step = (millis: number): void => {
  stepped += millis
  follow()
}

/** A timer, with the fields by which Node starts it again. */
interface NodeTimer extends NodeJS.Timeout {
  _idleTimeout: number
  readonly _destroyed: boolean
  _repeat: number | null
}
/** Milliseconds of the paced clock. */
interface Due {
  readonly at: number
  readonly every: number
}
/** Timers that were started, of which some are over. */
const started = new Map<NodeTimer, Due>()

type Start = (run: (...given: ReadonlyArray<unknown>) => void, millis?: number, ...given: ReadonlyArray<unknown>) => NodeJS.Timeout
const paced = (start: Start): Start => {
  const begin: Start = (run, every = 1, ...given) => {
    const timer = start(run, every / pace, ...given) as NodeTimer // as Node makes them
    started.set(timer, { at: performance.now() + every, every })
    return timer
  }
  // With the form that returns a promise, which no engine uses.
  return Object.assign(begin, start)
}

/** Called before the engine starts its first timer. From then on its pace can be set. */
export const followPace = (): void => {
  follow()
  process.hrtime.bigint = () => uptime() + BigInt(Math.round(ahead() * 1e6))
  performance.now = () => since() + ahead()
  Object.assign(globalThis, { setInterval: paced(setInterval), setTimeout: paced(setTimeout) })
}

/** How many milliseconds pass in a real one from now on. */
const setPace = (times: number): void => {
  ;[aheadMillis, pacedAt, pace] = [ahead(), since(), times]
  for (const [timer, { at, every }] of started) {
    if (timer._destroyed) started.delete(timer)
    else {
      if (timer._repeat !== null) timer._repeat = every / pace
      timer._idleTimeout = Math.max(1, (timer._repeat === null ? at - performance.now() : every) / pace)
      timer.refresh()
    }
  }
}

const fastPace = 10
/** Lets this much time pass in a tenth of it, and then says so. */
export const forward = (millis: number, passed: () => void): void => {
  setPace(fastPace)
  setTimeout(() => {
    setPace(1)
    passed()
  }, millis / fastPace)
}
