/**
 * What callees answer in each node, and what that must lead to: the edge's tool, or the beginning of what the agent says. Every second answer
 * belongs to the half that rules were tuned on, the others to the half that results are reported on.
 */
import type { AskingNodeName } from "./nodes.ts"

export type Half = "tuning" | "held out"

export interface Answer {
  readonly at: AskingNodeName
  readonly text: string
  /** The edge's tool. Undefined if the digits are read back first. */
  readonly tool: string | undefined
  /** What is read back, or the value of the node's variable, unless that is a boolean. */
  readonly value: string | number | undefined
  readonly half: Half
}

type Listed = Readonly<Record<string, string | ReadonlyArray<string>>>

const yes = `yes | yeah | yep | sure | yes please | of course | absolutely | that's fine | sounds good | that works | yes that works for me | okay |
  yes i do | yes that's right | certainly | yes of course | sure no problem | go ahead | yes thank you | i think so`
const no = `no | nope | no thanks | no thank you | not really | i don't think so | no i can't | of course not | no i don't | definitely not |
  i'd rather not | no sorry | not at all | i do not think so`
/** The texts between bars. */
export const listOf = (texts: string): ReadonlyArray<string> => texts.split("|").map((text) => text.trim().replaceAll(/\s+/g, " "))

const chosen: { readonly [Name in AskingNodeName]?: Listed } = {
  contact: {
    right_person: `yes | speaking | yes speaking | yes this is she | this is he | yes that's me | yeah that's me | yes i am | that's right | yes it is`,
    wrong_person: `no | wrong number | you have the wrong number | no wrong number | that's not me | no that's not me | you've got the wrong person |
      there is nobody by that name | sorry wrong number | no you have the wrong number`
  },
  remind: {
    confirmed: yes,
    wants_another_time: `can we reschedule | i need to reschedule | another day please | could we move the appointment | i want a different time |
      change the appointment please | no | postpone | can i change the time | another time please`,
    "Just to confirm: Cancel the appointment": `cancel | please cancel it | cancel the appointment | i want to cancel | cancel my appointment please |
      i have to cancel`
  },
  open: {
    has_time: `yes | sure | go ahead | yes i do | yeah sure | okay | of course | yes go ahead`,
    no_time: `no | not now | call me back later | i'm busy | no i'm busy | i'm driving | call me tomorrow | i'm in a meeting | not a good time | call back later`,
    not_interested: `not interested | i'm not interested | no i'm not interested | i don't need it | no interest | leave me alone`
  },
  takePart: {
    takes_part: `yes | sure | okay | go ahead | yes please | that's fine | yes it is | sure go ahead`,
    does_not_take_part: `no | no thanks | not interested | no i'm busy | i don't have time | not now | no thank you | i'm not interested`
  },
  friday: {
    interested: yes,
    not_interested: no,
    opt_out: `stop calling me | take me off your list | do not call me again | remove my number`
  },
  department: {
    sales: `sales | sales please | a new contract | i want to buy something`,
    support: `support | technical support | it does not work | support please`,
    billing: `billing | my bill | the invoice | billing please`
  }
}

/** The texts, by the value that they express. */
const told: { readonly [Name in AskingNodeName]?: Readonly<Record<string, string>> } = {
  score: {
    0: "zero",
    1: "one | a one",
    2: "two",
    3: "three | three please",
    4: "four",
    5: "five | maybe five",
    6: "six | a six",
    7: "seven | i would say seven",
    8: "eight | no eight",
    9: "nine | a nine",
    10: "ten | ten out of ten"
  },
  guests: {
    2: "two | there will be two of us",
    3: "three people | we are three",
    4: "four | four guests",
    5: "five | no i meant five",
    6: "six people please | actually six",
    8: "eight | eight guests",
    12: "twelve | we will be twelve",
    15: "fifteen | fifteen people",
    20: "twenty | twenty people",
    25: "twenty five | about twenty five",
    31: "thirty one",
    40: "forty | forty guests",
    60: "sixty",
    110: "a hundred and ten | one hundred and ten"
  },
  date: {
    monday: "monday | on monday",
    "next tuesday": "next tuesday | next tuesday please",
    wednesday: "wednesday | on wednesday please",
    thursday: "thursday | thursday would be good",
    friday: "friday | on friday",
    saturday: "no i meant saturday | saturday please",
    sunday: "sunday",
    tomorrow: "tomorrow | tomorrow please",
    "the day after tomorrow": "the day after tomorrow",
    "next week": "next week",
    "march 5": "the fifth of march | march fifth",
    "april 21": "april twenty first | the twenty first of april",
    "june 3": "june third | on the third of june",
    "october 30": "october thirtieth | the thirtieth of october",
    "may 12": "may twelfth | on may twelfth",
    "december 1": "december first | december the first"
  },
  time: {
    "3:00 pm": "three p m | at three p m",
    "3:30": "half past three | at half past three",
    "12:45": "quarter to one",
    "10:00": "ten o'clock | at ten o'clock",
    "9:15": "nine fifteen | quarter past nine",
    "4:30": "four thirty | at four thirty",
    "11:00 am": "eleven a m | eleven in the morning",
    "8:00 am": "eight in the morning | eight o'clock in the morning",
    "5:00 pm": "five in the afternoon | at five p m",
    "7:00 pm": "seven in the evening | seven p m",
    "12:00 pm": "noon | at noon",
    "2:00 pm": "no i meant two p m | two p m please",
    "6:20": "six twenty"
  },
  move: {
    "monday at 10:00": "monday at ten | on monday at ten o'clock",
    "tuesday at 3:00 pm": "tuesday at three p m | tuesday at three in the afternoon",
    "thursday at 9:30": "thursday at nine thirty | thursday at half past nine",
    "next friday": "next friday | next friday please",
    tomorrow: "tomorrow | tomorrow please",
    "wednesday at 4:00 pm": "wednesday at four p m | wednesday at four in the afternoon"
  },
  arrange: {
    "tomorrow at 10:00 am": "tomorrow at ten a m | tomorrow at ten in the morning",
    "friday at 2:00": "friday at two o'clock | friday at two",
    "monday at 11:00": "monday at eleven | on monday at eleven o'clock",
    "next tuesday": "next tuesday",
    "thursday at 5:00 pm": "thursday at five p m | thursday at five in the afternoon",
    "wednesday at 12:00 pm": "wednesday at noon"
  }
}
const digits: { readonly [Name in AskingNodeName]?: Readonly<Record<string, string>> } = {
  account: {
    4711: "four seven one one | it's four seven one one",
    90210: "nine oh two one oh | nine zero two one zero",
    3388: "double three double eight",
    5624: "five six two four | it is five six two four",
    1907: "one nine zero seven",
    83642: "eight three, six four two",
    770: "seven seven zero",
    24680: "two four six eight zero | two four, six eight zero",
    135790: "one three five, seven nine zero",
    6012: "six zero one two | no six zero one two"
  },
  phone: {
    5550142: "five five five, zero one four two | five five five zero one four two",
    5553698: "five five five, three six nine eight",
    2025550117: "two oh two, five five five, oh one one seven | two zero two, five five five, zero one one seven",
    4155552671: "four one five, five five five, two six seven one",
    6175550198: "six one seven, five five five, zero one nine eight",
    3125558420: "three one two, five five five, eight four two zero",
    7185553309: "seven one eight, five five five, three three oh nine",
    8485556174: "it's eight four eight, five five five, six one seven four"
  }
}

const answersOf = (at: string, listed: Listed, to: (key: string) => Pick<Answer, "tool" | "value">): ReadonlyArray<Answer> =>
  Object.entries(listed).flatMap(([key, texts]) =>
    listOf(String(texts)).map((text) => ({
      // The cast holds because the keys of the lists above are the names of nodes.
      at: at as AskingNodeName,
      text,
      ...to(key),
      half: "tuning"
    }))
  )
/** The tool with which each node continues once it has its answer. */
const toldTools: Readonly<Record<string, string>> = { score: "score_given", move: "times_noted", arrange: "time_named" }
const isNumber = (at: string): boolean => at === "score" || at === "guests"

const all: ReadonlyArray<Answer> = [
  ...Object.entries(chosen).flatMap(([at, listed]) => answersOf(at, listed, (tool) => ({ tool, value: undefined }))),
  ...Object.entries(told).flatMap(([at, listed]) =>
    answersOf(at, listed, (value) => ({ tool: toldTools[at] ?? "given", value: isNumber(at) ? Number(value) : value }))
  ),
  ...Object.entries(digits).flatMap(([at, listed]) =>
    answersOf(at, listed, (value) => (value.length < 4 ? { tool: "given", value } : { tool: undefined, value }))
  )
]

export const answers: ReadonlyArray<Answer> = all.map((answer, index) => ({ ...answer, half: index % 2 === 0 ? "tuning" : "held out" }))
