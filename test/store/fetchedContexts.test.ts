/** What was fetched for a call, in the record of its run: stored with the end of the call, whatever the other server returned. */
import { Effect } from "effect"
import fc from "fast-check"
import t from "tap"
import type { AttemptEnd } from "#core/call/Attempt.ts"
import { AttemptStore } from "#core/call/AttemptStore.ts"
import { fetchedContextOf } from "#core/call/PreCallFetch.ts"
import { CallId } from "#core/Id.ts"
import { Credentials } from "#core/credential/Credentials.ts"
import { CredentialSecrets } from "#core/credential/CredentialSecrets.ts"
import { beginCall, endOf, install, makeAgent, makeConfig, ours, theirs } from "./services.ts"

const { run, sql, test } = await install(t)
const [credentials, secrets] = await run(Effect.all([Credentials, CredentialSecrets]))
const config = await run(makeConfig("main", true))

let calls = 0
/** The run of a single call that has ended, with a context from before. */
const ended = Effect.fnUntraced(function* (end: Partial<AttemptEnd>) {
  const callId = CallId.make(`01890000-0000-7000-8000-${String(++calls).padStart(12, "0")}`)
  const initialContext = { first_name: "Bob", city: "Town", provider: "theirs", runtime_configuration: 1, mps_correlation_id: 1 }
  yield* beginCall(callId, yield* makeAgent(), config.id, { initialContext, phoneNumber: "+15550000001" })
  const context = sql<{ readonly initialContext: Readonly<Record<string, unknown>> }>`
    SELECT initial_context FROM runs WHERE attempt_id = ${callId}::uuid`.pipe(Effect.map(([row]) => row?.initialContext ?? {}))
  const before = yield* context
  const [finished] = yield* AttemptStore.use((store) => store.finish([{ callId, decided: undefined, end: endOf(end) }]))
  return { after: yield* context, before, finished: finished?._tag }
})

test(t, "given a call for which something was fetched, when it is over, then its run has it, over what was known before", function* (t) {
  const { after, before } = yield* ended({ callerNumber: "+15550100999", fetchedContext: { first_name: "Ada", cart: { total: 12.5 } } })
  t.strictSame(before, {
    phone_number: "+15550000001",
    direction: "outbound",
    telephony_configuration_id: config.id,
    first_name: "Bob",
    city: "Town",
    called_number: "+15550000001",
    provider: "fake"
  })
  t.strictSame(after, { ...before, caller_number: "+15550100999", first_name: "Ada", cart: { total: 12.5 } })
})

test(t, "given a call without a caller ID, then what was fetched is stored anyway, including null and a number of its own", function* (t) {
  const { after, before } = yield* ended({ fetchedContext: { nothing: null, caller_number: "+19990001" } })
  t.strictSame(after, { ...before, nothing: null, caller_number: "+19990001" })
  const shown = yield* ended({ callerNumber: "+15550100999", fetchedContext: { caller_number: "+19990001" } })
  t.equal(shown.after["caller_number"], "+19990001")
})

test(t, "given a call for which nothing was fetched, when it is over, then its run is unchanged", function* (t) {
  const { after, before } = yield* ended({})
  t.strictSame(after, before)
  const empty = yield* ended({ fetchedContext: {} })
  t.strictSame(empty.after, empty.before)
})

test(t, "given answers that cannot be stored completely, when their calls are over, then the ends are recorded", function* (t) {
  const text = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("\0", "\ud800", "x\udfff", "__proto__"))
  const value = fc.oneof(text, fc.double(), fc.constant(null), fc.array(text), fc.dictionary(text, fc.oneof(text, fc.double())))
  const levels = fc.nat(900).map((depth): unknown => JSON.parse(`${"[".repeat(depth)}1${"]".repeat(depth)}`))
  const contexts = fc.sample(fc.dictionary(text, fc.oneof(value, levels), { minKeys: 1 }), { numRuns: 60, seed: 7 })
  const numbers = ["1e308", "5e-324", "-0", "12345678901234567890123", "1e999", "-1e999"].map((digits) => `{"n":${digits}}`)
  const bodies = [...contexts.map((context) => JSON.stringify(context)), ...numbers].map((context) => `{"initial_context":${context}}`)
  const known = bodies.map(fetchedContextOf)
  for (const fetchedContext of known) {
    const { after, before, finished } = yield* ended({ fetchedContext })
    t.equal(finished, "Done")
    t.strictSame(after, JSON.parse(JSON.stringify({ ...before, ...fetchedContext })))
  }
  t.ok(known.filter((context) => Object.keys(context ?? {}).length > 0).length > 30, "most had something in them")
})

test(
  t,
  "given a credential, when the engine looks for it, then only the organization's is found, and none that was deleted",
  function* (t) {
    const { uuid } = yield* credentials.create(ours, { name: "crm", credentialType: "bearer_token", data: { token: "s3cret" } })
    const found = { allowedHosts: [], credentialType: "bearer_token", data: { token: "s3cret" } }
    t.strictSame(yield* secrets.find(ours, uuid), found)
    t.equal(yield* secrets.find(theirs, uuid), undefined)
    t.equal(yield* secrets.find(ours, "no-uuid"), undefined)
    yield* credentials.remove(ours, uuid)
    t.equal(yield* secrets.find(ours, uuid), undefined)
  }
)
