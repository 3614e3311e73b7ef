/** The proxies between the engine and the outside do what they are told, and nothing else. */
import { createServer, request } from "node:http"
import { connect, createServer as createTcpServer, type Socket } from "node:net"
import t, { type Test } from "tap"
import { type WebSocket, WebSocketServer, WebSocket as Client } from "ws"
import { type Fate, fates, HttpProxy } from "./HttpProxy.ts"
import { localPort } from "./localPort.ts"
import { openDatabase, witness } from "./postgres.ts"
import { startPostgresProxy } from "./PostgresProxy.ts"
import { TcpProxy } from "./TcpProxy.ts"
import { until, untilTrue } from "./engine.ts"

t.jobs = 4

/** A server that records and echoes what it receives. */
const given = async (t: Test) => {
  const heard: Array<string> = []
  const sockets: Array<Socket> = []
  const ends: Array<string> = []
  const server = createTcpServer((socket) => {
    sockets.push(socket)
    socket.on("data", (chunk) => {
      heard.push(String(chunk))
      socket.write(chunk)
    })
    socket.on("end", () => ends.push("FIN"))
    socket.on("error", ({ message }) => ends.push(message))
  })
  const proxy = await TcpProxy.start({ host: "127.0.0.1", port: await localPort(server) })
  t.teardown(async () => {
    await proxy.stop()
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const dial = (...words: ReadonlyArray<string>) => {
    const client = connect({ host: "127.0.0.1", port: proxy.port })
    const told: Array<string> = []
    client.on("data", (chunk) => told.push(String(chunk)))
    client.on("end", () => told.push("FIN"))
    client.on("error", (error: NodeJS.ErrnoException) => told.push(error.code ?? ""))
    t.teardown(() => client.destroy())
    for (const word of words) client.write(word)
    return { client, told, echo: (text: string) => untilTrue(`echo of ${text}`, () => told.join("") === text) }
  }
  const open = async (word: string) => {
    const connection = dial(word)
    await connection.echo(word)
    return connection
  }
  return { dial, ends, heard, open, proxy }
}

t.test("given a connection through the TCP proxy", async (t) => {
  t.test("when it is cut, then both ends notice at once, and a new connection works", async (t) => {
    const { ends, open, proxy } = await given(t)
    const { told } = await open("one")
    proxy.cut()
    await untilTrue("reset", () => told.length === 2 && ends.length === 1)
    t.strictSame([told[1], ends], ["ECONNRESET", ["read ECONNRESET"]])
    await open("two")
  })

  t.test("when it is frozen, then nothing passes, not even an end, until it thaws", async (t) => {
    const { ends, heard, open, proxy } = await given(t)
    const { client, echo, told } = await open("frozen")
    proxy.freeze(({ opening }) => opening === "frozen")
    client.end("late")
    await open("other")
    t.strictSame([heard, ends], [["frozen", "other"], []])
    proxy.thaw()
    await echo("frozenlateFIN")
    t.strictSame([...heard, ...told, ...ends], ["frozen", "other", "late", "frozen", "late", "FIN", "FIN"])
  })

  t.test("when everything is frozen, then a new connection is accepted, but frozen too", async (t) => {
    const { dial, heard, proxy } = await given(t)
    proxy.freezeAll()
    const { client, echo } = dial("one")
    await until("connection", () => (client.connecting ? undefined : client))
    await untilTrue("bytes that are held", () => proxy.connections(({ opening }) => opening === "one") === 1)
    t.strictSame(heard, [])
    proxy.thaw()
    await echo("one")
  })

  t.test("when new ones are refused, then open ones stay, and the port is the same afterwards", async (t) => {
    const { dial, open, proxy } = await given(t)
    const { client, echo } = await open("one")
    await proxy.refuse(true)
    await dial("two").echo("ECONNREFUSED")
    client.write("two")
    await echo("onetwo")
    await proxy.refuse(false)
    await open("three")
  })

  t.test("when bytes are delayed, then they are late each way, and in order", async (t) => {
    const { dial, proxy } = await given(t)
    proxy.delayMillis = 60
    const began = performance.now()
    await dial("one", "two").echo("onetwo")
    t.ok(performance.now() - began >= 118, "twice 60 ms, with a millisecond of grace for the timer of each")
  })
})

/** An HTTP server behind the proxy that answers with the path it was asked for. */
const web = async (t: Test) => {
  const asked: Array<string> = []
  const sockets: Array<WebSocket> = []
  const server = createServer((incoming, response) => {
    asked.push(`${incoming.method} ${incoming.url}`)
    response.setHeader("server", "Asterisk")
    response.end(`you asked for ${incoming.url}`)
  })
  const events = new WebSocketServer({ server })
  events.on("connection", (socket) => {
    sockets.push(socket)
    socket.on("message", (data) => socket.send(`you said ${String(data)}`))
  })
  const proxy = await HttpProxy.start(`http://127.0.0.1:${await localPort(server)}`)
  t.teardown(async () => {
    await proxy.stop()
    events.close()
    server.close()
  })
  const ask = (path: string) =>
    new Promise<string>((resolve) => {
      const outgoing = request(`${proxy.url}${path}`, { agent: false, method: "POST" }, (response) => {
        let body = ""
        response.on("data", (chunk) => (body += String(chunk)))
        response.on("end", () => resolve(`${response.statusCode} ${response.headers.server} ${body}`))
      })
      outgoing.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? ""))
      t.teardown(() => outgoing.destroy())
      outgoing.end("{}")
    })
  return { ask, asked, proxy, sockets }
}

t.test("given a request through the HTTP proxy", async (t) => {
  const check = (fate: Fate, answered: RegExp | undefined, ...reached: ReadonlyArray<"POST /one">) =>
    t.test(`when its fate is "${fate.name}"`, async (t) => {
      const { ask, asked, proxy } = await web(t)
      proxy.befall(fate, ({ path }) => path === "/one", 1)
      const answer = ask("/one")
      if (answered !== undefined) t.match(await answer, answered, "then the client gets this")
      await untilTrue("request at the server", () => asked.length >= reached.length)
      t.match(await ask("/two"), /^200 Asterisk you asked for \/two/, "then the next one passes")
      t.strictSame(asked, [...reached, "POST /two"], "then the server has seen this")
      t.match(proxy.exchanges, [
        { fate: fate.name, method: "POST", path: "/one" },
        { fate: "pass", given: 200, status: 200 }
      ])
    })

  check(fates.pass, /^200 Asterisk/, "POST /one")
  check(fates.errorAfterForwarding(), /^503 nginx <html>/, "POST /one")
  check(fates.errorThenForwarded(504, 50), /^504 nginx/, "POST /one")
  check(fates.error(429, { "retry-after": "7" }), /^429 nginx/)
  check(fates.resetAfterForwarding, /^ECONNRESET$/, "POST /one")
  check(fates.resetThenForwarded(50), /^ECONNRESET$/, "POST /one")
  check(fates.reset, /^ECONNRESET$/)
  check(fates.loseReply, undefined, "POST /one")
  check(fates.swallow, undefined)
  check(fates.hold(50), /^200 Asterisk/, "POST /one")
})

t.test("given a websocket through the HTTP proxy", async (t) => {
  const { proxy } = await web(t)
  const open = async (path: string) => {
    const told: Array<string> = []
    const socket = new Client(`${proxy.url}${path}`)
    socket.on("message", (data) => told.push(String(data)))
    socket.on("error", (error) => told.push(error.message))
    socket.on("close", (code) => told.push(`closed with ${code}`))
    await until("open socket", () => (socket.readyState === socket.OPEN ? socket : undefined))
    t.teardown(() => socket.terminate())
    return { socket, told }
  }
  const [events, media] = [await open("/events"), await open("/media")]
  events.socket.send("one")
  await untilTrue("answer", () => events.told.length === 1)
  proxy.tcp.freeze(({ opening }) => opening.startsWith("GET /events"))
  events.socket.send("two")
  media.socket.send("three")
  await untilTrue("answer of the other", () => media.told.length === 1)
  t.strictSame([events.told, media.told], [["you said one"], ["you said three"]], "when one is frozen, then the other is not")
  proxy.tcp.cut(({ opening }) => opening.startsWith("GET /events"))
  await untilTrue("end", () => events.told.includes("closed with 1006"))
})

t.test("given a database through the proxy", async (t) => {
  const { url } = await openDatabase(t)
  const direct = witness(url)
  await direct`CREATE TABLE notes (id int PRIMARY KEY)`
  t.teardown(() => direct.end())
  const open = async (t: Test) => {
    const proxy = await startPostgresProxy(url)
    const sql = witness(proxy.url)
    t.teardown(async () => {
      await sql.end({ timeout: 0 })
      await proxy.stop()
    })
    await sql`SELECT 1`
    return { proxy, sql }
  }
  const ids = async () => (await direct<Array<{ id: number }>>`SELECT id FROM notes ORDER BY id`).map(({ id }) => id)
  const timed = async (work: () => PromiseLike<unknown>) => {
    const began = performance.now()
    await work()
    return performance.now() - began
  }

  t.test("when commits are slow, then writes wait and reads do not", async (t) => {
    const { proxy, sql } = await open(t)
    proxy.delayCommits(400)
    const write = await timed(() => sql`INSERT INTO notes VALUES (1)`)
    const transaction = await timed(() =>
      sql.begin(async (inside) => {
        await inside`INSERT INTO notes VALUES (2)`
        await inside`INSERT INTO notes VALUES (3)`
      })
    )
    const [again, read, asynchronous] = [
      await timed(() => sql`INSERT INTO notes VALUES (4)`),
      await timed(() => sql`SELECT * FROM notes`),
      await timed(() => sql`INSERT INTO notes SELECT 5 FROM set_config('synchronous_commit', 'off', true)`)
    ]
    t.ok(write >= 399 && transaction >= 399 && again >= 399, `then each commit took 400 ms: ${write}, ${transaction}, ${again}`)
    t.equal(proxy.commits(), 3, "then no other statement was held up")
    t.ok(read > 0 && asynchronous > 0)
  })

  for (const [id, which, what] of [
    [11, "reply", "is in the database, and the client does not know"] as const,
    [21, "request", "is not"] as const
  ])
    t.test(`when a commit's ${which} is lost, then it ${what}`, async (t) => {
      const { proxy, sql } = await open(t)
      proxy.loseCommits(which, 1)
      await t.rejects(sql`INSERT INTO notes VALUES (${id})`)
      t.equal((await ids()).includes(id), which === "reply")
      await sql`INSERT INTO notes VALUES (${id + 1})`
    })

  t.test("when open connections are frozen, then a statement on them hangs until they thaw", async (t) => {
    const { proxy, sql } = await open(t)
    proxy.tcp.freeze()
    let isDone = false
    const hanging = sql`INSERT INTO notes VALUES (31)`.then(() => {
      isDone = true
    })
    const other = witness(proxy.url)
    await other`SELECT 1`
    await other.end()
    t.notOk(isDone || (await ids()).includes(31))
    proxy.tcp.thaw()
    await hanging
    t.ok((await ids()).includes(31))
  })
})
