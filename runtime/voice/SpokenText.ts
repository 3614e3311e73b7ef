/**
 * Prepares plain text (`core/voice/PlainSpeech.ts`) for flite, which reads US English literally: it spells out URLs, says "doctor" but not "and" for
 * `&`, reads figures as they are written, and turns every byte outside ASCII into noise. Other voices know how figures are said.
 */
import { normalForm } from "#core/normalForm.ts"

type Rule = readonly [pattern: RegExp, spoken: string | ((match: string, ...groups: ReadonlyArray<string>) => string)]

const spell = (text: string): string => text.split("").join(" ")

/** `www.acme.com/help` -> `w w w dot acme dot com slash help` */
const address = (text: string): string =>
  text
    .replace(/^[a-z]+:\/\//i, "")
    .replace(/\/$/, "")
    .replace(/\bwww\b/gi, "w w w")
    .replace(/\./g, " dot ")
    .replace(/\//g, " slash ")
    .replace(/@/g, " at ")
    .replace(/-/g, " dash ")
    .replace(/_/g, " underscore ")
    .replace(/[?&=#%+~:]+/g, " ")

const currencies: Readonly<Record<string, readonly [one: string, many: string, hundredth: string]>> = {
  $: ["dollar", "dollars", "cent"],
  "€": ["euro", "euros", "cent"],
  "£": ["pound", "pounds", "penny"]
}
const many = (count: string, one: string): string => (Number(count) === 1 ? one : one === "penny" ? "pence" : `${one}s`)
const large: Readonly<Record<string, string>> = { k: "thousand", m: "million", b: "billion" }

/** `$1,250.50` -> `1,250 dollars and 50 cents` */
const money = (sign: string, amount: string, fraction = "", scale = ""): string => {
  const [one = "", more = "", hundredth = ""] = currencies[sign] ?? []
  if (scale !== "") return `${amount}${fraction === "" ? "" : `.${fraction}`} ${large[scale.toLowerCase()] ?? scale.toLowerCase()} ${more}`
  const whole = `${amount} ${amount === "1" ? one : more}`
  const part = `${Number(fraction)} ${many(fraction, hundredth)}`
  if (Number(fraction) === 0) return whole
  return Number(amount) === 0 ? part : `${whole} and ${part}`
}

/** `9:00` -> `9 o'clock`, `9:05` -> `9 oh 5`, `9:00 AM` -> `9 AM` */
const time = (hour: string, minute: string, half: string): string => {
  const after = half === "" ? "" : ` ${half.toUpperCase()}M`
  if (minute !== "00") return `${minute.startsWith("0") ? `${Number(hour)} oh ${Number(minute)}` : `${Number(hour)}:${minute}`}${after}`
  if (half !== "") return `${Number(hour)}${after}`
  return Number(hour) === 0 ? "midnight" : Number(hour) > 12 ? `${Number(hour) - 12} PM` : `${Number(hour)} o'clock`
}

const months = "January February March April May June July August September October November December".split(" ")
const date = (whole: string, year: string, month: string, day: string): string => {
  const name = months[Number(month) - 1]
  return name === undefined || Number(day) < 1 || Number(day) > 31 ? whole : `${name} ${Number(day)}, ${year}`
}

const days: Readonly<Record<string, string>> = {
  ...{ mon: "Monday", tue: "Tuesday", tues: "Tuesday", wed: "Wednesday", thu: "Thursday", thur: "Thursday", thurs: "Thursday" },
  ...{ fri: "Friday", sat: "Saturday", sun: "Sunday" }
}
const dayNames = "(Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)"
const day = (name: string): string => days[name.toLowerCase()] ?? name

const fractions: Readonly<Record<string, string>> = {
  ...{ "1/2": "one half", "1/3": "one third", "2/3": "two thirds", "1/4": "one quarter", "3/4": "three quarters", "24/7": "24 7" }
}
const units: Readonly<Record<string, string>> = { ft: "feet", hr: "hours", kg: "kilograms", km: "kilometers", lb: "pounds", min: "minutes" }
const unit = (count: string, name: string): string => {
  const plural = units[name.replace(/s$/, "")] ?? name
  return `${count} ${count !== "1" ? plural : plural === "feet" ? "foot" : plural.slice(0, -1)}`
}

/** A phone number is said digit by digit, in groups; flite would read "+1" as a sum. */
const digits = (number: string): string =>
  number
    .split(/[^\d]+/)
    .filter((group) => group !== "")
    .map(spell)
    .join(", ")

// The order matters: a rule comes before those that would break up what it matches. No rule may read the same text again from each of its
// characters, because texts come from strangers: what a rule repeats is bounded, or begins where nothing of its kind comes before.
const rules: ReadonlyArray<Rule> = [
  [/[‘’ʼ]/g, "'"],
  [/[“”«»]/g, " "],
  [/…/g, "..."],
  [/°/g, " degrees "],
  [/ degrees {1,2}([CF])\b/g, (_, scale = "") => ` degrees ${scale === "C" ? "Celsius" : "Fahrenheit"}`],
  [/\b(\d{4})-(\d\d)-(\d\d)\b/g, date],
  [/\b(\d\d?)\/(\d\d?)\/(\d{4})\b/g, (whole, month = "", dayOfMonth = "", year = "") => date(whole, year, month, dayOfMonth)],
  [/\b(\d+\/\d+)\b/g, (whole) => fractions[whole] ?? whole],
  [/\bhttps?:\/\/[^\s,;!?)]*[^\s,;!?).]/gi, address],
  [/\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}\b/g, address],
  [/\b(?:www\.)?[\w-]{1,63}(?:\.[\w-]{1,63}){0,4}\.(?:com|org|net|io|co|edu|gov|us|uk|de|fr)\b(?:\/[\w/-]*)?/gi, address],
  [/\+\d[\d ().-]{6,}\d/g, digits],
  [/(?<![\d-])(?:1[-. ])?(?:\(\d{3}\) ?|\d{3}[-. ])?\d{3}[-.]\d{4}(?![\d-])/g, digits],
  // A range: with a hyphen only of times and amounts, because two numbers may also be one.
  [/([ap]\.?m\.?|\d) ?– ?(?=[$€£]?\d)/gi, "$1 to "],
  [/([ap]\.?m\.?|:\d\d|[$€£]\d+|%) ?- ?(?=[$€£]?\d)/gi, "$1 to "],
  [/\b(\d\d?)-(?=\d\d?(?::\d\d)? ?(?:[ap]\.?m\b|%))/gi, "$1 to "],
  [new RegExp(`\\b${dayNames}\\.? ?[–—-] ?${dayNames}\\b`, "g"), (_, from = "", to = "") => `${day(from)} to ${day(to)}`],
  [/\b(Mon|Tues?|Wed|Thu(?:rs?)?|Fri)\b\.?(?=[\s,;:!?]|$)/g, (_, name = "") => day(name)],
  [/(?<! )(?: *[–—])+ */g, ", "],
  [
    /([$€£]) ?(\d+(?:,\d{3})*)(?:\.(\d+))?(?: ?(k|m|b|thousand|million|billion)\b)?/gi,
    (_, sign = "", amount = "", fraction = "", scale = "") => money(sign, amount, fraction, scale)
  ],
  [/(?<![\d,.])(\d+(?:,\d{3})*)(?:[.,](\d\d))? ?([€£])/g, (_, amount = "", fraction = "", sign = "") => money(sign, amount, fraction)],
  [
    /\b([01]?\d|2[0-3]):([0-5]\d)(?!:?\d)(?: ?([ap])(?:\.m\.|\.?m\b))?/gi,
    (_, hour = "", minute = "", half = "") => time(hour, minute, half)
  ],
  [/\b(\d{1,2}) ?([ap])(?:\.m\.|\.?m\b)/gi, (_, hour = "", half = "") => `${hour} ${half.toUpperCase()}M`],
  [/\b(\d+) ?(mins?|hrs?|kg|km|lbs?|ft)\b\.?/g, (_, count = "", name = "") => unit(count, name)],
  [/\bAve\./g, "Avenue"],
  [/\bBlvd\./g, "Boulevard"],
  [/\bRd\./g, "Road"],
  [/\bApt\./g, "Apartment"],
  [/(\d (?:[A-Z]\w* ){1,5})St\./g, "$1Street"],
  [/\bInc\./g, "Incorporated"],
  [/\bLtd\./g, "Limited"],
  [/\be\.g\./gi, "for example"],
  [/\bi\.e\./gi, "that is"],
  [/\betc\./gi, "et cetera"],
  [/\bvs\./gi, "versus"],
  [/\band\/or\b/gi, "and or"],
  [/#(?=\d)/g, "number "],
  [/#/g, " pound "],
  [/(\d) ?%/g, "$1 percent"],
  [/ ?& ?/g, " and "],
  [/(\d) ?\+ ?(?=\d)/g, "$1 plus "],
  [/(\d) ?\* ?(?=\d)/g, "$1 times "],
  [/(\d) ?= ?(?=\d)/g, "$1 equals "],
  [/@/g, " at "],
  [/(?<=^|\s)\*(?=$|[\s.,!?])/g, "star"],
  [/(?<=^|\s)\*(?=\d)/g, "star "],
  // Remaining markup and other scripts are not read at all.
  [/[*_`~^|<>{}\\=+[\]"]/g, " "],
  [/[^\x20-\x7e]/g, " "],
  [/\s+/g, " "],
  [/ (?=[.,;:!?])/g, ""]
]

/** Undefined if nothing can be said: the text is empty, or in a script that flite does not know. */
export const spokenText = (text: string): string | undefined => {
  const plain = normalForm(text, "NFKD").replace(/[\u0300-\u036f]/g, "")
  const spoken = rules
    .reduce(
      // Cast: `replace` takes a text or a function, but no overload takes either.
      (rest, [pattern, replacement]) => rest.replace(pattern, replacement as string),
      plain
    )
    .trim()
  return /[A-Za-z0-9]/.test(spoken) ? spoken : undefined
}
