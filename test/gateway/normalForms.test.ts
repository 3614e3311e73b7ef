/** However the fields of a telephony configuration are pasted, they are stored, shown and compared in one form. */
import { generateKeyPairSync } from "node:crypto"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import t from "tap"
import * as builtIn from "#adapters/index.ts"
import { TelephonyConfigId } from "#core/Id.ts"
import { update } from "#core/telephony/TelephonyConfigStore.ts"
import { TrunkSettings } from "#core/telephony/TrunkSettings.ts"
import { type Json, bodyOf, openApi } from "./apiTest.ts"

const { ask, askAsOther, database, organizationId } = await openApi(t, Layer.empty, { adapters: Object.values(builtIn) })
const path = "/organizations/telephony-configs"
let made = 0
const create = (config: object, asking = ask) => asking("POST", path, { name: `configuration ${++made}`, config })
const credentialsOf = (answer: { readonly json: unknown }) =>
  (answer.json as Record<"credentials", Readonly<Record<string, unknown>>>).credentials

const cloudonix = { provider: "cloudonix", bearer_token: "XI0123456789", domain_id: "acme.cloudonix.net" }
const privateKey = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "pem", type: "pkcs8" }).toString().trim()
const vonage = {
  provider: "vonage",
  application_id: "aaaaaaaa-bbbb-cccc-dddd-0123456789ab",
  private_key: privateKey,
  api_key: "a1b2c3d4",
  api_secret: "s3cr3t s3cr3t",
  signature_secret: "0123456789"
}
const plivo = { provider: "plivo", auth_id: "MA0123456789ABCDEFGH", auth_token: "0123456789abcdef" }
const ari = { provider: "ari", ari_endpoint: "http://127.0.0.1:8088", app_name: "trunkline", app_password: " pass word " }

const pasted: ReadonlyArray<readonly [words: string, clean: object, pasted: object]> = [
  ["a domain by its short name", cloudonix, { ...cloudonix, domain_id: " Acme " }],
  ["a domain as an address", cloudonix, { ...cloudonix, domain_id: "HTTPS://ACME.Cloudonix.net./calls?x=1" }],
  ["a token over two lines", cloudonix, { ...cloudonix, bearer_token: "XI01234\n56789\u200b " }],
  [
    "ids with white space around them",
    vonage,
    {
      ...vonage,
      application_id: ` ${vonage.application_id}\n`,
      api_key: "\ta1b2c3d4 ",
      api_secret: " s3cr3t s3cr3t\n",
      signature_secret: "0123456789\r\n"
    }
  ],
  ["a key in one line", vonage, { ...vonage, private_key: `${privateKey.replaceAll("\n", "\\n")}\\n` }],
  ["a key of another system", vonage, { ...vonage, private_key: `  ${privateKey.replaceAll("\n", "\r\n")}\r\n\r\n` }],
  ["an id that has a form of its own", plivo, { ...plivo, auth_id: ` ${plivo.auth_id} `, auth_token: `${plivo.auth_token}\n` }],
  ["an address with slashes at its end", ari, { ...ari, ari_endpoint: " http://127.0.0.1:8088// ", app_name: "trunkline " }]
]

t.test("whatever was pasted, what is stored and shown is the same", async (t) => {
  for (const [words, clean, messy] of pasted) {
    const [one, other] = [await create(clean), await create(messy)]
    t.match([one.status, other.status], [200, 200], words)
    t.strictSame(credentialsOf(other), credentialsOf(one), words)
    t.strictSame(await storedOf(bodyOf(other)), await storedOf(bodyOf(one)), `${words}, on disk`)
  }
})

t.test("a password is stored as it was typed", async (t) => {
  const { id } = bodyOf(await create(ari))
  t.match(await storedOf({ id }), { app_password: " pass word " })
})

t.test("a configuration that is sent back as it was shown stays unchanged, its key included", async (t) => {
  const shown = await create({ ...vonage, private_key: `${privateKey}\n` })
  const { id } = bodyOf(shown)
  const before = await storedOf({ id })
  const again = await ask("PUT", `${path}/${id}`, { config: { provider: "vonage", ...credentialsOf(shown) } })
  t.equal(again.status, 200)
  t.strictSame(await storedOf({ id }), before)
})

t.test("a value that is invalid in any form is refused when it is read", async (t) => {
  for (const [config, field] of [
    [{ ...cloudonix, domain_id: "https:///calls" }, "domain_id"],
    [{ ...cloudonix, domain_id: "ac me" }, "domain_id"],
    [{ ...plivo, auth_id: "XX0123456789ABCDEFGH" }, "auth_id"]
  ] as const)
    t.match(await create(config), { status: 422, json: { detail: [{ loc: ["body", "config", config.provider, field] }] } })
})

t.test("a number belongs to one account however its domain is written, whichever organization adds it", async (t) => {
  const numbersOf = ({ id }: Json) => `${path}/${id}/phone-numbers`
  const ours = bodyOf(await create({ ...cloudonix, domain_id: "Shared" }))
  const theirs = bodyOf(await create({ ...cloudonix, domain_id: "shared.cloudonix.net." }, askAsOther))
  t.match(await ask("POST", numbersOf(ours), { address: "+15550100901" }), { status: 200 })
  t.match(await askAsOther("POST", numbersOf(theirs), { address: "+15550100901" }), { status: 409 })
})

t.test("a configuration from before normal forms existed is shown, and compared, in them", async (t) => {
  const { id } = bodyOf(await create({ ...cloudonix, domain_id: "old" }))
  const former = { ...(await storedOf({ id })), domain_id: " OLD.cloudonix.net." }
  const change = { credentials: former, maxConcurrentCalls: undefined, name: undefined }
  await database.run(SqlClient.SqlClient.use((sql) => update(sql, organizationId, TelephonyConfigId.make(id), change)))
  const shown = await ask("GET", `${path}/${id}`)
  t.match(credentialsOf(shown), { domain_id: "old.cloudonix.net", bearer_token: "********6789" })
  t.match(await ask("POST", `${path}/${id}/phone-numbers`, { address: "+15550100902" }), { status: 200 })
  t.match(await accounts("+15550100902"), [{ account: "old.cloudonix.net" }])
  const again = await ask("PUT", `${path}/${id}`, { config: { provider: "cloudonix", ...credentialsOf(shown) } })
  t.equal(again.status, 200)
  t.match(await storedOf({ id }), { domain_id: "old.cloudonix.net", bearer_token: cloudonix.bearer_token })
})

const storedOf = ({ id }: { readonly id: number }) =>
  database.run(
    TrunkSettings.use((_) => _.find(TelephonyConfigId.make(id))).pipe(
      Effect.provide(TrunkSettings.layer),
      Effect.map((setting) => setting?.credentials)
    )
  )
const accounts = (number: string) =>
  database.run(SqlClient.SqlClient.use((sql) => sql`SELECT account FROM phone_numbers WHERE address_normalized = ${number}`))
