/**
 * Prepares text for flite, which reads US English literally: it spells out URLs, says "doctor" but not "and" for `&`, and turns every byte
 * outside ASCII into noise.
 */

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

const money = (name: string): Rule => [
  new RegExp(`${name === "euros" ? "€" : "£"} ?(\\d[\\d,]*(?:\\.\\d+)?)`, "g"),
  (_, amount = "") => `${amount} ${name}`
]

// The order matters: a rule comes before those that would break up what it matches.
const rules: ReadonlyArray<Rule> = [
  [/[‘’ʼ]/g, "'"],
  [/[“”«»]/g, " "],
  [/…/g, "..."],
  [/ *[–—] */g, ", "],
  money("euros"),
  money("pounds"),
  [/\bhttps?:\/\/[^\s,;!?)]*[^\s,;!?).]/gi, address],
  [/\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b/g, address],
  [/\b(?:www\.)?[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|co|edu|gov|us|uk|de|fr)\b(?:\/[\w/-]*)?/gi, address],
  // A phone number is said digit by digit, in groups; flite would read "+1" as a sum.
  [
    /\+\d[\d ().-]{6,}\d/g,
    (number) =>
      number
        .split(/[^\d]+/)
        .filter((group) => group !== "")
        .map(spell)
        .join(", ")
  ],
  [/\b(\d{1,2}) ?([ap])\.?m\b\.?/gi, (_, hour = "", half = "") => `${hour} ${half.toUpperCase()}M`],
  [/\b(\d{1,2}:\d\d) ?([ap])\.?m\b\.?/gi, (_, time = "", half = "") => `${time} ${half.toUpperCase()}M`],
  [/\bAve\./g, "Avenue"],
  [/\bBlvd\./g, "Boulevard"],
  [/\bRd\./g, "Road"],
  [/\bApt\./g, "Apartment"],
  [/(\d (?:[A-Z]\w* )+)St\./g, "$1Street"],
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
  [/(\d) ?= ?(?=\d)/g, "$1 equals "],
  [/@/g, " at "],
  [/(?<=^|\s)\*(?=$|[\s.,!?])/g, "star"],
  // Remaining markup and other scripts are not read at all.
  [/[*_`~^|<>{}\\=+[\]"]/g, " "],
  [/[^\x20-\x7e]/g, " "],
  [/\s+/g, " "],
  [/ (?=[.,;:!?])/g, ""]
]

/** Undefined if nothing can be said: the text is empty, or in a script that flite does not know. */
export const spokenText = (text: string): string | undefined => {
  const plain = text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "")
  const spoken = rules
    .reduce(
      // Cast: `replace` takes a text or a function, but no overload takes either.
      (rest, [pattern, replacement]) => rest.replace(pattern, replacement as string),
      plain
    )
    .trim()
  return /[A-Za-z0-9]/.test(spoken) ? spoken : undefined
}
