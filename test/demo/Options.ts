/** The command-line options of the demo. */
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { type Provider, providers } from "./Callees.ts"
import { DemoFailed } from "./DemoFailed.ts"

export interface Options {
  /** Call through a real Asterisk instead of the emulator. */
  readonly asterisk: boolean
  /** The provider whose adapter places the calls. */
  readonly provider: Provider
  readonly contacts: number
  /** How many calls may be live at the same time. */
  readonly slots: number
  /** The port of the API; 0 for any free one. */
  readonly port: number
  /** The data folder, which is emptied at the start and kept at the end. */
  readonly data: string
  /** Prints only the summary to stdout, as one JSON object. */
  readonly json: boolean
  readonly keep: boolean
  readonly help: boolean
}

export const help = `
Runs a whole campaign on this machine, from the CSV to the run records, and compares every call with what the callees saw. Nobody is
really called: the far end is simulated, and the number that is dialed decides what the callee does. Beside it, an agent holds a few
conversations with callees who speak and listen.

npm run demo                          200 contacts through a simulated Asterisk
npm run demo -- --provider twilio     the same through a simulated Twilio
npm run demo -- --asterisk            the campaign alone through a real Asterisk, installed into .cache by the project's own scripts

  --provider NAME   ${providers.join(", ")} (ari, which is Asterisk)
  --contacts N      how many to call, 1 to 2000 (200; 40 with cloudonix, which takes longer)
  --slots N         how many at once, 1 to 100 (25)
  --port N          of the API (any free one)
  --data FOLDER     of the service; it is emptied first (.data/demo)
  --keep            leave the service running until Ctrl-C
  --json            print the summary as one JSON object; the progress goes to stderr
  --help            this text
`

const flag = { type: "boolean", default: false } as const
const text = (value: string) => ({ type: "string", default: value }) as const

const wholeNumber = (name: string, given: string, least: number, most: number): number => {
  const value = Number(given)
  if (/^\d+$/.test(given) && value >= least && value <= most) return value
  throw new DemoFailed(`--${name} must be a whole number from ${least} to ${most}, not "${given}".`)
}

/** Each end of a call through Cloudonix is confirmed by a request, about one per second. */
const usualContacts = (provider: Provider): number => (provider === "cloudonix" ? 40 : 200)

const providerOf = (given: string, asterisk: boolean): Provider => {
  const provider = providers.find((name) => name === given.toLowerCase())
  if (provider === undefined) throw new DemoFailed(`There is no provider "${given}". --provider takes ${providers.join(", ")}.`)
  if (asterisk && provider !== "ari")
    throw new DemoFailed(`--asterisk calls through a real Asterisk, so it cannot be used with --provider ${provider}.`)
  return provider
}

const parse = (args: ReadonlyArray<string>) => {
  const data = text(fileURLToPath(new URL("../../.data/demo", import.meta.url)))
  const switches = { asterisk: flag, json: flag, keep: flag, help: { ...flag, short: "h" } } as const
  const known = { ...switches, contacts: { type: "string" } as const, provider: text("ari"), slots: text("25"), port: text("0"), data }
  try {
    return parseArgs({ args: [...args], options: known }).values
  } catch (error) {
    throw new DemoFailed(`${error instanceof Error ? error.message : error}\n${help}`)
  }
}

export const readOptions = (args: ReadonlyArray<string>): Options => {
  const given = parse(args)
  const provider = providerOf(given.provider, given.asterisk)
  return {
    ...given,
    provider,
    contacts: wholeNumber("contacts", given.contacts ?? String(usualContacts(provider)), 1, 2000),
    slots: wholeNumber("slots", given.slots, 1, 100),
    port: wholeNumber("port", given.port, 0, 65_535)
  }
}
