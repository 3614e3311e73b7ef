/** The Asterisk adapter against the emulator, alone and in a pair, and against a real Asterisk with real callees. */
import t from "tap"
import ari from "#adapters/ari/ari.ts"
import { numbersEnding, type World } from "#adapters/conformance/conformance.ts"
import { type ResponseFault, startAriEmulator } from "#test/emulators/ari/AriEmulator.ts"
import { calleeHertz } from "#test/emulators/ari/Sound.ts"
import { ariConfig } from "#test/support/ariConfig.ts"
import { type Asterisk, asteriskUnavailable, startAsterisk } from "#test/support/asterisk.ts"
import { recording } from "./emulatedLine.ts"
import { callees, conforms, phoneIn } from "./conforms.ts"

const unavailable = await asteriskUnavailable()
const asterisk = unavailable === undefined ? await startAsterisk() : undefined
t.teardown(() => asterisk?.stop())

const configsOf = (config: ReturnType<typeof ariConfig>) => ({
  config: { ...config, transfer_dial_string: config.dial_string },
  unreachableConfig: { ...config, ari_endpoint: "http://127.0.0.1:9" },
  wrongConfig: { ...config, app_password: "wrong secret" }
})

/** The replies that the emulator can send in place of its own. */
const faultOf = (places: boolean, reply: Parameters<NonNullable<World["spoil"]>>[1]): ResponseFault | undefined => {
  if (reply === "late") return undefined
  if (reply === "lost") return places ? "reset-after-placing" : "reset-before-placing"
  if (places || reply.status >= 504) return undefined
  const isPage = typeof reply.body === "string"
  return (
    [
      ["503", true],
      ["429", true],
      ["500", false]
    ] as const
  ).find(([status, of]) => status === String(reply.status) && of === isPage)?.[0]
}

/** Emulators behind one configuration, however many. */
const emulatedWorld = async (count: number): Promise<World> => {
  // Eight seconds of talk, because on a busy machine it takes some of them until the audio is open.
  const all = await Promise.all(Array.from({ length: count }, () => startAriEmulator({ talkMillis: 40_000, timeScale: 0.2 })))
  const [emulator, ...others] = all
  if (emulator === undefined) throw new Error("no emulator")
  const { config, ...configs } = configsOf(ariConfig(emulator))
  return {
    ...configs,
    calleeHertz,
    cannot: {
      replyLate: "it sends no late replies",
      refusals: "Asterisk itself refuses no call because of its rate, and refusals by its trunk are ends of calls"
    },
    close: async () => void (await Promise.all(all.map((one) => one.stop()))),
    config: { ...config, ari_endpoints: others.map(({ url }) => url) },
    number: numbersEnding(callees),
    phone: (number) => {
      const { log } = all.find(({ log }) => log.of(number).length > 0) ?? emulator
      return phoneIn(log, number)
    },
    requested: (number) => all.flatMap(({ requests }) => requests).filter(({ endpoint }) => endpoint.includes(number)).length,
    spoil: (places, reply) => {
      const fault = faultOf(places, reply)
      // The fault must meet the emulator that gets the next request, whichever that is.
      for (const one of all) one.setResponseFault(fault ?? "none", 1)
      return fault !== undefined
    },
    spoilTransfer: (places) => {
      for (const one of all) one.setResponseFault(places ? "reset-after-placing" : "reset-before-placing", 1)
      return true
    }
  }
}

/** `loop`: Asterisk calls itself, and the dialplan is the callee. `sipp`: it calls SIPp, which keeps a log. */
const realWorld = (asterisk: Asterisk, trunk: "loop" | "sipp"): World => {
  const config = configsOf(ariConfig({ url: asterisk.ariUrl, user: asterisk.user, password: asterisk.password }, { trunk }))
  const unseen = "a real phone reports nothing"
  const isLoop = trunk === "loop"
  return {
    ...config,
    calleeHertz: 440,
    cannot: {
      breaks: "no real line breaks on demand",
      disorderly: "Asterisk sends its events in order",
      endedBy: unseen,
      heard: unseen,
      heardAtOnce: "the recording is written later",
      pressed: unseen,
      refusals: "Asterisk itself refuses no call",
      replyLate: "nothing is between us and Asterisk",
      requested: unseen,
      rung: unseen,
      spoil: "nothing is between us and Asterisk",
      spoilTransfer: "nothing is between us and Asterisk",
      state: unseen
    },
    close: async () => {},
    number: numbersEnding({
      busy: "200",
      congested: "800",
      declines: "400",
      doesNotAnswer: "310",
      doesNotExist: "404",
      leaves: "105",
      machine: "500",
      presses: "600",
      ringsOut: "300",
      stays: "710"
    }),
    phone: async (number) =>
      isLoop
        ? { heard: await recording(`${asterisk.runFolder}/heard/${number.slice(1)}.wav`) }
        : { rung: (await asterisk.sippLog()).filter((invite) => invite.number === number).length }
  }
}

conforms(ari, () => emulatedWorld(1))
conforms(ari, () => emulatedWorld(2), "given two emulators")
for (const trunk of ["loop", "sipp"] as const) {
  const where = `given a real Asterisk that calls ${trunk === "loop" ? "itself" : "SIPp"}`
  if (asterisk === undefined) t.test(where, { skip: unavailable ?? true }, () => {})
  else conforms(ari, async () => realWorld(asterisk, trunk), where)
}
