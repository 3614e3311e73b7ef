/** What arrives from organizations' servers, by a clock that only moves while something is handled. */
import { Readable } from "node:stream"
import { setImmediate as nextTurn } from "node:timers/promises"
import t from "tap"
import { Intake } from "#runtime/egress/Intake.ts"

const pieceMillis = 0.4
/** More than is handled as one piece. */
const chunk = (letter: string, bytes = 10_000) => Buffer.alloc(bytes, letter)

const scene = () => {
  let now = 0
  const intake = new Intake<string>({ now: () => now, report: () => {} })
  const handled: Array<string> = []
  const reads = new Map<Readable, number>()
  /** The returned stream is what a socket is: `_read` begins to read, and each chunk is pushed as it arrives. */
  const socketOf = (owner: string, kind?: "audio" | "other") => {
    const socket: Readable = new Readable({ read: () => void reads.set(socket, (reads.get(socket) ?? 0) + 1) })
    intake.pace(owner, socket, kind)
    socket.on("data", (piece: Buffer) => {
      now += pieceMillis
      handled.push(piece.toString())
    })
    socket.on("end", () => handled.push("end"))
    return socket
  }
  return { handled, intake, reads, socketOf }
}

t.test("given a chunk of many messages, then it is handled over many turns of the event loop, whole and in order", async (t) => {
  const { handled, socketOf } = scene()
  const socket = socketOf("a")
  await nextTurn()
  const sent = Buffer.from(Array.from({ length: 2_000 }, (_, index) => `${index},`).join(""))
  t.equal(socket.push(sent), false, "then reading stops")
  socket.push(null)
  let most = 0
  for (let before = 0; handled.at(-1) !== "end"; before = handled.length) {
    await nextTurn()
    most = Math.max(most, handled.length - before)
  }
  t.ok(most <= 7, `${most} pieces in one turn`)
  t.equal(handled.slice(0, -1).join(""), sent.toString())
})

t.test("given an organization with many sockets that are full, when another's has something, then it is next but one", async (t) => {
  const { handled, socketOf } = scene()
  const [flooding, other] = [Array.from({ length: 10 }, () => socketOf("a")), socketOf("b")]
  await nextTurn()
  for (const socket of flooding) socket.push(chunk("a"))
  other.push(chunk("b", 600))
  while (!handled.some((piece) => piece.startsWith("b"))) await nextTurn()
  t.ok(handled.findIndex((piece) => piece.startsWith("b")) <= 2)
})

t.test("given an organization that floods, when it speaks in a call, then no more than what is spoken is handled at once", async (t) => {
  const { handled, socketOf } = scene()
  const [flood, call] = [socketOf("a"), socketOf("a", "audio")]
  await nextTurn()
  flood.push(chunk("a"))
  const before = handled.length
  let spoken = 0
  while (call.push(chunk("s", 160))) spoken++
  t.strictSame(
    handled.slice(before),
    Array.from({ length: spoken }, () => "s".repeat(160))
  )
  t.ok(spoken >= 25 && spoken <= 40, `${spoken} frames`)
})

t.test("given a socket with something waiting, when it closes, then nothing of it is handled any more", async (t) => {
  const { handled, socketOf } = scene()
  const [socket, other] = [socketOf("a"), socketOf("a")]
  await nextTurn()
  socket.push(chunk("a"))
  other.push(chunk("b"))
  socket.destroy()
  await nextTurn()
  const had = handled.filter((piece) => piece.startsWith("a")).length
  while (handled.filter((piece) => piece.startsWith("b")).join("").length < 10_000) await nextTurn()
  t.equal(handled.filter((piece) => piece.startsWith("a")).length, had)
})
