/** The lists that benchmarks dial. The last two digits of a number choose its callee, see the emulator. */

type Suffix = "01" | "11" | "13"
export const talksThenHangsUp: Suffix = "01"
export const staysUntilHungUp: Suffix = "11"
export const ringsThenGivesUp: Suffix = "13"

const names = ["Ada", "Alan", "Barbara", "Donald", "Edsger", "Frances", "Grace", "Hedy"]
const cities = ["Berlin", "Hamburg", "Leipzig"]

/** Numbers in Berlin, all different. */
const numberOf = (index: number, suffix: Suffix): string => `+4930${String(200_000 + index)}${suffix}`

/** `from`: how many numbers to skip, because a number that is in a call is not dialed. */
export const rowsOf = (count: number, suffix: Suffix, from = 0): ReadonlyArray<ReadonlyArray<string>> =>
  Array.from({ length: count }, (_, index) => [
    numberOf(from + index, suffix),
    names[index % names.length] ?? "",
    cities[index % cities.length] ?? "",
    `A-${from + index}`,
    `${(index % 900) + 10}.50`
  ])

export const columns: ReadonlyArray<string> = ["phone_number", "first_name", "city", "order", "amount"]
export const csvOf = (count: number, suffix: Suffix = talksThenHangsUp, from = 0): string =>
  [columns, ...rowsOf(count, suffix, from)].map((cells) => cells.join(",")).join("\n")
