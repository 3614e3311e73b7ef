/** The simulated provider, judged by what its own phones have seen. */
import { numbersEnding, type Phone, type World } from "#adapters/conformance/conformance.ts"
import { simulatedWith } from "#adapters/simulated/simulated.ts"
import { fromMulaw } from "#test/emulators/ari/Sound.ts"
import { conforms } from "./conforms.ts"

const inProcess = "its phones are in the engine's own process"

interface PhoneLog extends Phone {
  rung: number
  state: Phone["state"]
  endedBy: Phone["endedBy"]
  readonly heard: Array<number>
  pressed: string
}
/** By number; every case dials its own. */
const phones = new Map<string, PhoneLog>()
const recordOf = (number: string): PhoneLog => {
  const record = phones.get(number) ?? { rung: 0, state: undefined, endedBy: undefined, heard: [], pressed: "" }
  phones.set(number, record)
  return record
}

const states = { Dialed: "dialing", Ringing: "ringing", Answered: "up", Over: "ended" } as const

const adapter = simulatedWith((number, seen) => {
  const record = recordOf(number)
  if (seen._tag === "Heard") record.heard.push(...Array.from(seen.frame, fromMulaw))
  else if (seen._tag === "Pressed") record.pressed += seen.digits
  else record.state = states[seen._tag]
  if (seen._tag === "Dialed") record.rung += 1
  if (seen._tag === "Over") record.endedBy = seen.by
})

const openWorld = async (): Promise<World> => ({
  calleeHertz: 400,
  cannot: {
    disorderly: inProcess,
    refusals: "it refuses nothing but invalid numbers",
    replyLate: inProcess,
    restart: inProcess,
    spoil: inProcess,
    unreachable: inProcess,
    wrongConfig: "there is no account"
  },
  close: async () => {},
  config: { ring_seconds: "0" },
  number: numbersEnding({
    breaks: "12",
    busy: "02",
    congested: "09",
    declines: "07",
    doesNotAnswer: "11",
    doesNotExist: "08",
    leaves: "05",
    machine: "04",
    presses: "10",
    ringsOut: "03",
    stays: "06"
  }),
  phone: recordOf,
  requested: (number) => recordOf(number).rung
})

conforms(adapter, openWorld, "given simulated phones")
