/** The callee of a hosted carrier, in a process that is kept from running for a while: what has arrived by then is heard, and is not late from then on. */
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import t from "tap"
import { type WebSocket, WebSocketServer } from "ws"
import { frameBytes } from "./ari/Sound.ts"
import { calleeOf } from "./shared/Callee.ts"
import { CalleeLog } from "./shared/CalleeLog.ts"
import { MediaLeg } from "./shared/MediaLeg.ts"
import { hearsAfterStall } from "./shared/stalled.ts"

const frame = Buffer.alloc(frameBytes, 0x42)

t.test("given frames that arrive while nothing can run, then the callee misses none of them", async (t) => {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 })
  t.teardown(() => server.close())
  await once(server, "listening")
  const log = new CalleeLog()
  /** Of each tick. */
  const heard: Array<boolean> = []
  log.talkerFor = () => ({
    next: (one) => {
      heard.push(one !== undefined)
      return frame
    }
  })
  const leg = new MediaLeg({
    id: "call",
    // A server on TCP.
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    callee: calleeOf("+15550001017"),
    log,
    words: { start: () => ({}), audio: (one) => one, read: (audio, isBinary) => (isBinary ? { _tag: "Audio", audio } : undefined) },
    onLost: () => {}
  })
  t.teardown(() => leg.drop())
  leg.start()
  const [engine]: Array<WebSocket> = await once(server, "connection")
  t.ok(await hearsAfterStall(heard, () => engine?.send(frame)))
})
