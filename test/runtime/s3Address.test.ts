/** Where a bucket is, according to `FILES_URL`, and what the start says about an invalid address. */
import { Effect } from "effect"
import t from "tap"
import { read } from "#runtime/config/config.ts"

const keys = { AWS_ACCESS_KEY_ID: "AKIAX", AWS_SECRET_ACCESS_KEY: "very-secret" }
const readBy = (environment: Record<string, string>) =>
  Effect.runPromise(Effect.match(read(environment), { onSuccess: ({ filesUrl }) => filesUrl, onFailure: ({ message }) => message }))

const check = (url: string, base: string, prefix: string, region: string) =>
  t.test(`given ${url}, then objects are at ${base}`, async (t) =>
    t.match(await readBy({ FILES_URL: url, ...keys }), { base, prefix, region })
  )

check("s3://calls", "https://calls.s3.us-east-1.amazonaws.com/", "", "us-east-1")
check("s3://calls/", "https://calls.s3.us-east-1.amazonaws.com/", "", "us-east-1")
check("s3://calls/a/b?region=eu-central-1", "https://calls.s3.eu-central-1.amazonaws.com/", "a/b/", "eu-central-1")
check("s3://my.calls/a/?region=eu-west-1", "https://s3.eu-west-1.amazonaws.com/my.calls/", "a/", "eu-west-1")
check("s3://calls/a?endpoint=http://minio:9000", "http://minio:9000/calls/", "a/", "us-east-1")
check("s3://calls?endpoint=https%3A%2F%2F%5B%3A%3A1%5D%3A9000%2F&region=x", "https://[::1]:9000/calls/", "", "x")

const refused = (url: string) =>
  t.test(`given ${url}, then the start says what it should be`, async (t) =>
    t.match(await readBy({ FILES_URL: url, ...keys }), /^FILES_URL must be an address such as s3:\/\//)
  )

for (const url of [
  "https://calls.s3.amazonaws.com",
  "s3://",
  "s3://UPPER_case",
  "s3://key:secret@calls",
  "s3://calls/a b",
  "s3://calls?endpoint=minio:9000",
  "s3://calls?endpoint=http://minio:9000/path",
  "s3://calls?endpoint=http://a:b@minio:9000",
  "s3://calls?region=eu central",
  "s3://calls?regoin=eu-central-1"
])
  refused(url)

t.test("given a bucket without keys, or together with a folder, then the start says so, without a key", async (t) => {
  t.equal(await readBy({ FILES_URL: "s3://calls" }), "FILES_URL needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
  t.equal(await readBy({ FILES_URL: "s3://calls", FILES_DIR: "/files", ...keys }), "FILES_URL and FILES_DIR exclude each other")
  t.notMatch(await readBy({ FILES_URL: "s3://calls", ...keys, AWS_SECRET_ACCESS_KEY: "very secret" }), "very secret")
})

t.test("given no bucket, then the keys of other programs do not matter", async (t) => {
  t.equal(await readBy(keys), undefined)
})
