/** The wall clock of this process, as an operator might set it: only `Date` is stepped, and no other clock. */
const actual = Date
const now = actual.now
let stepped = 0

const Stepped = new Proxy(actual, {
  construct: (_, given, newTarget) => Reflect.construct(actual, given.length === 0 ? [actual.now()] : given, newTarget)
})

/** Steps the clock by milliseconds, forward or back. */
export const step = (millis: number): void => {
  stepped += millis
  actual.now = () => now() + stepped
  globalThis.Date = Stepped
}
