/** Tests that the adapter does what every adapter must do, against Acme on this machine. */
import { describe, test } from "node:test"
import { conformance, numbersEnding, type World } from "trunkline/conformance"
import acme from "voice-adapter-acme"
import { AcmeCarrier, answering } from "./AcmeCarrier.ts"

const silent = "Acme carries no audio"
const callees = { ...answering, ringsOut: "003", busy: "002", declines: "007", doesNotAnswer: "013", doesNotExist: "008", congested: "009" }

const openWorld = async (): Promise<World> => {
  const carrier = await AcmeCarrier.start()
  return {
    config: { endpoint: carrier.url, token: carrier.token },
    wrongConfig: { endpoint: carrier.url, token: "token-of-a-stranger" },
    apiOrigin: new URL(carrier.url),
    callerId: "+15550100000",
    number: numbersEnding(callees),
    phone: (number) => {
      const call = carrier.callTo(number)
      if (call === undefined) return { rung: 0, state: undefined, endedBy: undefined }
      const state = call.endedBy !== undefined ? "ended" : call.answeredAt !== undefined ? "up" : "ringing"
      return { rung: 1, state, endedBy: call.endedBy }
    },
    requested: (number) => carrier.requested.filter((to) => to === number).length,
    spoil: (places, reply) => {
      carrier.spoil(places, reply)
      return true
    },
    replyLate: () => carrier.replyLate(),
    refusals: {
      rate_limited: { status: 429, body: { code: "too_many" }, headers: { "retry-after": "1" } },
      number_refused: { status: 400, body: { code: "invalid_to" } },
      caller_id_refused: { status: 400, body: { code: "invalid_from" } },
      auth_refused: { status: 401, body: { code: "unauthorized" } },
      no_credit: { status: 402, body: { code: "no_credit" } }
    },
    cannot: {
      breaks: "Acme reports it like any other end",
      calleeHertz: silent,
      heard: silent,
      machine: "Acme detects no machines",
      pressed: silent,
      presses: silent
    },
    close: () => carrier.stop()
  }
}

// Each case has its own world, so cases can run concurrently.
describe("acme", { concurrency: 8 }, () => {
  for (const { name, run } of conformance(acme, openWorld)) {
    test(name, async (t) => {
      const { notAsked } = await run()
      if (notAsked !== undefined) t.diagnostic(`not asked: ${notAsked}`)
    })
  }
})
