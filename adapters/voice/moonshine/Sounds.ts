/** How English words sound, roughly: enough to tell which of a few words a misheard one was. Each letter stands for a sound. */

/** Words that are not spelled as they sound, among those that agents are told most often. */
const irregular = new Map(
  Object.entries({
    e: "a",
    et: "ate eight",
    etT: "eighth",
    etin: "eighteen",
    eti: "eighty",
    bai: "buy by bye",
    tu: "to too two",
    du: "do due",
    for: "for fore four",
    forT: "fourth",
    ai: "eye i",
    no: "know",
    o: "o oh owe",
    wun: "one won",
    wensde: "wednesday",
    iu: "you",
    ior: "your you're"
  }).flatMap(([sounds, words]) => words.split(" ").map((word) => [word, sounds]))
)

/** In this order. `C`, `S`, `T` and `J` are the sounds of ch, sh, th and j. */
const spellings: ReadonlyArray<readonly [letters: RegExp, sounds: string]> = [
  [/[^a-z]/g, ""],
  [/^(?:kn|gn)/, "n"],
  [/^wr/, "r"],
  [/^wh/, "w"],
  [/[ts]ion/g, "Sun"],
  [/ture$/, "Cur"],
  [/igh/g, "ai"],
  [/[ao]ugh(?=t)/g, "o"],
  [/ph/g, "f"],
  [/t?ch/g, "C"],
  [/sh/g, "S"],
  [/th/g, "T"],
  [/dge|j/g, "J"],
  [/ck|q/g, "k"],
  [/x/g, "ks"],
  [/c(?=[eiy])/g, "s"],
  [/c/g, "k"],
  [/z/g, "s"],
  [/(?<=[aeiouy][^aeiou]+)e$/, ""],
  [/oe$/, "o"],
  [/ee|ea|ie|y$/g, "i"],
  [/oo|ou|ew|ue/g, "u"],
  [/ai|ay|ei|ey/g, "e"],
  [/oa|ow/g, "o"],
  [/y/g, "i"],
  [/(.)\1+/g, "$1"]
]

export const soundsOf = (word: string): string => {
  const lower = word.toLowerCase()
  return irregular.get(lower) ?? spellings.reduce((sounds, [letters, sound]) => sounds.replace(letters, sound), lower)
}

const vowels = "aeiou"
/** Sounds that a phone line makes alike. */
const alike = ["pb", "tdT", "kg", "fvT", "sCSJ", "sT", "mn", "lrw", "wu", "iJ"]

const isVowel = (sound: string): boolean => vowels.includes(sound)
const areAlike = (one: string, other: string): boolean => alike.some((group) => group.includes(one) && group.includes(other))

const swapCostOf = (one: string, other: string): number => {
  if (one === other) return 0
  return (isVowel(one) && isVowel(other)) || areAlike(one, other) ? 0.4 : 1
}

/** Sounds are ASCII. */
const codes = 128
const charactersOf = () => Array.from({ length: codes }, (_, code) => String.fromCharCode(code))
const swapCosts = Float64Array.from(charactersOf().flatMap((one) => charactersOf().map((other) => swapCostOf(one, other))))
const gapCosts = Float64Array.from(charactersOf(), (sound) => (isVowel(sound) || sound === "h" || sound === "w" ? 0.5 : 0.8))

/** What it costs to have heard one sound as another; both are character codes. */
export const swapCost = (one: number, other: number): number => swapCosts[one * codes + other] ?? 1
/** What it costs to have missed a sound, or to have heard one that was not there. */
export const gapCost = (sound: number): number => gapCosts[sound] ?? 1
