/**
 * A real Asterisk with the files that `deploy/asterisk/generate` writes, copied unchanged: the engine places calls through it, and SIPp, as
 * the provider, records them. Asterisk's own records of the calls share with ours what the administrator's page says.
 */
import { existsSync } from "node:fs"
import { readFile, stat } from "node:fs/promises"
import { join } from "node:path"
import { parse } from "csv-parse/sync"
import t, { type Test } from "tap"
import { type Asterisk, asteriskUnavailable, startAsterisk } from "#test/support/asterisk.ts"
import { temporaryFolder } from "#test/support/dataFolder.ts"
import { type Run, until, untilTrue, World } from "#test/support/engine.ts"
import { type GeneratedAsterisk, type GeneratedOptions, generate, recordsOf, startGenerated } from "#test/support/generatedAsterisk.ts"
import { cert, key } from "#test/support/tlsCertificate.ts"

t.setTimeout(1_800_000)
const skip = (await asteriskUnavailable()) ?? false

interface Scene {
  readonly asterisk: GeneratedAsterisk
  readonly callee: Asterisk
  /** The telephony configuration for this Asterisk. */
  readonly id: number
  readonly world: World
}

/** Calls these numbers in a campaign without retries, and returns the runs by number. */
const called = async ({ id: telephony_configuration_id, world }: Scene, numbers: ReadonlyArray<string>) => {
  const { id } = await world.campaign(numbers, { retry: { maxRetries: 0 }, telephony_configuration_id })
  await world.api.start(id)
  await world.api.untilState(id, "completed")
  return new Map((await world.api.runs(id)).map((run) => [String(run.initial_context?.["phone_number"]), run]))
}
const rung = async ({ callee }: Scene) => (await callee.sippLog()).map(({ number }) => number).sort()
const callIdOf = (run: Run | undefined) => String(run?.gathered_context?.["call_id"])

/** SIPp echoes what it hears: the callee's side of a recording is loud only if the callee heard the agent. */
const loudestOfCallee = async (run: Run | undefined): Promise<number> => {
  const wav = Buffer.from(await (await fetch(String(run?.recording_public_url))).arrayBuffer())
  const samples = Array.from({ length: Math.floor((wav.length - 44) / 4) }, (_, at) => Math.abs(wav.readInt16LE(44 + 4 * at)))
  return samples.reduce((loudest, sample) => Math.max(loudest, sample), 0)
}

const rowsOf = async (asterisk: GeneratedAsterisk, file: string): Promise<ReadonlyArray<ReadonlyArray<string>>> =>
  parse((await recordsOf(asterisk, file)).join("\n"))
/** Asterisk writes its records some time after the end of the call. */
const recordsFrom = (asterisk: GeneratedAsterisk, file: string, isWhole: (rows: ReadonlyArray<ReadonlyArray<string>>) => boolean) =>
  until(`records in ${file}`, async () => {
    const rows = await rowsOf(asterisk, file)
    return isWhole(rows) ? rows : undefined
  })

/** By the last three digits of the number, as in the table in deploy/asterisk/conf/extensions.conf. */
const echoes = "+15550100700"
const [person, machine] = ["+15550100510", "+15550101500"]
const causes = { [echoes]: "duration_exceeded", "+15550101200": "user_busy", "+15550102404": "unallocated_number" }
const numbers = Object.keys(causes)

/** Calls people, whose calls end in different ways, and returns the runs by number. */
const calledAll = async (scene: Scene, t: Test): Promise<ReadonlyMap<string, Run>> => {
  const runs = await called(scene, numbers)
  t.strictSame(await rung(scene), numbers, "then each phone rings once")
  const ends = [...runs].map(([number, run]) => [number, run.gathered_context?.["hangup_cause"]])
  t.strictSame(Object.fromEntries(ends), causes, "and each call ends as the callee ended it")
  t.ok((await loudestOfCallee(runs.get(echoes))) > 1_000, "and who answers hears the agent")
  return runs
}

/** How the dialplan refers to the value of an expression. */
const value = (expression: string) => `\${${expression}}`
/** What an administrator adds for CEL, and for `linkedid` in the CDR. */
const bothLogs = {
  "modules.conf": "load = res_cdrel_custom.so\nload = cdr_custom.so\nload = cel_custom.so\n",
  "cdr_custom.conf": `\n[mappings]\nmatch.csv => ${value(`CSV_QUOTE(${value("CDR(uniqueid)")})`)},${value(`CSV_QUOTE(${value("CDR(linkedid)")})`)}\n`,
  "cel.conf": "\n[general](+)\nenable = yes\nevents = CHAN_START,ANSWER,HANGUP,CHAN_END\n",
  "cel_custom.conf": `\n[mappings]\nmatch.csv => ${value("eventtype")},${value("CHANNEL(uniqueid)")},${value("CHANNEL(linkedid)")}\n`
}

const withPlainFiles = async (t: Test, scene: Scene) => {
  const { asterisk, id } = scene
  const runs = await calledAll(scene, t)
  t.match(await asterisk.ctl("module show like musiconhold"), /res_musiconhold\.so/, "and music on hold is loaded")
  t.match(await asterisk.ctl("core show function DIALPLAN_EXISTS"), /DIALPLAN_EXISTS\(/, "and it can tell whether an extension is there")
  t.match(await asterisk.ctl("ari show apps"), `trunkline.journey.${id}`, "and the engine has registered its application by itself")
  const ids = numbers.map((number) => callIdOf(runs.get(number)))
  const dispositions = ["ANSWERED", "BUSY", "NO ANSWER"]
  const master = await recordsFrom(asterisk, "cdr-csv/Master.csv", (rows) => ids.every((id) => rows.some((row) => row.at(-1) === id)))
  t.strictSame(
    ids.map((id) => master.filter((row) => row.at(-1) === id).map((row) => row.at(-3))),
    dispositions.map((disposition) => [disposition]),
    "then Master.csv has one record of each run: its uniqueid is the run's call_id"
  )
  const others = master.filter((row) => !ids.includes(row.at(-1) ?? ""))
  const areMedia = others.every((row) => row.at(-1)?.startsWith("media-"))
  t.ok(areMedia, "and what is not of a run is of its audio")
  const linked = await rowsOf(asterisk, "cdr-custom/match.csv")
  const strays = linked.filter(([, linkedid = ""]) => !ids.includes(linkedid))
  t.strictSame(strays, [], "and linkedid is the call_id in all of them")
  const ended = await recordsFrom(asterisk, "cel-custom/match.csv", (rows) =>
    ids.every((id) => rows.some(([type, uniqueid]) => type === "CHAN_END" && uniqueid === id))
  )
  const starts = ids.map(
    (id) => ended.filter(([type, uniqueid, linkedid]) => type === "CHAN_START" && uniqueid === id && linkedid === id).length
  )
  t.strictSame(starts, [1, 1, 1], "and the events of a call have it as uniqueid and linkedid")
}

const withDialString = async (t: Test, scene: Scene) => {
  const runs = await calledAll(scene, t)
  const ids = numbers.map((number) => callIdOf(runs.get(number)))
  const records = await recordsFrom(scene.asterisk, "cdr-custom/match.csv", (rows) =>
    [...ids, ...ids.map((id) => `${id};2`)].every((id) => rows.some(([uniqueid]) => uniqueid === id))
  )
  const strays = records.filter(([, linkedid = ""]) => !ids.includes(linkedid))
  t.strictSame(strays, [], "then all records of a call, including its way through the dialplan, have the call_id as linkedid")
  const ends = await recordsFrom(scene.asterisk, "cel-custom/match.csv", (rows) =>
    ids.every((id) => rows.some(([type, uniqueid]) => type === "CHAN_END" && uniqueid === id))
  )
  const strayEnds = ends.filter(
    ([type, uniqueid = "", linkedid = ""]) => type === "CHAN_END" && !uniqueid.startsWith("media-") && !ids.includes(linkedid)
  )
  t.strictSame(strayEnds, [], "and so have its events")
}

const overTls = async (t: Test, scene: Scene) => {
  t.match(scene.asterisk.ariUrl, /^https:/)
  await calledAll(scene, t)
}

/** What another instance has as the provider, which asks for a name and a password. */
const password = "a;b&c$d/e"
const provider = {
  "modules.conf":
    "load = res_pjsip_authenticator_digest.so\nload = res_pjsip_registrar.so\nload = res_pjsip_endpoint_identifier_user.so\nload = app_echo.so\n",
  // The callee's own trunk uses the same address.
  "pjsip.conf": `
[global]
type = global
endpoint_identifier_order = username,ip
[49301]
type = endpoint
context = provider
disallow = all
allow = ulaw
auth = 49301
aors = 49301
[49301]
type = auth
auth_type = userpass
username = 49301
password = ${password.replaceAll(";", "\\;")}
[49301]
type = aor
max_contacts = 1
`,
  "extensions.conf": "\n[provider]\nexten => _[+0-9]!,1,Answer()\n same => n,Echo()\n"
}
const withAccount = async (t: Test, scene: Scene, other: GeneratedAsterisk) => {
  t.notMatch(await scene.asterisk.ctl("http show status"), "/media/")
  await untilTrue("registration", async () => / Registered /.test(await scene.asterisk.ctl("pjsip show registrations")))
  const runs = await called(scene, [echoes])
  t.match(runs.get(echoes), { gathered_context: { hangup_cause: "duration_exceeded" } })
  t.ok((await loudestOfCallee(runs.get(echoes))) > 1_000, "then a callee who answers hears the agent, over RTP")
  const records = await recordsFrom(other, "cdr-csv/Master.csv", (rows) => rows.length > 0)
  const rung = records.map((row) => row[2])
  t.strictSame(rung, [echoes], "and the provider has had one call")
}

/** Asterisk's own AMD() listens to the callee before the agent does. */
const withDialplan = async (t: Test, scene: Scene) => {
  const { asterisk, id, world } = scene
  // Each configuration was tested when it was created: a fast machine has used up what is allowed in a minute.
  const checked = await until("a test that is allowed", async () => {
    const answer = await world.api.ask("POST", `/organizations/telephony-configs/${id}/test`, {})
    return answer.status === 429 ? undefined : answer
  })
  t.match(checked, { status: 200, body: { passed: true } })
  t.match(JSON.stringify(checked.body), /"name":"dialplan","result":"passed"/)
  const runs = await called(scene, [person, machine])
  t.match(
    runs.get(person),
    { gathered_context: { AMDSTATUS: "HUMAN", AMDCAUSE: /^HUMAN-/, dialplan: "handed_over", hangup_cause: "duration_exceeded" } },
    "then a person is handed over to the agent"
  )
  t.ok(runs.get(person)?.recording_public_url, "and the agent has the audio")
  const hungUp = { dialplan: "entered", hangup_cause: "machine_detected", call_disposition: "voicemail_detected" }
  t.match(runs.get(machine), { gathered_context: { AMDSTATUS: "MACHINE", ...hungUp } }, "and a machine is hung up on by the dialplan")
  t.notOk(runs.get(machine)?.recording_public_url)
  t.strictSame(await rung(scene), [person, machine], "and each phone rings once")
  const callIds = [person, machine].map((number) => callIdOf(runs.get(number)))
  const rows = await recordsFrom(asterisk, "cdr-csv/Master.csv", (all) => callIds.every((id) => all.some((row) => row.at(-1) === id)))
  t.strictSame(
    callIds.map((callId) => rows.filter((row) => row.at(-1) === callId).map((row) => [row[2], row[3]])),
    [person, machine].map((number) => [[number, "trunkline-answered"]]),
    "and the records have the place in the dialplan as dst and dcontext"
  )
}

t.test("given an engine and an Asterisk with generated files, when a campaign is started", { skip }, async (t) => {
  // A campaign takes as long as its longest call.
  t.jobs = 5
  const folder = t.testdir({ "cert.pem": cert, "key.pem": key })
  const [certFile, keyFile] = [join(folder, "cert.pem"), join(folder, "key.pem")]
  const world = await World.open(t, { environment: { NODE_EXTRA_CA_CERTS: certFile }, configurations: { max_call_duration: 8 } })
  const start = async (options: GeneratedOptions): Promise<readonly [callee: Asterisk, asterisk: GeneratedAsterisk]> => {
    const callee = await startAsterisk()
    t.teardown(() => callee.stop())
    const asterisk = await startGenerated(callee, options)
    t.teardown(() => asterisk.stop())
    return [callee, asterisk]
  }
  const open = async (options: GeneratedOptions, account: Readonly<Record<string, string>> = {}): Promise<Scene> => {
    const [callee, asterisk] = await start(options)
    const { id } = await world.api.createConfig({ ...asterisk.telephonyConfig.config, ...account }, asterisk.ariUrl)
    return { asterisk, callee, id, world }
  }
  // All of them are there before the first call, which would otherwise be played beside their starts.
  const plain = await open({ added: bothLogs })
  const local = await open({ added: bothLogs }, { dial_string: "Local/{number}@trunkline-outbound/n" })
  const secure = await open({ arguments: ["--tls", certFile, keyFile], without: ["modules.conf"] })
  const dialplan = await open({ arguments: ["--dialplan"] })
  const [place, other] = await start({ added: provider })
  const account = await open({
    added: { "modules.conf": "noload = chan_websocket.so\n" },
    arguments: ["--provider", `127.0.0.1:${Number(new URL(place.ariUrl).port) + 6}`, "--sip-user", "49301"],
    environment: { SIP_PASSWORD: password }
  })
  t.test("through the files as they are", { buffered: true }, (t) => withPlainFiles(t, plain))
  t.test("with a dial string through the generated dialplan", { buffered: true }, (t) => withDialString(t, local))
  t.test("with TLS and the package's own modules", { buffered: true }, (t) => overTls(t, secure))
  t.test("with a dialplan that listens first", { buffered: true }, (t) => withDialplan(t, dialplan))
  t.test("with a provider's account, and without the WebSocket channel", { buffered: true }, (t) => withAccount(t, account, other))
})

t.test("given the generator", async (t) => {
  const folder = temporaryFolder(t)
  const [one, two] = [join(folder, "one"), join(folder, "two")]
  const passwordIn = async (path: string) => /^password = (\S+)$/m.exec(await readFile(join(path, "ari.conf"), "utf8"))?.[1]

  t.equal((await generate([one])).status, 0)
  t.equal((await generate([two])).status, 0)
  t.match(await passwordIn(one), /^[A-Za-z0-9]{32}$/, "then there is a password")
  t.not(await passwordIn(one), await passwordIn(two), "which is another one each time")
  const { mode } = await stat(join(one, "ari.conf"))
  t.equal(mode & 0o077, 0, "and which nobody else may read")
  t.match(await readFile(join(one, "telephony-config.json"), "utf8"), await passwordIn(one), "and which the engine is told")

  const before = await passwordIn(one)
  t.match(await generate([one]), { status: 1, stderr: /already exists/ }, "then a password in use is not overwritten")
  t.equal(await passwordIn(one), before)
  const wrong = [
    ["--user", "a]\nread_only = no"],
    ["--user", "general"],
    ["--provider", "sip.example.com;x"],
    ["--address", "localhost"],
    ["--rtp", "many"],
    ["--calls", ""],
    ["--tls", "cert.pem", "/key.pem"],
    ["--nonsense", "x"],
    ["--http-port"]
  ]
  for (const args of wrong) {
    t.match(
      await generate([join(folder, "three"), ...args]),
      { status: 1, stderr: /^generate: / },
      `and ${JSON.stringify(args)} is refused`
    )
  }
  const account = await generate([join(folder, "three"), "--sip-user", "49301"], { SIP_PASSWORD: "two\nlines" })
  t.match(account, { status: 1, stderr: /password/ })
  t.notOk(existsSync(join(folder, "three")), "before anything is written")
})
