/** The wall clock of this process, as somebody sets it on a machine: `Date` is stepped, and nothing else that tells the time. */
const actual = Date
const now = actual.now
let stepped = 0

const Stepped = new Proxy(actual, {
  construct: (_, given, newTarget) => Reflect.construct(actual, given.length === 0 ? [actual.now()] : given, newTarget)
})

/** Milliseconds forward, or back. */
export const step = (millis: number): void => {
  stepped += millis
  actual.now = () => now() + stepped
  globalThis.Date = Stepped
}
