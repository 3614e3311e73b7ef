/** Texts as Moonshine writes them, which it learned from books and subtitles, made uniform. */

const digit = "zero|oh|one|two|three|four|five|six|seven|eight|nine"
const rules: ReadonlyArray<readonly [old: RegExp, now: string]> = [
  [/’/g, "'"],
  [/\b(to)-(day|morrow|night)\b/gi, "$1$2"],
  [/\b(good)[- ](bye)\b/gi, "$1$2"],
  [/\bgoodby\b/gi, "goodbye"],
  [/\boh clock\b/gi, "o'clock"],
  [/\bMr\./g, "Mister"],
  // `nine-zero` is two digits, `twenty-five` is a number.
  [new RegExp(`(?<=\\b(?:${digit}))-(?=(?:${digit})\\b)`, "gi"), " "]
]
/** What a model writes for sounds that are no speech. */
const noSpeech = /\[[^\]]*\]|\([^)]*\)|♪+/g

export const uniform = (text: string): string => {
  const words = text.replaceAll(noSpeech, " ").replaceAll(/\s+/g, " ").trim()
  return rules.reduce((written, [old, now]) => written.replaceAll(old, now), /[\p{L}\p{N}]/u.test(words) ? words : "")
}

const ones =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
    " "
  )
const tens = "zero ten twenty thirty forty fifty sixty seventy eighty ninety".split(" ")
const ordinals = new Map([
  ["one", "first"],
  ["two", "second"],
  ["three", "third"],
  ["five", "fifth"],
  ["eight", "eighth"],
  ["nine", "ninth"],
  ["twelve", "twelfth"]
])

const cardinal = (value: number): ReadonlyArray<string> => {
  if (value < 20) return [ones[value] ?? ""]
  if (value < 100) return [tens[Math.floor(value / 10)] ?? "", ...(value % 10 === 0 ? [] : cardinal(value % 10))]
  return [...cardinal(Math.floor(value / 100)), "hundred", ...(value % 100 === 0 ? [] : cardinal(value % 100))]
}
const ordinal = (value: number): ReadonlyArray<string> => {
  const words = cardinal(value)
  const last = words.at(-1) ?? ""
  return [...words.slice(0, -1), ordinals.get(last) ?? (last.endsWith("y") ? `${last.slice(0, -1)}ieth` : `${last}th`)]
}

/** As many digits are said one by one. */
const shortestRun = 4

const spokenFigure = (figure: string, ending: string): string => {
  const value = Number(figure)
  if (/^(?:st|nd|rd|th)$/i.test(ending) && value > 0) return ordinal(value).join(" ")
  const isRun = figure.length >= shortestRun || (figure.startsWith("0") && figure.length > 1)
  return `${isRun ? Array.from(figure, (one) => ones[Number(one)]).join(" ") : cardinal(value).join(" ")} ${ending}`.trim()
}

/** The words with which the figures of a text were said: `March 5th, 4711` becomes `March fifth, four seven one one`. */
export const spoken = (text: string): string =>
  text.replaceAll(/(\d{1,15})([a-z]*)/gi, (_, figure: string, ending: string) => spokenFigure(figure, ending))
