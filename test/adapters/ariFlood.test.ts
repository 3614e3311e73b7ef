/** An Asterisk that sends more than its organization's share of the thread. */
import { randomUUID } from "node:crypto"
import { Schema } from "effect"
import t, { type Test } from "tap"
import ari from "#adapters/ari/ari.ts"
import { OrganizationId } from "#core/Id.ts"
import { trunksOfAll } from "#test/support/egress.ts"
import { Line } from "./Line.ts"
import { untilTrue } from "#test/support/until.ts"
import { ScriptedAsterisk } from "./ScriptedAsterisk.ts"

const organization = Schema.decodeSync(OrganizationId)
/** How long handling an event keeps this thread busy. */
const eventMillis = 0.2

const spend = (millis: number) => {
  for (const until = performance.now() + millis; performance.now() < until; );
}

/** How many things happen in one turn of the event loop, at most. */
const countTurns = () => {
  let [now, most] = [0, 0]
  return {
    most: () => most,
    happened: () => {
      if (now === 0) setImmediate(() => void (now = 0))
      now++
      most = Math.max(most, now)
    }
  }
}

const configOf = ({ password, url, user }: ScriptedAsterisk) => ({
  ari_endpoint: url,
  app_name: user,
  app_password: password,
  dial_string: "PJSIP/{number}@trunk"
})

const answered = (id: string) => ({ type: "StasisStart", channel: { id } })

const trunksOf = trunksOfAll({ allow: "127.0.0.0/8" })

/** The Asterisk of an organization, to which a trunk is connected. */
const connected = async (t: Test, owner: number, onEvent: (callId: string) => void): Promise<ScriptedAsterisk> => {
  const asterisk = await ScriptedAsterisk.start()
  t.teardown(() => asterisk.stop())
  const line = await Line.open(ari, configOf(asterisk), undefined, { egress: trunksOf(organization(owner)), onEvent })
  t.teardown(() => line.close())
  await line.status("Up")
  return asterisk
}

t.test("given an Asterisk that sends thousands of events at once", async (t) => {
  const turns = countTurns()
  const heard: Array<string> = []
  const flooding = await connected(t, 2, (callId) => {
    turns.happened()
    heard.push(callId)
    spend(eventMillis)
  })
  const others: Array<string> = []
  const other = await connected(t, 3, (callId) => void others.push(callId))

  const sent = Array.from({ length: 5_000 }, () => randomUUID())
  for (const id of sent) flooding.tell(answered(id))
  const call = randomUUID()
  await untilTrue("the first events", () => heard.length > 0)
  other.tell(answered(call))
  await untilTrue("the event of another organization", () => others.length > 0)
  t.ok(heard.length < sent.length, "then another organization's event does not wait for all of them")
  await untilTrue("all events", () => heard.length === sent.length)
  t.strictSame(heard, sent, "then none is lost, and they keep their order")
  // A slice and a piece, once as they arrive and once in their turn.
  t.ok(turns.most() <= 60, `${turns.most()} events were handled in one turn of the event loop`)
})
