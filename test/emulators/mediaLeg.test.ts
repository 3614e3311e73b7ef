/** The callee of a hosted carrier. Audio that arrives while the process is stalled is still heard, and causes no lasting delay. */
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import t, { type Test } from "tap"
import { type WebSocket, WebSocketServer } from "ws"
import { untilTrue } from "#test/support/until.ts"
import { frameBytes } from "./ari/Sound.ts"
import { calleeOf } from "./shared/Callee.ts"
import { CalleeLog } from "./shared/CalleeLog.ts"
import { MediaLeg } from "./shared/MediaLeg.ts"

const frame = Buffer.alloc(frameBytes, 0x42)

const sentFrames = 5
const stallMillis = 150
/** Some of the ticks that were due before the frames were sent may run after it, but not in every attempt. */
const attempts = 10

/** `heard`: whether each tick had a frame to hear. Returns true if, in one attempt, all sent frames were heard and no frame was missed before them. */
const hearsAfterStall = async (heard: ReadonlyArray<boolean>, send: () => void): Promise<boolean> => {
  await untilTrue("ticks", () => heard.length > 0)
  for (let attempt = 0; attempt < attempts; attempt++) {
    // After this, timers run before arrived data is read.
    await new Promise<void>((resolve) => setImmediate(resolve))
    const before = heard.length
    for (let count = 0; count < sentFrames; count++) send()
    const over = performance.now() + stallMillis
    while (performance.now() < over);
    await untilTrue("ticks after it", () => heard.slice(before).filter((isHeard) => isHeard).length >= sentFrames)
    if (heard.slice(before, before + sentFrames).every((isHeard) => isHeard)) return true
  }
  return false
}

/** A callee who talks as `log` says, and the engine's end of the line. */
const connected = async (t: Test, log: CalleeLog) => {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 })
  t.teardown(() => server.close())
  await once(server, "listening")
  const leg = new MediaLeg({
    id: "call",
    // The server listens on TCP.
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    callee: calleeOf("+15550001017"),
    log,
    words: {
      start: () => ({}),
      audio: (one) => one,
      read: (audio, isBinary) => (isBinary ? { _tag: "Audio", audio } : undefined)
    },
    onLost: () => {}
  })
  t.teardown(() => leg.drop())
  leg.start()
  const [engine]: Array<WebSocket> = await once(server, "connection")
  if (engine === undefined) throw new Error("there is no connection")
  return engine
}

t.test("given frames that arrive while nothing can run, then the callee misses none of them", async (t) => {
  const log = new CalleeLog()
  /** Whether each tick had a frame. */
  const heard: Array<boolean> = []
  log.talkerFor = () => ({
    next: (one) => {
      heard.push(one !== undefined)
      return frame
    }
  })
  const engine = await connected(t, log)
  t.ok(await hearsAfterStall(heard, () => engine.send(frame)))
})
