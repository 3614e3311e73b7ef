/** Seals: what opens them, and what does not; and the key file that the engine creates for itself. */
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { chmodSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import t from "tap"
import { putTogether, takenApart } from "#core/agent/SecretParts.ts"
import { keyFileIn, makeKeyFile, readKeyFile } from "#runtime/secrets/KeyFile.ts"
import { keyBytesOf, sealsOf, secretsKey } from "#runtime/secrets/KeyRing.ts"
import { temporaryFolder } from "#test/support/dataFolder.ts"

const [one, other] = [secretsKey(randomBytes(32)), secretsKey(randomBytes(32))]
const seals = sealsOf({ current: one, former: [] })
const place = { of: "credentials", organizationId: 1, id: 7 }

t.test("given a seal", async (t) => {
  const sealed = seals.seal(place, "s3cret")
  t.test("when it is opened where it was made, then the secret comes out", async (t) => {
    t.equal(seals.open(place, sealed), "s3cret")
    t.not(seals.seal(place, "s3cret"), sealed, "another seal of it looks different")
    t.equal(sealsOf({ current: other, former: [one] }).open(place, sealed), "s3cret", "also when another key has taken over")
  })
  t.test("when it is moved to another row, column, table or organization, then it no longer opens", async (t) => {
    const moved = [
      { ...place, id: 8 },
      { ...place, id: "7" },
      { ...place, of: "tools" },
      { ...place, organizationId: 2 }
    ]
    for (const to of moved) t.throws(() => seals.open(to, sealed), /altered, or sealed for another place/)
  })
  t.test("when it was altered, cut or made with a key that is gone, then it no longer opens", async (t) => {
    const [, head = "", hidden = ""] = /^(sealed1:\w+:)(.*)$/.exec(sealed) ?? []
    const bytes = Buffer.from(hidden, "base64")
    const altered = bytes.map((byte, at) => (at === bytes.length - 1 ? byte ^ 1 : byte))
    for (const bad of [head + Buffer.from(altered).toString("base64"), sealed.slice(0, -24), `${sealed.slice(0, 25)}AAAA`, "s3cret"])
      t.throws(() => seals.open(place, bad))
    t.throws(() => sealsOf({ current: other, former: [] }).open(place, sealed), /which is not here/)
  })
})

t.test("given the text of a key, then base64 and hexadecimal of 32 bytes are read, and nothing else", async (t) => {
  const bytes = randomBytes(32)
  for (const text of [bytes.toString("base64"), bytes.toString("base64url"), bytes.toString("hex"), bytes.toString("hex").toUpperCase()]) {
    t.strictSame(keyBytesOf(text), bytes)
  }
  for (const text of ["", "hunter2", bytes.toString("hex").slice(2), randomBytes(31).toString("base64")])
    t.equal(keyBytesOf(text), undefined)
})

t.test("given a folder for the key", async (t) => {
  const folder = temporaryFolder(t)
  const path = keyFileIn(join(folder, "data"))
  t.test("when two engines make it at once, then both have the same, and nothing else is left", async (t) => {
    t.equal(await Effect.runPromise(readKeyFile(path)), undefined)
    const [first, second] = await Effect.runPromise(Effect.all([makeKeyFile(path), makeKeyFile(path)], { concurrency: 2 }))
    t.strictSame(first, second)
    t.strictSame(readdirSync(join(folder, "data")), ["secrets.key"])
    t.equal(statSync(path).mode & 0o777, 0o600)
  })
  t.test("when others may read it, then that is corrected", async (t) => {
    chmodSync(path, 0o644)
    await Effect.runPromise(readKeyFile(path))
    t.equal(statSync(path).mode & 0o777, 0o600)
  })
  t.test("when it holds no key, then that is reported, and it stays as it is", async (t) => {
    writeFileSync(path, "half a ke")
    const error = await Effect.runPromise(Effect.flip(readKeyFile(path)))
    t.match(error.message, /secrets\.key, cannot be used: it does not hold 32 bytes .* or set SECRETS_KEY/)
  })
})

t.test("given a document with secrets", async (t) => {
  const document = {
    nodes: [
      { id: "1", data: { api_key: "k", keys: { apiKeys: ["a", 2] }, token: "{{token}}", max_tokens: 5, url: "https://a.example/?page=2" } },
      {
        id: "2",
        data: {
          custom_headers: [
            { key: "X-Auth", value: "h" },
            { key: "X-Own", value: "v" }
          ],
          endpoint_url: "https://u:p@a.example/"
        }
      }
    ],
    headers: { Cookie: "c", Accept: "json" },
    ["__proto__"]: { secret: "s" }
  }
  const { rest, secrets } = takenApart(JSON.parse(JSON.stringify(document)))
  t.test("when they are taken out, then everything else stays", async (t) => {
    const values = secrets.map(({ value }) => value)
    t.strictSame(values, ["k", ["a", 2], "h", "https://u:p@a.example/", "c", "s"])
    t.match(rest, {
      nodes: [{ data: { token: "{{token}}", max_tokens: 5, url: "https://a.example/?page=2" } }, {}],
      headers: { Accept: "json" }
    })
  })
  t.test("when they are put back, then the document is as it was", async (t) => {
    t.strictSame(putTogether(JSON.parse(JSON.stringify(rest)), secrets), JSON.parse(JSON.stringify(document)))
  })
})
