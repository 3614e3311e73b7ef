/** The local journal: what a process has written about its calls, read by the next one. */
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { SqlClient } from "effect/sql"
import { readdirSync, readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import t, { type Test } from "tap"
import type { AttemptEnd } from "#core/call/Attempt.ts"
import { CallId, CampaignId, TelephonyConfigId } from "#core/Id.ts"
import { Config } from "#runtime/config/config.ts"
import { sealed } from "#runtime/journal/JournalLine.ts"
import { JournalAppend, LocalJournal, uptimeMillis } from "#runtime/journal/LocalJournal.ts"
import { append } from "#runtime/journal/Segments.ts"
import { temporaryFolder } from "#test/support/dataFolder.ts"
import { run } from "#test/support/run.ts"

const callIdOf = (index: number) => CallId.make(`01890000-0000-7000-8000-${String(index).padStart(12, "0")}`)
const [one, two, three] = [callIdOf(1), callIdOf(2), callIdOf(3)]
const installation = "aaaaaaaa-0000-4000-8000-000000000001"
const end: AttemptEnd = {
  answeredAt: 1000,
  cause: "normal_clearing",
  endedAt: 2000,
  outcome: "answered",
  record: { gatheredContext: { said: "two\nlines" }, logs: {}, recordingKey: undefined, transcriptKey: "a/b", usageInfo: {} }
}

/** A disk, and processes that use it one after the other. */
class Machine {
  readonly dataDir: string
  isFull = false
  constructor(t: Test) {
    this.dataDir = temporaryFolder(t)
  }
  get root() {
    return join(this.dataDir, "journal", installation)
  }
  files(): ReadonlyArray<string> {
    return readdirSync(this.root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
  }
  calls(): string {
    return this.files().find((file) => file.includes("calls.")) ?? ""
  }
  /** The scope stays open, because a process that is killed closes nothing. */
  readonly process = Effect.gen({ self: this }, function* () {
    const scope = yield* Scope.make()
    // The cast holds because the journal sends a single query.
    const sql = (() => Effect.succeed([{ id: installation }])) as unknown as SqlClient.SqlClient
    const layer = LocalJournal.layer.pipe(
      Layer.provide(Layer.succeed(SqlClient.SqlClient, sql)),
      Layer.provide(Layer.orDie(Config.layerOf({ DATA_DIR: this.dataDir }))),
      Layer.provide(
        Layer.succeed(JournalAppend, (fd, text) => {
          if (this.isFull) {
            append(fd, text.slice(0, 20))
            throw Object.assign(new Error("no space"), { code: "ENOSPC" })
          }
          append(fd, text)
        })
      )
    )
    yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
    return Context.get(yield* Scope.provide(Layer.build(Layer.fresh(layer)), scope), LocalJournal)
  })
}

const onMachine = <A>(t: Test, act: (machine: Machine) => Effect.gen.Return<A, unknown, Scope.Scope>) => {
  const machine = new Machine(t)
  return run(Effect.gen(() => act(machine)))
}
/** What the next process knows about a call after the first one has done its part and something has happened to its files. */
const knownAfter = (
  t: Test,
  first: (journal: LocalJournal["Service"]) => void,
  callId: CallId,
  between: (machine: Machine) => void = () => {}
) =>
  onMachine(t, function* (machine) {
    const dead = yield* machine.process
    first(dead)
    between(machine)
    return (yield* machine.process).known(callId, dead.id)
  })
const leftOne = (journal: LocalJournal["Service"]) => {
  journal.left(one)
  journal.left(two)
}

const contact = { campaignId: CampaignId.make(7), rowNo: 3, telephonyConfigurationId: TelephonyConfigId.make(5) }

t.test("given calls of campaigns, then it is known which numbers they dial", async (t) => {
  const seen = await onMachine(t, function* (machine) {
    const dead = yield* machine.process
    dead.left(one, "http://pbx:8088", contact)
    dead.left(two)
    const own = [...dead.dialed()]
    const next = yield* machine.process
    next.left(three, undefined, { ...contact, rowNo: 4 })
    return { known: next.known(one, dead.id), next: [...next.dialed()], own }
  })
  t.strictSame(seen.own, [[one, contact]], "by the process itself")
  t.strictSame(seen.next, [
    [one, contact],
    [three, { ...contact, rowNo: 4 }]
  ])
  t.match(seen.known, { contact, endpoint: "http://pbx:8088", left: "left" })
})

t.test("given calls that the database has, then what is known about them is kept for ten more minutes", async (t) => {
  const seen = await onMachine(t, function* (machine) {
    const journal = yield* machine.process
    for (const callId of [one, two]) journal.left(callId, undefined, contact)
    journal.answered(one, 1000)
    journal.ended(one, end)
    journal.undone(two, { at: 5, breakerEntry: true })
    for (const callId of [one, two]) journal.settled(callId)
    yield* TestClock.adjust("590 seconds")
    const [ended, undone] = [journal.known(one, undefined), journal.known(two, undefined)]
    yield* TestClock.adjust("60 seconds")
    return { ended, later: [journal.dialed().size, journal.known(one, undefined).end], undone }
  })
  t.match(seen.ended, { answeredAt: 1000, end })
  t.match(seen.undone, { undone: { at: 5, breakerEntry: true } })
  t.strictSame(seen.later, [0, undefined])
})

t.test("given promises of several processes, then they are returned in order", async (t) => {
  const seen = await onMachine(t, function* (machine) {
    const first = yield* machine.process
    first.promised("a")
    first.promised("b")
    yield* TestClock.adjust("1 second")
    const second = yield* machine.process
    second.promised("c")
    return (yield* machine.process).promises
  })
  t.strictSame(seen, ["a", "b", "c"])
})

t.test("given a process that was killed", async (t) => {
  t.match(await knownAfter(t, leftOne, one), { left: "left", placed: false }, "then a call that left is known to have left")
  t.match(await knownAfter(t, leftOne, three), { left: "never_left" }, "then a call without an entry never left")
  const everything = (journal: LocalJournal["Service"]) => {
    journal.left(one)
    journal.placed(one)
    for (const name of ["request-1", "CA1"]) journal.named(one, name)
    journal.answered(one, 1234)
    for (const since of [2000, undefined, 3000]) journal.muted(one, since)
    for (const transfer of [1, 2]) journal.handed(one, transfer)
    journal.ended(one, end)
    journal.settled(two)
  }
  const known = { aliveAt: 3000, answeredAt: 1234, end: JSON.parse(JSON.stringify(end)), left: "left", mutedAt: 3000, placed: true }
  t.match(await knownAfter(t, everything, one), { ...known, providerCallId: "CA1", transfers: 2 }, "then everything that it knew is known")
  const undone = (journal: LocalJournal["Service"]) => journal.undone(one, { at: 5, breakerEntry: true })
  t.match(await knownAfter(t, undone, one), { undone: { at: 5, breakerEntry: true } }, "then what must be undone is known")
})

const rewrite = (change: (text: string) => string) => (machine: Machine) => {
  const file = machine.calls()
  writeFileSync(file, change(readFileSync(file, "utf8")))
}
/** Keeps the line complete, with a valid checksum. */
const rewriteHeader = (change: (header: string) => string) =>
  rewrite((text) => text.replace(/^(journal .*) \w{8}\n/, (_, header: string) => sealed(change(header))))
const otherBoot = rewriteHeader((header) => header.replace(/\S+$/, "00000000-1111-4222-8333-444444444444"))
const damages: ReadonlyArray<readonly [string, (machine: Machine) => void, "never_left" | "unsure"]> = [
  ["a torn last line", rewrite((text) => `${text}left 01890000-0000-7000`), "never_left"],
  ["a last line without its end", rewrite((text) => text.slice(0, -4)), "never_left"],
  ["a changed letter", rewrite((text) => text.replace(two, callIdOf(8))), "unsure"],
  ["a line that was cut out of the middle in part", rewrite((text) => text.replace(one.slice(0, 9), "")), "unsure"],
  ["a header that was changed", rewrite((text) => text.replace("journal 1", "journal 2")), "unsure"],
  ["the header of another boot", otherBoot, "unsure"],
  ["the header of another journal", rewriteHeader((header) => header.replace(/^journal 1 \S+/, `journal 1 ${installation}`)), "unsure"],
  ["no header", rewrite((text) => text.replace(/^journal.*\n/, "")), "unsure"],
  ["a missing file", (machine) => rmSync(machine.calls()), "unsure"],
  ["a missing folder", (machine) => rmSync(machine.root, { recursive: true }), "unsure"],
  ["another disk", (machine) => renameSync(machine.root, `${machine.root}-elsewhere`), "unsure"]
]
for (const [what, happens, left] of damages) {
  t.test(`given a journal with ${what}`, async (t) => {
    t.match(await knownAfter(t, leftOne, three, happens), { left }, `then a call without an entry is ${left}`)
  })
}
t.test("given a call that left, when its process is gone, then the journal says when, by a clock that cannot be set", async (t) => {
  const before = uptimeMillis()
  const { leftAtUptime = Number.NaN } = await knownAfter(t, leftOne, one)
  t.ok(leftAtUptime >= before && leftAtUptime <= uptimeMillis(), `${leftAtUptime}`)
  t.equal((await knownAfter(t, leftOne, one, otherBoot)).leftAtUptime, undefined, "but not after another boot")
})
t.test("given a journal that was cut off in the last line", async (t) => {
  const cut = (machine: Machine) => truncateSync(machine.calls(), statSync(machine.calls()).size - 3)
  t.match(await knownAfter(t, leftOne, two, cut), { left: "left" }, "then a call with a complete entry counts as having left")
})

t.test("given a full disk, when a call is about to leave", async (t) => {
  const seen = await onMachine(t, function* (machine) {
    const journal = yield* machine.process
    const before = journal.left(one)
    machine.isFull = true
    const during = journal.left(two)
    const failure = journal.failure()
    let woken = 0
    journal.watch(() => woken++)
    machine.isFull = false
    yield* Effect.repeat(TestClock.adjust("1 second"), { times: 5 })
    const after = journal.left(three)
    const known = (yield* machine.process).known
    return { after, before, during, failure, known: [one, two, three].map((id) => known(id, journal.id).left), woken }
  })
  const expected = { after: true, before: true, during: false, failure: "ENOSPC", woken: 1 }
  t.match(seen, expected, "then it does not leave until there is room again")
  t.strictSame(seen.known, ["left", "never_left", "left"], "then the journal is still complete")
})

t.test("given a process that is still alive when the next one has read its journal", async (t) => {
  const seen = await onMachine(t, function* (machine) {
    const frozen = yield* machine.process
    yield* machine.process
    return { failure: frozen.failure(), left: frozen.left(one), why: frozen.failure() }
  })
  t.equal(seen.left, false, "then nothing leaves it any more")
  t.match(seen.why, /another engine/, "then it says why")
})

t.test("given a call that is withheld", async (t) => {
  const seen = await onMachine(t, function* (machine) {
    const journal = yield* machine.process
    return { withheld: journal.withhold(one), left: journal.left(one), leaves: journal.left(two), tooLate: journal.withhold(two) }
  })
  t.strictSame(seen, { withheld: true, left: false, leaves: true, tooLate: false }, "then it does not leave; what has left is not withheld")
})

t.test("given a long life at a hundred calls a second", async (t) => {
  const seen = await onMachine(t, function* (machine) {
    const journal = yield* machine.process
    const long = callIdOf(999_999)
    journal.left(long)
    for (let index = 0; index < 20_000; index++) {
      const callId = callIdOf(index)
      journal.left(callId)
      journal.placed(callId)
      journal.ended(callId, end)
      journal.settled(callId)
      if (index % 1000 === 0) yield* TestClock.adjust("10 seconds")
    }
    yield* TestClock.adjust("15 minutes")
    const files = machine.files().map((file) => statSync(file))
    const leftOf = ({ known }: LocalJournal["Service"]) => [10_000, 1_000_000].map((index) => known(callIdOf(index), journal.id).left)
    const own = leftOf(journal)
    const next = yield* machine.process
    const known = { long: next.known(long, journal.id).left, next: leftOf(next), own }
    const readable = files.filter(({ mode }) => (mode & 0o077) !== 0)
    return { bytes: files.reduce((sum, { size }) => sum + size, 0), known, readable }
  })
  t.ok(seen.bytes < 2.2 * 1024 * 1024, `then its files stay small: ${seen.bytes} bytes`)
  t.strictSame(seen.readable, [], "then nobody else may read them")
  t.equal(seen.known.long, "left", "then a call that is still up is not forgotten")
  for (const known of [seen.known.own, seen.known.next])
    t.strictSame(known, ["unsure", "never_left"], "then a call that was forgotten may have left, and a later one certainly has not")
})

t.test("given journals of dead processes that no attempt needs", async (t) => {
  const seen = await onMachine(t, function* (machine) {
    const first = yield* machine.process
    first.left(one)
    const second = yield* machine.process
    second.left(two)
    const third = yield* machine.process
    third.keepFor([{ callId: one, journal: first.id }])
    const kept = readdirSync(machine.root).length
    third.settled(one)
    return { kept, left: readdirSync(machine.root).length }
  })
  t.strictSame(seen, { kept: 2, left: 1 }, "then they are deleted")
})
