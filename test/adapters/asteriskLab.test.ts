/** The Asterisk of deploy/asterisk does what the table in its extensions.conf says, as a bare ARI client sees it. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { performance } from "node:perf_hooks"
import t from "tap"
import { WebSocket, WebSocketServer } from "ws"
import { fromMulaw } from "#test/emulators/ari/Sound.ts"
import { type Asterisk, asteriskUnavailable, startAsterisk } from "#test/support/asterisk.ts"
import { app, type Channel, type Client, connect, type Ending, eventMillis, newId, subscribe } from "#test/support/bareAri.ts"
import { watchLateness } from "#test/support/lateness.ts"

/** Whether nearly all energy lies at this frequency, for each 40 ms, so that a gap in the sound spoils little. */
const tonesOf = (samples: ReadonlyArray<number>, hertz: number): ReadonlyArray<boolean> =>
  Array.from({ length: Math.floor(samples.length / 320) }, (_, part) => {
    const angle = (2 * Math.PI * hertz) / 8_000
    let [real, imaginary, energy] = [0, 0, 0]
    samples.slice(part * 320, (part + 1) * 320).forEach((sample, index) => {
      real += sample * Math.cos(angle * index)
      imaginary += sample * Math.sin(angle * index)
      energy += sample * sample
    })
    return energy > 0 && (2 * (real * real + imaginary * imaginary)) / (320 * energy) > 0.75
  })
const hear = (socket: WebSocket, bytes: number) =>
  new Promise<Buffer>((resolve, reject) => {
    let heard = Buffer.alloc(0)
    const timer = globalThis.setTimeout(() => reject(new Error(`heard only ${heard.length} of ${bytes} bytes`)), eventMillis)
    socket.on("message", (data: Buffer, isBinary: boolean) => {
      if (isBinary) heard = Buffer.concat([heard, data])
      if (heard.length < bytes) return
      clearTimeout(timer)
      resolve(heard)
    })
  })

type Media = "Asterisk connects" | "we connect"
/** Two seconds of a square wave of 1000 Hz; a fifth of its energy lies in the overtones. */
const toneOfOurs = Buffer.from(Array.from({ length: 16_000 }, (_, index) => (index % 8 < 4 ? 0x20 : 0xa0)))

/** Calls, joins a media WebSocket, plays a tone of 1000 Hz, and returns the first bytes that come back. */
const converse = async (client: Client, asterisk: Asterisk, media: Media, endpoint: string, bytes: number) => {
  const uri = new URL(asterisk.mediaUri)
  const server = media === "Asterisk connects" ? new WebSocketServer({ port: Number(uri.port), host: uri.hostname }) : undefined
  const incoming = new Promise<WebSocket>((resolve) => server?.once("connection", resolve))
  const call = await client.originate(endpoint)
  await client.answered(call)
  const external = newId()
  const channel = (await client.ask("POST", "/channels/externalMedia", {
    app,
    channelId: external,
    external_host: server === undefined ? "INCOMING" : "media",
    transport: "websocket",
    encapsulation: "none",
    connection_type: server === undefined ? "server" : "client",
    format: "ulaw"
  })) as Channel
  const path = `/media/${channel.channelvars?.MEDIA_WEBSOCKET_CONNECTION_ID}`
  const socket = server === undefined ? new WebSocket(asterisk.ariUrl.replace("http", "ws").replace("/ari", path), "media") : await incoming
  const heard = hear(socket, bytes)
  await client.answered(external)
  const bridge = newId()
  await client.ask("POST", "/bridges", { type: "mixing", bridgeId: bridge })
  await client.ask("POST", `/bridges/${bridge}/addChannel`, { channel: `${call},${external}` })
  socket.send(toneOfOurs)
  const sound = await heard
  await client.hangup(call)
  await client.ask("DELETE", `/bridges/${bridge}`)
  socket.close()
  server?.close()
  return sound
}

const ends = (answered: boolean, cause: number, tech?: number): Ending => ({ answered, cause, tech })

const reason = await asteriskUnavailable()
t.test("a real Asterisk and its callees", { skip: reason ?? false }, async (t) => {
  const [before, lateness] = [performance.now(), watchLateness()]
  const asterisk = await startAsterisk({ app: "lab-inbound" })
  const startMillis = performance.now() - before
  const client = await connect(asterisk)
  t.teardown(async () => {
    client.close()
    await asterisk.stop()
  })
  t.comment(`started in ${Math.round(startMillis)} ms`)
  t.ok(startMillis < lateness.allow(10_000), "starts within seconds")

  t.test("ARI answers, and only to its user", async (t) => {
    const info = (await client.ask("GET", "/asterisk/info")) as { system: { version: string } }
    const stranger = await fetch(`${asterisk.ariUrl}/asterisk/info`)
    t.match(info.system.version, /^22\./)
    t.equal(stranger.status, 401)
  })

  /** The far ends whose call ends by itself: those of each trunk, and those of all. */
  const failures = {
    200: ends(false, 17, 486),
    310: ends(false, 19, 480),
    404: ends(false, 1, 404),
    799: ends(false, 1, 404),
    800: ends(false, 34, 503)
  }
  const hangups = { 100: ends(true, 16), 101: ends(true, 16), 105: ends(true, 16), 600: ends(true, 16) }
  const byWay: Record<string, Record<string, Ending>> = {
    "Local/%@lab": {
      ...hangups,
      102: ends(true, 16),
      200: ends(false, 17),
      400: ends(false, 21),
      404: ends(false, 1),
      800: ends(false, 34)
    },
    "PJSIP/%@loop": { ...hangups, ...failures, 102: ends(true, 16), 400: ends(false, 21, 403), 927: ends(false, 27, 502) },
    "PJSIP/%@sipp": {
      ...hangups,
      ...failures,
      102: ends(true, 0),
      400: ends(false, 21, 603),
      401: ends(false, 21, 401),
      403: ends(false, 21, 403),
      408: ends(false, 18, 408),
      410: ends(false, 22, 410),
      480: ends(false, 19, 480),
      484: ends(false, 28, 484),
      486: ends(false, 17, 486),
      488: ends(false, 58, 488),
      502: ends(false, 27, 502),
      503: ends(false, 34, 503),
      504: ends(false, 102, 504),
      599: ends(false, 38, 500),
      603: ends(false, 21, 603),
      604: ends(false, 1, 604),
      607: ends(false, 127, 607),
      608: ends(false, 127, 608),
      699: ends(false, 17, 600)
    }
  }
  const over = (way: string, number: string) => client.originate(way.replace("%", number))

  t.test("calls that end by themselves", async (t) => {
    const results = await Promise.all(
      Object.entries(byWay).map(async ([way, expected]) => {
        const endings = await Promise.all(
          Object.entries(expected).map(async ([ending, wanted]) => {
            const came = await client.ended(await over(way, `+15550001${ending}`))
            // Our half of a Local channel is sometimes hung up before it learns the cause.
            const isUntold = way.startsWith("Local/") && wanted.answered && came.cause === 0
            return [ending, isUntold ? { ...came, cause: wanted.cause } : came] as const
          })
        )
        return [way, Object.fromEntries(endings)] as const
      })
    )
    t.strictSame(Object.fromEntries(results), byWay)
  })

  t.test("an endpoint or a technology that does not exist is refused, and no channel is created for it", async (t) => {
    const invitesBefore = (await asterisk.sippLog()).length
    for (const endpoint of ["PJSIP/trunkline-nobody", "Trunkline/nobody"]) {
      await t.rejects(client.originate(endpoint), /500 .*Allocation failed/, endpoint)
    }
    t.strictSame(await client.ask("GET", "/channels"), [])
    t.equal((await asterisk.sippLog()).length, invitesBefore)
  })

  t.test("a redirected call ends unanswered", async (t) => {
    const { answered, cause } = await client.ended(await client.originate("PJSIP/+15550001302@sipp"))
    t.notOk(answered)
    // On a busy machine, Asterisk sometimes loses the cause 23 (302).
    t.ok(cause === 23 || cause === 0, `cause ${cause}`)
  })

  t.test("calls that nobody answers", async (t) => {
    const endpoints = ["300@sipp", "320@sipp", "330@sipp", "110@dead", "300@loop"]
    const results = await Promise.all(
      endpoints.map(async (endpoint) => {
        const { answered, cause } = await client.ended(await client.originate(`PJSIP/+15550004${endpoint}`, { timeout: "1" }))
        return { answered, cause }
      })
    )
    t.strictSame(
      results,
      endpoints.map(() => ({ answered: false, cause: 19 }))
    )
  })

  t.test("sound goes both ways over a media WebSocket that Asterisk connects", async (t) => {
    const sound = await converse(client, asterisk, "Asterisk connects", "PJSIP/+15550006700@sipp", 12_000)
    t.ok(tonesOf(Array.from(sound, fromMulaw), 1_000).includes(true), "the callee's echo is our tone")
  })

  t.test("an answering machine greets for over 4 s, beeps and listens", async (t) => {
    const sound = await converse(client, asterisk, "we connect", "PJSIP/+15550007500@sipp", 8 * 8_000)
    const recorded = Array.from(readFileSync(join(asterisk.runFolder, "sounds/greeting.ulaw")), fromMulaw)
    t.ok(tonesOf(recorded, 1_000).indexOf(true) > 4 / 0.04, "the greeting is long")
    // How much of the greeting is left depends on the machine, because we join some time after the answer.
    t.ok(tonesOf(Array.from(sound, fromMulaw), 1_000).indexOf(true) > 0, "a beep follows it")
    t.ok(
      sound.subarray(-800).every((byte) => (byte & 0x7f) === 0x7f),
      "then there is silence"
    )
  })

  t.test("a media WebSocket answers GET_STATUS, which shows that it is alive", async (t) => {
    const path = await client.ask("POST", "/channels/externalMedia", {
      app,
      channelId: newId(),
      external_host: "INCOMING",
      transport: "websocket",
      encapsulation: "none",
      connection_type: "server",
      format: "ulaw"
    })
    // The cast holds because Asterisk describes the channel that it has created.
    const id = (path as Channel).channelvars?.MEDIA_WEBSOCKET_CONNECTION_ID
    const socket = new WebSocket(asterisk.ariUrl.replace("http", "ws").replace("/ari", `/media/${id}`), "media")
    const status = new Promise<string>((resolve) => {
      socket.on("open", () => socket.send("GET_STATUS"))
      socket.on("message", (data, isBinary) => {
        const text = isBinary ? "" : String(data)
        if (text.startsWith("STATUS ")) resolve(text)
      })
    })
    t.match(await status, /queue_length:0\b/)
    socket.close()
  })

  t.test("an inbound call enters the application", async (t) => {
    const inbound = await subscribe(asterisk, "lab-inbound")
    const id = await client.originate("Local/+15550008001@inbound")
    const { args } = await inbound.waitFor("StasisStart", ({ type }) => type === "StasisStart")
    await client.hangup(id)
    inbound.close()
    t.strictSame(args, ["inbound", "+15550008001"])
  })

  t.test("the callee met nothing unexpected", async (t) => {
    const complaints = join(asterisk.runFolder, "log/callee.errors")
    t.notMatch(existsSync(complaints) ? readFileSync(complaints, "utf8") : "", /unexpected|abort/i)
  })
})
