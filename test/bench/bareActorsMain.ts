/** The control of `actors`: fibers that only take from their own queues. Also the ARI adapter's table of calls, by itself. */
import { Effect, Queue } from "effect"
import { AriCalls } from "#adapters/ari/AriCalls.ts"
import { answerMeasures } from "./Measures.ts"

/** As large as a call's mailbox. */
const capacity = 64

// Without a reference to its queue, a waiting fiber would be garbage.
const mailboxes: Array<Queue.Queue<number>> = []
const actor = Effect.gen(function* () {
  const mailbox = yield* Queue.make<number>({ capacity, strategy: "dropping" })
  mailboxes.push(mailbox)
  while (true) yield* Queue.take(mailbox)
})

const table = new AriCalls(
  () => {},
  () => 0
)
let calls = 0

answerMeasures()
process.on("message", (message) => {
  if (!(message instanceof Object && "add" in message && "count" in message)) return
  for (let added = 0; added < Number(message.count); added++) {
    if (message.add === "fibers") Effect.runFork(actor)
    else table.add(`00000000-0000-7000-8000-${String(calls++).padStart(12, "0")}`, 60, "pending").request = "accepted"
  }
})
process.send?.({ ready: true })
