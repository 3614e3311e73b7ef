/** Laws: checked on values that fast-check draws, which are the same ones in every run. */
import fc from "fast-check"

type Law<Ts extends [unknown, ...Array<unknown>]> = [
  ...arbitraries: { [K in keyof Ts]: fc.Arbitrary<Ts[K]> },
  law: (...drawn: Ts) => boolean | undefined
]

export const forAll = <Ts extends [unknown, ...Array<unknown>]>(...law: Law<Ts>): void => fc.assert(fc.property(...law), { seed: 1 })

export const forAllOf = <Ts extends [unknown, ...Array<unknown>]>(settings: fc.Parameters<Ts>, ...law: Law<Ts>): void =>
  fc.assert(fc.property(...law), { seed: 1, ...settings })
