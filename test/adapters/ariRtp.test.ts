/** What is sent as RTP to the address that Asterisk has named. */
import { createSocket } from "node:dgram"
import { once } from "node:events"
import t from "tap"
import ari from "#adapters/ari/ari.ts"
import { startAriEmulator } from "#test/emulators/ari/AriEmulator.ts"
import { Line, numberOf } from "./Line.ts"
import { untilTrue } from "#test/support/until.ts"
import { ariConfig } from "#test/support/ariConfig.ts"

t.test("given audio over RTP, when frames are skipped, then the timestamps of later frames show it", async (t) => {
  const ear = createSocket("udp4")
  t.teardown(() => ear.close())
  const packets: Array<Buffer> = []
  ear.on("message", (packet) => packets.push(packet))
  ear.bind(0, "127.0.0.1")
  await once(ear, "listening")
  const emulator = await startAriEmulator({ timeScale: 0.2, namesRtpAt: { address: "127.0.0.1", port: ear.address().port } })
  t.teardown(() => emulator.stop())
  const line = await Line.up(ari, ariConfig(emulator))
  t.teardown(() => line.close())
  const callId = await line.talkTo(numberOf("011"))
  await line.withMedia(callId, async (stream) => {
    const frame = new Uint8Array(160)
    for (const skipped of [0, 0, 0, 10, 0, 65_536]) {
      if (skipped > 0) stream.skip(skipped)
      stream.send(frame)
    }
    await untilTrue("all packets", () => packets.length >= 6)
  })
  const marked = packets.map((packet) => packet.readUInt8(1) >> 7)
  const since = (at: number, bytes: 2 | 4) =>
    packets.map((packet) => {
      const of = (one: Buffer) => one.readUIntBE(at, bytes)
      return (of(packet) - of(packets[0] ?? packet) + 2 ** (8 * bytes)) % 2 ** (8 * bytes)
    })
  t.strictSame(since(2, 2), [0, 1, 2, 3, 4, 5], "then the sequence numbers have no gap")
  t.strictSame(since(4, 4), [0, 160, 320, 320 + 11 * 160, 320 + 12 * 160, 320 + 65_549 * 160], "then the timestamp follows the clock")
  t.strictSame(marked, [1, 0, 0, 1, 0, 1], "then the first packet is marked, and so is each one after a gap")
})
