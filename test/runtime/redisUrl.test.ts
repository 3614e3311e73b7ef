/** Where a Redis is, according to `REDIS_URL`, and what the start says about an invalid address. */
import { Effect, Redacted, Result } from "effect"
import t from "tap"
import { read } from "#runtime/config/config.ts"
import { readRedisUrl, type RedisUrl } from "#runtime/config/RedisUrl.ts"

const plain = {
  database: 0,
  hosts: [{ host: "r", port: 6379 }],
  isCluster: false,
  isEncrypted: false,
  password: undefined,
  prefix: "trunkline:",
  sentinel: undefined,
  username: undefined
}
/** With its secrets to read. */
const shown = ({ password, sentinel, ...rest }: RedisUrl) => ({
  ...rest,
  password: password && Redacted.value(password),
  sentinel: sentinel && { ...sentinel, password: sentinel.password && Redacted.value(sentinel.password) }
})

const check = (url: string, parts: object) =>
  t.test(`given ${url}, then it is read`, async (t) =>
    t.strictSame(Result.map(readRedisUrl(url), shown), Result.succeed({ ...plain, ...parts }))
  )

check("redis://r", {})
check("redis://r/", {})
check("REDIS://r:6380/2", { database: 2, hosts: [{ host: "r", port: 6380 }] })
check("redis://r?db=2&prefix=", { database: 2, prefix: "" })
check("redis://r?prefix=calls.eu:", { prefix: "calls.eu:" })
check("rediss://user:p%40s%3As%2F@[::1]:1", {
  hosts: [{ host: "::1", port: 1 }],
  isEncrypted: true,
  password: "p@s:s/",
  username: "user"
})
check("redis://:secret@r", { password: "secret" })
const [one, two] = [
  { host: "s1", port: 26379 },
  { host: "s2", port: 5 }
]
check("redis+sentinel://u:p@s1,s2:5/mymaster?db=3&sentinel_user=v&sentinel_password=q%25", {
  database: 3,
  hosts: [one, two],
  password: "p",
  sentinel: { master: "mymaster", password: "q%", username: "v" },
  username: "u"
})
check("rediss+sentinel://s1/m", {
  hosts: [one],
  isEncrypted: true,
  sentinel: { master: "m", password: undefined, username: undefined }
})
check("redis+cluster://:p@a,b:7000", {
  hosts: [
    { host: "a", port: 6379 },
    { host: "b", port: 7000 }
  ],
  isCluster: true,
  password: "p"
})
check("rediss+cluster://a", { hosts: [{ host: "a", port: 6379 }], isCluster: true, isEncrypted: true })

const refused = (url: string, why: RegExp) =>
  t.test(`given ${url}, then the start says what is wrong, without the password`, async (t) => {
    const message = await Effect.runPromise(Effect.flip(read({ REDIS_URL: url })).pipe(Effect.map((error) => error.message)))
    t.match(message, /^REDIS_URL must be an address such as redis:\/\/user:password@host:6379\/0, and its value \(not shown\) is not: /)
    t.match(message, why)
    t.notMatch(message, "hunter")
  })

refused("hunter2", /must start with redis:\/\//)
refused("http://:hunter2@r", /must start with redis:\/\//)
refused("redis+proxy://:hunter2@r", /must start with redis:\/\//)
refused("redis://", /a host is missing/)
refused("redis://:hunter2@", /a host is missing/)
refused("redis://:hunter2@r:70000", /a port must be a number from 1 to 65535/)
refused("redis://:hunter2@r:0", /a port must be a number/)
refused("redis://:hunter2@r,s", /only redis\+sentinel:\/\/ and redis\+cluster:\/\/ can name several hosts/)
refused("redis://:hun/ter2@r", /a \/ in the password must be written as %2F|a host is missing/)
refused("redis://:hunter/2@r", /%2F/)
refused("redis://:hunter?2@r", /%2F|%3F/)
refused("redis://:hunter#2@r", /a # must be written as %23/)
refused("redis://:hunter@2@r", /an @ in the user or the password must be written as %40/)
refused("redis://u:hunter:2@r", /a : as %3A/)
refused("redis://:hunter%2@r", /a % in the password must be written as %25/)
refused("redis://:hunter%ff@r", /the password is not UTF-8/)
refused("redis://hunter2@r", /a user needs a password/)
refused("redis://:hunter2@r/zero", /the database must be a number/)
refused("redis://:hunter2@r/1?db=2", /two databases/)
refused("redis://:hunter2@r?tls=true", /the parameter tls is not supported/)
refused("redis://:hunter2@r?prefix=a%20b", /prefix can only have/)
refused("redis://r?sentinel_password=hunter2", /it names no sentinels/)
refused("redis+sentinel://:hunter2@r", /needs the name of the master/)
refused("redis+cluster://:hunter2@r/1", /a cluster has no database but 0/)

t.test("given an address with a password, then the settings do not show it", async (t) => {
  const settings = await Effect.runPromise(read({ REDIS_URL: "redis://:hunter2@r" }))
  t.equal(settings.redisUrl && Redacted.value(settings.redisUrl), "redis://:hunter2@r")
  t.notMatch(JSON.stringify(settings), "hunter2")
})
