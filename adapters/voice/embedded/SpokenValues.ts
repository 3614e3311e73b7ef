/** Numbers, digits, dates, times and names as callees say them, with the words that they take up. */

export interface Spoken<Value> {
  readonly value: Value
  readonly at: number
  /** The word after the last one. */
  readonly end: number
}

type Words = ReadonlyArray<string>
const indexed = (list: string, from = 0): ReadonlyArray<readonly [string, number]> =>
  list.split(" ").map((word, index) => [word, index + from])
const ones = new Map(indexed("zero one two three four five six seven eight nine"))
const small: ReadonlyMap<string, number> = new Map([
  ...ones,
  ...indexed("ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen", 10)
])
const tens = new Map(indexed("twenty thirty forty fifty sixty seventy eighty ninety", 2).map(([word, value]) => [word, value * 10]))
const ordinals: ReadonlyMap<string, number> = new Map([
  ...indexed("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth", 1),
  ...indexed("sixteenth seventeenth eighteenth nineteenth twentieth", 16),
  ["thirtieth", 30]
])
const weekdays = "monday tuesday wednesday thursday friday saturday sunday".split(" ")
const months = "january february march april may june july august september october november december".split(" ")

/** A number below a hundred. */
const belowHundred = (words: Words, at: number): Spoken<number> | undefined => {
  const word = words[at] ?? ""
  const ten = tens.get(word)
  const value = ten ?? small.get(word)
  if (value === undefined) return undefined
  const one = ten === undefined ? undefined : ones.get(words[at + 1] ?? "")
  return one === undefined || one === 0 ? { value, at, end: at + 1 } : { value: value + one, at, end: at + 2 }
}

const skipAnd = (words: Words, at: number): number => (words[at] === "and" ? at + 1 : at)

/** `one hundred and five`, up to 999. */
const belowThousand = (words: Words, at: number): Spoken<number> | undefined => {
  const isOne = words[at] === "a" && words[at + 1] === "hundred"
  const first = isOne ? { value: 1, at, end: at + 1 } : belowHundred(words, at)
  if (first === undefined || words[first.end] !== "hundred") return first
  const rest = belowHundred(words, skipAnd(words, first.end + 1))
  return { value: first.value * 100 + (rest?.value ?? 0), at, end: rest?.end ?? first.end + 1 }
}

const cardinalAt = (words: Words, at: number): Spoken<number> | undefined => {
  const word = words[at] ?? ""
  if (/^\d+(\.\d+)?$/.test(word)) return { value: Number(word), at, end: at + 1 }
  const isThousand = word === "a" && words[at + 1] === "thousand"
  const first = isThousand ? { value: 1, at, end: at + 1 } : belowThousand(words, at)
  if (first === undefined) return undefined
  if (words[first.end] !== "thousand") return withPoint(words, first)
  const rest = belowThousand(words, skipAnd(words, first.end + 1))
  return { value: first.value * 1000 + (rest?.value ?? 0), at, end: rest?.end ?? first.end + 1 }
}

/** `two point five`. */
const withPoint = (words: Words, { at, end, value }: Spoken<number>): Spoken<number> => {
  let digits = ""
  let next = end + 1
  for (; words[end] === "point" && ones.has(words[next] ?? ""); next++) digits += ones.get(words[next] ?? "")
  return digits === "" ? { value, at, end } : { value: Number(`${value}.${digits}`), at, end: next }
}

export const numbersIn = (words: Words): ReadonlyArray<Spoken<number>> => {
  const found: Array<Spoken<number>> = []
  for (let at = 0; at < words.length; at++) {
    const spoken = cardinalAt(words, at)
    if (spoken === undefined) continue
    found.push(spoken)
    at = spoken.end - 1
  }
  return found
}

const repeated: ReadonlyMap<string, number> = new Map([
  ["double", 2],
  ["triple", 3]
])
const betweenDigits = new Set(["and", "then", "dash", "uh", "um"])

const digitsAt = (words: Words, at: number): Spoken<string> | undefined => {
  const word = words[at] ?? ""
  const times = repeated.get(word)
  if (times !== undefined) {
    const one = digitsAt(words, at + 1)
    return one === undefined || one.value.length > 1 ? undefined : { value: one.value.repeat(times), at, end: one.end }
  }
  if (/^\d+$/.test(word)) return { value: word, at, end: at + 1 }
  if (word === "oh" || word === "o") return { value: "0", at, end: at + 1 }
  const number = belowHundred(words, at)
  return number === undefined ? undefined : { ...number, value: String(number.value) }
}

/** The longest run of digits. */
export const digitsIn = (words: Words): Spoken<string> | undefined => {
  let longest: Spoken<string> | undefined
  for (let at = 0; at < words.length; at++) {
    let run = digitsAt(words, at)
    while (run !== undefined) {
      if (longest === undefined || run.value.length > longest.value.length) longest = run
      const after = run.end + (betweenDigits.has(words[run.end] ?? "") ? 1 : 0)
      const more: Spoken<string> | undefined = digitsAt(words, after)
      run = more === undefined ? undefined : { value: run.value + more.value, at: run.at, end: more.end }
    }
  }
  // "oh" alone is not a digit.
  return longest !== undefined && (longest.value.length > 1 || words[longest.at] !== "oh") ? longest : undefined
}

/** `5th`, `fifth`, `twenty first`, `5`. */
const dayAt = (words: Words, at: number): Spoken<number> | undefined => {
  const word = words[at] ?? ""
  const ten = tens.get(word)
  const second = ordinals.get(words[at + 1] ?? "") ?? 10
  const spoken =
    ten !== undefined && second < 10
      ? { value: ten + second, at, end: at + 2 }
      : ordinals.has(word)
        ? { value: ordinals.get(word) ?? 0, at, end: at + 1 }
        : /^\d{1,2}(?:st|nd|rd|th)$/.test(word)
          ? { value: Number.parseInt(word, 10), at, end: at + 1 }
          : cardinalAt(words, at)
  return spoken !== undefined && Number.isInteger(spoken.value) && spoken.value >= 1 && spoken.value <= 31 ? spoken : undefined
}

const dateAt = (words: Words, at: number): Spoken<string> | undefined => {
  const here = words.slice(at, at + 4)
  if (here.join(" ") === "the day after tomorrow") return { value: "the day after tomorrow", at, end: at + 4 }
  if (here.slice(0, 3).join(" ") === "day after tomorrow") return { value: "the day after tomorrow", at, end: at + 3 }
  const [word = "", next = ""] = here
  if (word === "today" || word === "tomorrow" || weekdays.includes(word)) return { value: word, at, end: at + 1 }
  if (word === "next" && (weekdays.includes(next) || next === "week")) return { value: `next ${next}`, at, end: at + 2 }
  if (months.includes(word)) {
    const day = dayAt(words, next === "the" ? at + 2 : at + 1)
    return day === undefined ? undefined : { value: `${word} ${day.value}`, at, end: day.end }
  }
  const day = dayAt(words, at)
  const month = words[(day?.end ?? at) + (words[day?.end ?? at] === "of" ? 1 : 0)] ?? ""
  if (day === undefined || !months.includes(month)) return undefined
  return { value: `${month} ${day.value}`, at, end: day.end + (words[day.end] === "of" ? 2 : 1) }
}

export const dateIn = (words: Words): Spoken<string> | undefined => {
  for (let at = 0; at < words.length; at++) {
    const date = dateAt(words, at)
    if (date !== undefined) return date
  }
  return undefined
}

const halves: ReadonlyMap<string, string> = new Map([
  ["morning", "am"],
  ["afternoon", "pm"],
  ["evening", "pm"],
  ["night", "pm"],
  ["tonight", "pm"]
])
const before = new Set(["at", "around", "about", "by"])

const written = (hour: number, minute: number, half: string | undefined): string =>
  `${hour}:${String(minute).padStart(2, "0")}${half === undefined || hour > 12 ? "" : ` ${half}`}`

const isHour = (number: Spoken<number> | undefined): number is Spoken<number> & object =>
  number !== undefined && Number.isInteger(number.value) && number.value >= 1 && number.value <= 12

/** `half past three`, `quarter to four`. */
const fractionAt = (words: Words, at: number): { readonly minute: number; readonly isTo: boolean; readonly end: number } | undefined => {
  const start = words[at] === "a" ? at + 1 : at
  const [word, link] = [words[start], words[start + 1]]
  const minutes = word === "half" ? 30 : word === "quarter" ? 15 : belowHundred(words, start)?.value
  const end = word === "half" || word === "quarter" ? start + 1 : (belowHundred(words, start)?.end ?? start)
  const says = words[end] ?? link
  if (minutes === undefined || (says !== "past" && says !== "to")) return undefined
  return { minute: minutes, isTo: says === "to", end: end + 1 }
}

interface ClockTime {
  readonly hour: number
  readonly minute: number
  readonly end: number
  /** The words can only be a time. */
  readonly isCertain: boolean
}

const clockAt = (words: Words, at: number): ClockTime | undefined => {
  const [, hours = "", minutes = ""] = /^(\d{1,2}):(\d\d)$/.exec(words[at] ?? "") ?? []
  if (hours !== "" && Number(hours) < 24 && Number(minutes) < 60) {
    return { hour: Number(hours), minute: Number(minutes), end: at + 1, isCertain: true }
  }
  const fraction = fractionAt(words, at)
  if (fraction !== undefined) {
    const hour = belowHundred(words, fraction.end) ?? numberWord(words, fraction.end)
    if (!isHour(hour)) return undefined
    const isTo = fraction.isTo
    return {
      hour: isTo ? ((hour.value + 10) % 12) + 1 : hour.value,
      minute: isTo ? 60 - fraction.minute : fraction.minute,
      end: hour.end,
      isCertain: true
    }
  }
  const hour = smallHour(words, at) ?? numberWord(words, at)
  if (!isHour(hour)) return undefined
  if (words[hour.end] === "oclock") return { hour: hour.value, minute: 0, end: hour.end + 1, isCertain: true }
  const minute = belowHundred(words, hour.end)
  return minute !== undefined && minute.value >= 10 && minute.value < 60
    ? { hour: hour.value, minute: minute.value, end: minute.end, isCertain: false }
    : { hour: hour.value, minute: 0, end: hour.end, isCertain: false }
}

const smallHour = (words: Words, at: number): Spoken<number> | undefined => {
  const value = small.get(words[at] ?? "")
  return value === undefined ? undefined : { value, at, end: at + 1 }
}
const numberWord = (words: Words, at: number): Spoken<number> | undefined =>
  /^\d{1,2}$/.test(words[at] ?? "") ? { value: Number(words[at]), at, end: at + 1 } : undefined

/** `isAsked`: a number alone counts as a time. Without `am`, `pm` or the like, the half of the day stays open. */
export const timeIn = (words: Words, isAsked: boolean): Spoken<string> | undefined => {
  for (let at = 0; at < words.length; at++) {
    if (words[at] === "noon") return { value: "12:00 pm", at, end: at + 1 }
    if (words[at] === "midnight") return { value: "12:00 am", at, end: at + 1 }
    const time = clockAt(words, at)
    if (time === undefined) continue
    const after = words.slice(time.end, time.end + 3)
    const direct = after[0] === "am" || after[0] === "pm" ? after[0] : undefined
    const named = after.findIndex((word) => halves.has(word))
    const isNamed = named === 0 || (named > 0 && (after[0] === "in" || after[0] === "at"))
    const half = direct ?? (isNamed ? halves.get(after[named] ?? "") : undefined)
    if (!time.isCertain && half === undefined && !isAsked && !before.has(words[at - 1] ?? "")) continue
    const end = direct === undefined ? time.end + (isNamed ? named + 1 : 0) : time.end + 1
    return { value: written(time.hour, time.minute, half), at, end }
  }
  return undefined
}

const introductions = [["my", "name", "is"], ["this", "is"], ["i", "am"], ["im"], ["its"], ["it", "is"], ["name", "is"], ["call", "me"]]
const noNames = new Set(
  (
    "a an the my your his her not no yes yeah sorry speaking here calling fine good ok okay sure busy just very really well at in on from going " +
    "interested happy afraid looking what who it this that him correct right wrong but and i"
  ).split(" ")
)
const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

/** `isAsked`: one to three words alone count as a name. */
export const nameIn = (words: Words, isAsked: boolean): Spoken<string> | undefined => {
  const nameAt = (at: number): Spoken<string> | undefined => {
    let end = at
    while (end < words.length && end < at + 3 && !noNames.has(words[end] ?? "") && !/\d/.test(words[end] ?? "")) end++
    return end === at ? undefined : { value: words.slice(at, end).map(capital).join(" "), at, end }
  }
  for (let at = 0; at < words.length; at++) {
    const introduction = introductions.find((phrase) => phrase.every((word, offset) => words[at + offset] === word))
    const name = introduction === undefined ? undefined : nameAt(at + introduction.length)
    if (name !== undefined) return name
  }
  const alone = nameAt(0)
  const isAlone = alone !== undefined && (alone.end === words.length || (alone.end === words.length - 1 && words.at(-1) === "speaking"))
  return isAsked && isAlone ? alone : undefined
}
