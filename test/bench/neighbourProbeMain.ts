/**
 * Another organization, in a separate process: asks the engine at a steady rate, however long the answers take, and counts from the
 * moment at which a request was due. Alternately it asks a server that does nothing, and checks how late its own timers are: what the machine
 * adds.
 */
import { Agent, request } from "node:http"

interface ProbeTargets {
  readonly engine: { readonly port: number; readonly key: string; readonly path: string }
  readonly bare: { readonly port: number; readonly path: string }
}
/** Milliseconds. */
export interface Probed {
  readonly engine: ReadonlyArray<number>
  readonly bare: ReadonlyArray<number>
  readonly timers: ReadonlyArray<number>
  /** Requests without a successful answer. */
  readonly failed: number
}

const perSecond = 100
/** One request out of this many goes to the server that does nothing. */
const bareEvery = 2
const apartMillis = 1000 / perSecond
const answerMillis = 30_000
const wait = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

const agent = new Agent({ keepAlive: true, maxSockets: 256, timeout: answerMillis })

const ask = (port: number, path: string, key: string) =>
  new Promise<boolean>((resolve) => {
    const outgoing = request({ agent, host: "127.0.0.1", port, path, headers: { "x-api-key": key } }, (response) => {
      response.resume()
      response.on("end", () => resolve(response.statusCode === 200))
      response.on("error", () => resolve(false))
    })
    outgoing.on("timeout", () => outgoing.destroy(new Error("no answer")))
    outgoing.on("error", () => resolve(false))
    outgoing.end()
  })

const probe = async ({ bare, engine }: ProbeTargets, seconds: number): Promise<Probed> => {
  const found = { engine: [] as number[], bare: [] as number[], timers: [] as number[] }
  let failed = 0
  const underWay: Array<Promise<void>> = []
  const began = performance.now()
  for (let sent = 0; sent < seconds * perSecond; sent++) {
    const due = began + sent * apartMillis
    const early = due - performance.now()
    if (early > 0) await wait(early)
    found.timers.push(performance.now() - due)
    const isBare = sent % bareEvery === 0
    const asked = isBare ? ask(bare.port, bare.path, "") : ask(engine.port, engine.path, engine.key)
    underWay.push(
      asked.then((isGood) => {
        if (!isGood) failed++
        found[isBare ? "bare" : "engine"].push(performance.now() - due)
      })
    )
  }
  await Promise.all(underWay)
  return { ...found, failed }
}

let targets: ProbeTargets | undefined
process.on("message", (message: { readonly targets: ProbeTargets } | { readonly seconds: number }) => {
  if ("targets" in message) targets = message.targets
  else if (targets !== undefined) void probe(targets, message.seconds).then((probed) => process.send?.({ probed }))
})
process.on("disconnect", () => process.exit())
process.send?.({ started: true })
