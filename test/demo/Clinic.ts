/** A clinic's reminders, for pictures of the console: people who confirm, move or cancel their appointment, and phones that nobody answers. */
import type { Move } from "#test/emulators/shared/Talker.ts"
import { makeMouth, type SpokenUtterance } from "#test/support/utterances.ts"

/** What is said after each of the agent's questions. */
const talks: ReadonlyArray<ReadonlyArray<string>> = [
  ["Yes, speaking.", "Yes, that works for me."],
  ["Yes, speaking.", "Could we reschedule please?", "On Friday at three in the afternoon."],
  ["Yes, speaking.", "Yes, that works for me."],
  ["Yes, speaking.", "Please cancel the appointment."],
  ["Yes, speaking.", "Yes, that works for me."],
  ["No, wrong number."]
]

const company = "Riverside Clinic"
const firstNames = ["Amelia", "Daniel", "Elena", "George", "Hannah", "Jonas", "Marie", "Oliver"]
const times = ["nine", "ten", "eleven", "two"]
/** In each area code, 555-0100 to 555-0199 are kept for stories. */
const areaCodes = ["202", "212", "303", "312", "404", "415", "503", "602", "617", "702"]
/** The last two digits, which choose what a phone does that nobody talks into: busy, rings out, a machine, declined, gives up. */
const silent = ["02", "03", "04", "07", "13"]
interface Patient {
  readonly number: string
  readonly firstName: string
  readonly time: string
}

/** `from`: the last two digits of the first number in each area code. */
const answeredBy = (from: number, count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, index) => `+1${areaCodes[index % areaCodes.length]}55501${from + Math.floor(index / areaCodes.length)}`)
const answeredByNobody = areaCodes.flatMap((code) => silent.map((last) => `+1${code}55501${last}`))

const patientsOf = (numbers: ReadonlyArray<string>): ReadonlyArray<Patient> =>
  numbers.map((number, index) => ({
    number,
    firstName: firstNames[index % firstNames.length] ?? "",
    time: times[index % times.length] ?? ""
  }))

/** Three of the one after each of the other. */
const mixed = (numbers: ReadonlyArray<string>, others: ReadonlyArray<string>): ReadonlyArray<string> =>
  others.flatMap((other, index) => [...numbers.slice(3 * index, 3 * index + 3), other])

const csvOf = (patients: ReadonlyArray<Patient>): string =>
  [
    "phone_number,first_name,company,appointment_date,appointment_time",
    ...patients.map(({ firstName, number, time }) => `${number},${firstName},${company},Thursday,${time}`),
    ""
  ].join("\n")

export const lists = {
  checkUps: csvOf(patientsOf(mixed(answeredBy(20, 150), answeredByNobody))),
  vaccinations: csvOf(patientsOf(answeredBy(50, 60))),
  /** Is only uploaded. */
  followUps: csvOf(patientsOf(answeredBy(70, 40)))
}
/** What the agent knows in a chat. */
export const example = { first_name: "Marie", company, appointment_date: "Thursday", appointment_time: "ten" }

/** Long enough that it is no pause between two sentences of the agent. */
const turnMillis = 1200

/** All that is said, by its text. */
export const speech = (): ReadonlyMap<string, SpokenUtterance> => {
  const mouth = makeMouth()
  return new Map([...new Set(talks.flat())].map((text) => [text, mouth(text, { voice: "rms" })]))
}

/** What the person at the number does in a call; undefined: nobody talks there. */
export const movesOf = (number: string, spoken: ReadonlyMap<string, SpokenUtterance>): ReadonlyArray<Move> | undefined => {
  const last = Number(number.slice(-2))
  if (silent.includes(number.slice(-2))) return undefined
  // The area code, so that neighbours in the list say different things.
  const talk = talks[(last + areaCodes.indexOf(number.slice(2, 5))) % talks.length] ?? []
  return talk.map((text) => ({ cue: { afterAgent: turnMillis }, says: spoken.get(text) }))
}
