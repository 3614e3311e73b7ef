/**
 * The control of `originate-http`, in a separate process: the requests of Twilio's adapter without an engine. There is no database and no
 * journal, and no signature is checked; the callback that reports the end of a call leads straight to the next request.
 */
import { randomUUID } from "node:crypto"
import { Agent, createServer, request, type IncomingMessage } from "node:http"
import { formOf } from "#adapters/twilio/TwilioTrunk.ts"
import { CallId } from "#core/Id.ts"
import { localPort } from "#test/support/localPort.ts"
import { answerMeasures } from "./Measures.ts"
import type { EmulatorAddress } from "./emulatorMain.ts"

export interface LoopOrder {
  readonly emulator: EmulatorAddress
  readonly from: string
  readonly numbers: ReadonlyArray<string>
  readonly slots: number
  /** How many requests may await replies at once. */
  readonly inFlight: number
}

const ends = ["completed", "busy", "no-answer", "canceled", "failed"]

const bodyOf = async (message: IncomingMessage): Promise<string> => {
  const parts: Array<Buffer> = []
  for await (const part of message) parts.push(part)
  return Buffer.concat(parts).toString()
}

/** Returns the origin to which the carrier sends its callbacks. */
const listen = async (ended: () => void): Promise<string> => {
  const server = createServer((message, response) => {
    void bodyOf(message).then((body) => {
      response.writeHead(204).end()
      if (ends.includes(new URLSearchParams(body).get("CallStatus") ?? "")) ended()
    })
  })
  return `http://127.0.0.1:${await localPort(server)}`
}

const carryOut = async ({ emulator, from, inFlight, numbers, slots }: LoopOrder): Promise<void> => {
  const agent = new Agent({ keepAlive: true, maxSockets: inFlight })
  const url = `${emulator.url}/2010-04-01/Accounts/${emulator.user}/Calls.json`
  const headers = {
    authorization: `Basic ${Buffer.from(`${emulator.user}:${emulator.password}`).toString("base64")}`,
    "content-type": "application/x-www-form-urlencoded"
  }
  const call = { context: {}, detect: "no", from, leave: () => true, maxDurationSeconds: 300, ringTimeoutSeconds: 60 } as const
  let next = 0
  const originate = () => {
    const to = numbers[next++]
    if (to === undefined) return
    const callId = CallId.make(randomUUID())
    const addresses = {
      callbackUrl: (kind: string, id?: string) => `${site}/${kind}/${id}`,
      mediaUrl: `${site.replace("http", "ws")}/media/${callId}`
    }
    const body = formOf({ ...call, callId, to }, addresses, false).toString()
    request(url, { agent, method: "POST", headers: { ...headers, "content-length": Buffer.byteLength(body) } }, (response) =>
      response.resume()
    ).end(body)
  }
  const site = await listen(originate)
  for (let free = slots; free > 0; free--) originate()
}

answerMeasures()
process.on("message", (message) => {
  // It comes from the benchmark, which sends nothing else with numbers.
  if (message instanceof Object && "numbers" in message) void carryOut(message as LoopOrder)
})
process.on("disconnect", () => process.exit())
