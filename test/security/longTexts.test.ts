/** Nothing that anybody may write holds up the thread that reads it, however long it is and whatever it repeats. */
import { Worker } from "node:worker_threads"
import t from "tap"

/** Read in seconds, even where many share the machine; in hours where the time grows with the square of the length. */
const patienceMillis = 900_000

t.test("given long texts that repeat one thing, then each of them is read to its end", async (t) => {
  const reader = new Worker(new URL("../support/longTexts.ts", import.meta.url))
  let reading = "the first text"
  reader.on("message", (name: string) => (reading = name))
  const ended = new Promise((resolve, reject) => reader.on("exit", resolve).on("error", reject))
  const watchdog = setTimeout(() => void reader.terminate(), patienceMillis)
  await ended
  clearTimeout(watchdog)
  t.equal(reading, "nothing", "what is still being read")
})
