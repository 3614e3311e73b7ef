/** Connections of browsers in their worker, with real packets on loopback. */
import { Effect, Exit, Scope } from "effect"
import t, { type Test } from "tap"
import { type BrowserConnection, type BrowserEnd, makeBrowserPeers } from "#runtime/browser/BrowserPeers.ts"
import { readOffer } from "#core/call/BrowserOffer.ts"
import { openBrowser } from "#test/support/browser.ts"
import { until, untilTrue } from "#test/support/until.ts"

const usual = { address: "127.0.0.1", ports: undefined, connectMillis: 30_000, quietMillis: 30_000 } as const

const openPeers = async (t: Test, settings: Partial<Parameters<typeof makeBrowserPeers>[0]> = {}) => {
  const scope = Scope.makeUnsafe()
  t.teardown(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  return await Effect.runPromise(makeBrowserPeers({ ...usual, ...settings }, () => []).pipe(Scope.provide(scope)))
}

interface Told {
  answers: Array<string>
  isConnected: boolean
  end: BrowserEnd | undefined
}

const listening = () => {
  const told: Told = { answers: [], isConnected: false, end: undefined }
  return {
    told,
    listener: {
      answered: (sdp: string) => void told.answers.push(sdp),
      connected: () => {
        told.isConnected = true
      },
      ended: (how: BrowserEnd) => {
        told.end = how
      }
    }
  }
}

const echoes = ({ stream }: BrowserConnection): void => stream.listen({ frame: (frame) => void stream.send(frame), closed: () => {} })

/** A connection that has been given up does not come up any more. */
const isUp = (told: Told, isThere: () => boolean = () => true) =>
  untilTrue("a connection", () => {
    if (told.end !== undefined) throw new Error(`the connection has ended: ${told.end}`)
    return told.isConnected && isThere()
  })

const connected = async (t: Test, peers: Awaited<ReturnType<typeof openPeers>>) => {
  const browser = openBrowser(t)
  const { listener, told } = listening()
  const connection = peers.open(listener)
  connection.offer(await browser.offer())
  await browser.answered(await until("an answer", () => told.answers.at(-1)))
  await isUp(told, () => browser.state() === "connected")
  return { browser, connection, told }
}

t.test("given a browser that offers Opus and PCMU, then the answer takes PCMU alone, and audio flows in both directions", async (t) => {
  const peers = await openPeers(t)
  const { browser, connection, told } = await connected(t, peers)
  const [answer = ""] = told.answers
  t.strictSame(
    answer
      .match(/^m=audio .*$/m)?.[0]
      .split(" ")
      .slice(3),
    ["0"]
  )
  t.notMatch(answer, /opus/i)
  t.strictSame([...new Set(answer.match(/^a=candidate:.*$/gm)?.map((line) => line.split(" ")[4]))], ["127.0.0.1"])
  echoes(connection)
  browser.says(Uint8Array.from({ length: 160 }, (_, at) => at))
  await untilTrue("a frame that comes back as it was", () =>
    browser.heard().includes(Buffer.from(Uint8Array.from({ length: 160 }, (_, at) => at)))
  )
  connection.close()
  t.equal(connection.stream.send(new Uint8Array(160)), false)
  t.equal(told.end, undefined, "nobody is told what they did themselves")
})

t.test("given candidates that come one by one, before and after the answer, then the connection comes up", async (t) => {
  const peers = await openPeers(t)
  const browser = openBrowser(t)
  const { listener, told } = listening()
  const connection = peers.open(listener)
  const sdp = await browser.offer()
  const bare = sdp.replaceAll(/^a=(candidate:.*|end-of-candidates)\r\n/gm, "")
  const found = [...sdp.matchAll(/^a=(candidate:.*)\r$/gm)].map(([, candidate = ""]) => candidate)
  connection.candidate({ candidate: "candidate:1 1 udp 1 127.0.0.1 9 typ host", sdpMid: "0" })
  connection.offer(bare)
  await browser.answered(await until("an answer", () => told.answers.at(-1)))
  connection.candidate({ candidate: "not a candidate" })
  for (const candidate of found) connection.candidate({ candidate, sdpMLineIndex: 0 })
  await isUp(told)
  t.ok(found.length > 0)
})

t.test("given a browser that hides its addresses, then its own packets show them", async (t) => {
  const peers = await openPeers(t)
  const browser = openBrowser(t)
  const { listener, told } = listening()
  const offer = readOffer(
    (await browser.offer()).replaceAll(/ 127\.0\.0\.1 (\d+) typ/g, " 071b546b-d1d7-485c-8348-849eedac52a6.local $1 typ")
  )
  t.match(offer, { candidates: 0 })
  if ("sdp" in offer) peers.open(listener).offer(offer.sdp)
  await browser.answered(await until("an answer", () => told.answers.at(-1)))
  await isUp(told)
})

t.test("given a connected browser, when it offers again, then it is answered, and the audio goes on", async (t) => {
  const peers = await openPeers(t)
  const { browser, connection, told } = await connected(t, peers)
  echoes(connection)
  connection.offer(await browser.offer())
  await browser.answered(await until("another answer", () => told.answers[1]))
  const before = browser.heard().length
  await untilTrue("more audio", () => browser.heard().length > before + 1600)
  connection.offer("hm")
  connection.offer(await browser.offer())
  await until("an answer after an offer that could not be read", () => told.answers[2])
  t.equal(told.end, undefined)
})

t.test("given a browser that is gone without a word, then its connection is lost, and the others go on", async (t) => {
  const peers = await openPeers(t, { quietMillis: 3000 })
  const [gone, other] = [await connected(t, peers), await connected(t, peers)]
  echoes(other.connection)
  gone.browser.dies()
  t.equal(await until("its end", () => gone.told.end), "lost")
  const before = other.browser.heard().length
  await untilTrue("more audio", () => other.browser.heard().length > before + 1600)
  t.equal(other.told.end, undefined)
})

t.test("given an offer that cannot be answered, or a browser that never connects, then each ends for its own reason", async (t) => {
  const peers = await openPeers(t, { connectMillis: 1000 })
  const endOf = async (sdp: string) => {
    const { listener, told } = listening()
    peers.open(listener).offer(sdp)
    return await until("an end", () => told.end)
  }
  const sdp = await openBrowser(t).offer()
  t.equal(await endOf("hm"), "refused")
  t.equal(await endOf(sdp), "unconnected")
})

t.test("given a worker that dies, then its calls have crashed, and the next one gets another worker", async (t) => {
  const peers = await openPeers(t)
  const { told } = await connected(t, peers)
  const before = peers.threadId()
  peers.stop()
  t.equal(told.end, "crashed")
  t.equal(peers.threadId(), undefined)
  await connected(t, peers)
  t.not(peers.threadId(), before)
})
