/** Redis as engines use it: messages and scripts, and what happens when it is wiped, stopped, frozen, slow, or away at the start. */
import { Effect, Layer } from "effect"
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import t, { type Test } from "tap"
import { script } from "#runtime/redis/Link.ts"
import type { RedisService } from "#runtime/redis/Redis.ts"
import { temporaryFolder } from "#test/support/dataFolder.ts"
import { freePort } from "#test/support/freePort.ts"
import { redisServer, redisUnavailable, startRedis } from "#test/support/redis.ts"
import { connectedEngine, redisEngine } from "#test/support/redisEngine.ts"
import { TcpProxy } from "#test/support/TcpProxy.ts"
import { cert, key, trust } from "#test/support/tlsCertificate.ts"
import { untilTrue } from "#test/support/until.ts"

// Most of each story is waiting.
t.jobs = 5
const story = { buffered: true, skip: (await redisUnavailable()) ?? false }
const works = "Redis works"
const away = "Redis is away: until it is back, this engine tells the others nothing by it"

const counting = script(`return redis.call("INCRBY", KEYS[1], ARGV[1])`)
/** Adds to a number that all engines share, and returns it; undefined while Redis is away. */
const add = (service: RedisService, amount: number): Promise<unknown> =>
  Effect.runPromise(Effect.orElseSucceed(service.evaluate(counting, "test", ["number"], [amount]), () => undefined))

/** Two engines; `heard` is what the second one hears of the first. */
const two = async (t: Test, url: string) => {
  const [one, other] = [await connectedEngine(t, url, Layer.empty), await connectedEngine(t, url, Layer.empty)]
  const heard: Array<string> = []
  await other.service.subscribe("news", (text) => heard.push(text)).begun
  return { heard, one, other }
}
/** Publishes until it is heard, and returns whether it is all that was heard since. */
const arrives = async ({ heard, one }: Awaited<ReturnType<typeof two>>, text: string): Promise<boolean> => {
  heard.length = 0
  await untilTrue(`message ${text}`, () => {
    one.service.publish("news", text)
    return heard.length > 0
  })
  return heard.every((each) => each === text)
}

t.test("given a Redis", story, async (t) => {
  const server = await startRedis(t)
  const engines = await two(t, server.url)
  const { heard, one, other } = engines

  t.test("when an engine publishes, then the others hear it, and itself does not", async (t) => {
    const own: Array<string> = []
    const subscription = one.service.subscribe("news", (text) => own.push(text))
    await subscription.begun
    one.service.publish("news", "hello world")
    other.service.publish("news", "hello yourself")
    await untilTrue("both messages", () => heard.length === 1 && own.length === 1)
    t.strictSame([heard, own], [["hello world"], ["hello yourself"]])
    subscription.end()
    other.service.publish("news", "for nobody")
    one.service.publish("news", "the last one")
    await untilTrue("the last message", () => heard.includes("the last one"))
    t.equal(own.length, 1, "and nothing once it no longer listens")
  })

  t.test("when scripts are run, then all engines see their effect, and a wiped Redis is told them again", async (t) => {
    t.strictSame([await add(one.service, 2), await add(other.service, 3)], [2, 5])
    await server.wipe()
    t.strictSame([await add(one.service, 2), await add(other.service, 3)], [2, 5])
    t.ok(await arrives(engines, "after the wipe"))
    t.strictSame([one.said, other.said], [[works], [works]])
    t.equal(one.service.counts.commandsFailed, 0)
  })

  t.test("when it stops and starts again, then engines say so once, and everything works as before", async (t) => {
    await server.stop()
    await untilTrue("notice", () => !one.isUp() && !other.isUp())
    t.match(one.service.state(), { _tag: "Down" })
    const failed = one.service.counts.commandsFailed
    for (let times = 0; times < 1000; times++) one.service.publish("news", "into the void")
    t.equal(await add(one.service, 1), undefined)
    t.equal(one.service.counts.commandsFailed, failed + 1001, "what is not sent counts as failed")
    await server.start()
    await untilTrue("return", () => one.isUp() && other.isUp())
    t.ok(await arrives(engines, "after the start"), "nothing of the outage is sent late")
    t.equal(await add(one.service, 1), 1)
    t.equal(one.said.length, 3)
    t.match(one.said[1], new RegExp(`^${away}: .+`))
    t.equal(one.said[2], works)
    t.ok(one.service.counts.reconnects >= 2, "both connections")
  })

  t.test("when it is frozen, then commands fail within their time, and it works again once it wakes up", async (t) => {
    server.freeze()
    t.equal(await add(one.service, 1), undefined)
    t.notOk(one.isUp())
    await untilTrue("notice", () => !other.isUp())
    server.wake()
    await untilTrue("return", () => one.isUp() && other.isUp())
    t.ok(await arrives(engines, "after the frost"))
    t.equal(one.said.length, 5)
  })

  t.test("when it refuses to write, then it is away, with its reason", async (t) => {
    await server.ask("CONFIG", "SET", "maxmemory", "1")
    await untilTrue("notice", () => !one.isUp())
    t.match(one.said[5], /OOM command not allowed/)
    await server.ask("CONFIG", "SET", "maxmemory", "0")
    await untilTrue("return", one.isUp)
    t.equal(one.said.length, 7)
  })
})

t.test("given a network in between", story, async (t) => {
  const server = await startRedis(t)
  const proxy = await TcpProxy.start({ host: "127.0.0.1", port: server.port })
  t.teardown(() => proxy.stop())
  const engines = await two(t, `redis://127.0.0.1:${proxy.port}`)
  const { one } = engines

  t.test("when it is slower than commands may take, then Redis is away, and is back once it is fast enough", async (t) => {
    proxy.delayMillis = 400
    await untilTrue("notice", () => !one.isUp())
    t.equal(await add(one.service, 1), undefined)
    proxy.delayMillis = 0
    await untilTrue("return", one.isUp)
    t.ok(await arrives(engines, "fast again"))
  })

  t.test("when its connections vanish without a word, then others are opened", async (t) => {
    proxy.freeze()
    await untilTrue("notice", () => !one.isUp())
    await untilTrue("return", () => one.isUp() && engines.other.isUp())
    t.ok(await arrives(engines, "on other connections"))
  })

  t.test("when only messages no longer arrive, then Redis is away until they do", async (t) => {
    const isSubscriber = ({ opening }: { readonly opening: string }) => /subscribe/i.test(opening)
    proxy.freeze(isSubscriber)
    await untilTrue("notice", () => !one.isUp())
    t.match(one.said.at(-1), /messages do not arrive/)
    await untilTrue("return", () => one.isUp() && engines.other.isUp())
    t.ok(await arrives(engines, "on another connection"))
  })
})

t.test("given a Redis that is away at the start, then the engine says so, and uses it when it comes", story, async (t) => {
  const server = await redisServer(t)
  const engine = await redisEngine(t, server.url, Layer.empty)
  const heard: Array<string> = []
  const subscription = engine.service.subscribe("news", (text) => heard.push(text))
  await untilTrue("a word", () => engine.said.length > 0)
  t.match(engine.said, [new RegExp(`^${away}: connect ECONNREFUSED`)])
  await server.start()
  await untilTrue("connection", engine.isUp)
  await subscription.begun
  const other = await connectedEngine(t, server.url, Layer.empty)
  other.service.publish("news", "hello")
  await untilTrue("message", () => heard.length > 0)
  t.equal(engine.said.length, 2)
})

t.test("given a password", story, async (t) => {
  const server = await startRedis(t, { password: "hunter2" })

  t.test("when it is right, then Redis works", async (t) => {
    const { service } = await connectedEngine(t, server.url, Layer.empty)
    t.equal(await add(service, 1), 1)
  })

  for (const [what, url] of [
    ["wrong", `redis://:hunter3@127.0.0.1:${server.port}`],
    ["missing", `redis://127.0.0.1:${server.port}`]
  ] as const)
    t.test(`when it is ${what}, then the log says so without it`, async (t) => {
      const { said, service } = await redisEngine(t, url, Layer.empty)
      await untilTrue("a word", () => said.length > 0)
      t.match(said[0], /WRONGPASS|NOAUTH/)
      t.notMatch(`${said.join()}${JSON.stringify(service.state())}`, "hunter")
      t.equal(await add(service, 1), undefined)
    })
})

t.test("given a user without permissions, when it gets them, then everything works", story, async (t) => {
  const server = await startRedis(t)
  await server.ask("ACL", "SETUSER", "calls", "on", ">hunter2", "+@all", "~trunkline:*", "resetchannels")
  const url = `redis://calls:hunter2@127.0.0.1:${server.port}`
  const engine = await redisEngine(t, url, Layer.empty)
  const heard: Array<string> = []
  engine.service.subscribe("news", (text) => heard.push(text))
  await untilTrue("a word", () => engine.said.length > 0)
  t.match(engine.said[0], /can't publish|NOPERM/)
  await server.ask("ACL", "SETUSER", "calls", "&trunkline:*")
  await untilTrue("connection", engine.isUp)
  const other = await connectedEngine(t, url, Layer.empty)
  other.service.publish("news", "hello")
  t.ok(await untilTrue("message", () => heard.includes("hello")))
})

t.test("given a user with the permissions that deploy/README.md names, then everything works", story, async (t) => {
  const readme = await readFile(new URL("../../deploy/README.md", import.meta.url), "utf8")
  const permissions = /`(\+eval [+a-z ]+)`/.exec(readme)?.[1]?.split(" ") ?? []
  const server = await startRedis(t)
  await server.ask("ACL", "SETUSER", "calls", "on", ">hunter2", "~trunkline:*", "&trunkline:*", ...permissions)
  const engines = await two(t, `redis://calls:hunter2@127.0.0.1:${server.port}`)
  t.ok(await arrives(engines, "with few permissions"))
  t.match([engines.one.said, engines.one.service.counts], [[works], { commandsFailed: 0 }])
  const budgets = [["GET", "trunkline:{budgets}:x"], ["TIME"]]
  for (const command of budgets) t.equal(await server.ask("ACL", "DRYRUN", "calls", ...command), "OK", "for budgets")
})

t.test("given a cluster, then messages and scripts pass, also after its node was restarted", story, async (t) => {
  const ofCluster = ["--cluster-enabled", "yes", "--cluster-port", String(await freePort()), "--cluster-announce-ip", "127.0.0.1"]
  const server = await startRedis(t, { args: ofCluster, password: "hunter2" })
  const takeAll = async () => {
    await server.ask("CLUSTER", "ADDSLOTSRANGE", "0", "16383").catch(() => {})
    await untilTrue("cluster", async () => String(await server.ask("CLUSTER", "INFO")).includes("cluster_state:ok"))
  }
  await takeAll()
  const engines = await two(t, `redis+cluster://:hunter2@127.0.0.1:${await freePort()},127.0.0.1:${server.port}`)
  t.ok(await arrives(engines, "through the cluster"))
  t.equal(await add(engines.one.service, 4), 4)
  await server.stop()
  await untilTrue("notice", () => !engines.one.isUp())
  await server.start()
  await takeAll()
  await untilTrue("return", () => engines.one.isUp() && engines.other.isUp())
  t.ok(await arrives(engines, "through the cluster again"))
})

t.test("given a Redis with TLS, then it works if its certificate is trusted, and only then", story, async (t) => {
  const [folder, port] = [await temporaryFolder(t), await freePort()]
  const [certFile, keyFile] = [join(folder, "cert.pem"), join(folder, "key.pem")]
  await Promise.all([writeFile(certFile, cert), writeFile(keyFile, key)])
  const files = ["--tls-cert-file", certFile, "--tls-key-file", keyFile, "--tls-ca-cert-file", certFile, "--tls-auth-clients", "no"]
  await startRedis(t, { args: ["--tls-port", String(port), ...files] })
  const url = `rediss://127.0.0.1:${port}`
  const engine = await redisEngine(t, url, Layer.empty)
  await untilTrue("a word", () => engine.said.length > 0)
  t.match(engine.said[0], /certificate/)
  trust()
  t.ok(await arrives(await two(t, url), "encrypted"))
})

t.test("given sentinels, then their master is used", story, async (t) => {
  const master = await startRedis(t, { password: "hunter2" })
  const [folder, port] = [await temporaryFolder(t), await freePort()]
  const settings = [
    "bind 127.0.0.1",
    `port ${port}`,
    `dir ${folder}`,
    `sentinel monitor calls 127.0.0.1 ${master.port} 1`,
    "sentinel auth-pass calls hunter2"
  ]
  await writeFile(join(folder, "sentinel.conf"), `${settings.join("\n")}\n`)
  await startRedis(t, { args: [join(folder, "sentinel.conf"), "--sentinel"], port })
  const engines = await two(t, `redis+sentinel://:hunter2@127.0.0.1:${port}/calls?db=1`)
  t.ok(await arrives(engines, "from the master"))
  t.equal(await add(engines.one.service, 6), 6)
  t.match(String(await master.ask("INFO", "keyspace")), /db1:keys=/)
})

t.test("given no Redis, then nothing is shared, and nothing fails but scripts", async (t) => {
  const { service } = await redisEngine(t, "", Layer.empty)
  service.publish("news", "hello")
  service.subscribe("news", () => {}).end()
  t.strictSame([service.state(), await add(service, 1)], [{ _tag: "Off" }, undefined])
})
