/** What the owner of a campaign decides, given what it sees and whatever it remembers. */
import fc from "fast-check"
import t from "tap"
import { type CapacityView, capacityNotes, untold } from "#core/campaign/Capacity.ts"
import { begun, type CampaignView, type CampaignWatch, decide, millisToSleep } from "#core/campaign/decide.ts"
import type { TrunkView } from "#core/campaign/TrunkWatch.ts"
import type { Trouble } from "#core/provider/TrunkHealth.ts"

const RUNS = { numRuns: 2000 }
const NOW = 1_800_000_000_000
const well: TrunkView = { status: { _tag: "Up" }, trouble: undefined, admits: true, endpoints: [] }
const ready: CampaignView = {
  now: NOW,
  steady: 1_000_000,
  trunk: well,
  refused: undefined,
  breaker: "watching",
  window: { open: true, closesAt: NOW + 3_600_000 },
  isJournalWritable: true,
  isLockHeld: true,
  more: true,
  dueAt: Number.POSITIVE_INFINITY
}
const troubleAt = (since: number, more: Partial<Trouble> = {}): Trouble => ({
  kind: "doubted",
  since,
  failedAt: since,
  failures: 1,
  detail: "HTTP 500",
  until: since + 5000,
  askedUntil: 0,
  ...more
})
const down: TrunkView = { ...well, status: { _tag: "Down", reason: "unreachable", detail: "refused" } }

t.test("given one obstacle, then that decides", async (t) => {
  const check = (name: string, view: Partial<CampaignView>, expected: unknown) =>
    t.match(decide(begun, { ...ready, ...view }).decision, expected, name)
  const stop = (event: string) => ({ _tag: "Stop", stop: { event } })
  check("none", {}, { _tag: "Dial" })
  check("no usable configuration", { trunk: undefined }, stop("telephony_configuration_unavailable"))
  check("no credit", { refused: { reason: "no_credit", detail: "" } }, stop("quota_exhausted"))
  check("wrong credentials", { trunk: { ...well, status: { _tag: "Down", reason: "auth", detail: "401" } } }, stop("telephony_auth_failed"))
  check("a trip whose calls are not all on record", { breaker: "settling" }, { _tag: "News" })
  check("a trip", { breaker: "tripped" }, { _tag: "JudgeBreaker" })
  check("a closed window", { window: { open: false, opensAt: NOW + 5 } }, { _tag: "News" })
  check("no connection", { trunk: down }, { _tag: "Until", until: ready.steady + 135_000 })
  check("a journal that cannot be written", { isJournalWritable: false }, { _tag: "Until", stuckOn: "the local journal" })
  check("a lost lock", { isLockHeld: false }, { _tag: "Until", stuckOn: "the engine's lock" })
  check("nobody to call yet", { more: false, dueAt: NOW + 1 }, { _tag: "Due" })
  check("a retry that is due", { more: false, dueAt: NOW }, { _tag: "Dial" })
  check("a trunk at rest", { trunk: { ...well, admits: false, trouble: troubleAt(999_000) } }, { _tag: "Until", until: 1_004_000 })
  check("a trunk that may be probed", { trunk: { ...well, trouble: troubleAt(900_000) } }, { _tag: "Dial" })
})

// --- laws

const times = fc.integer({ min: 0, max: 400_000 })
const troubles = fc.option(
  fc
    .record({ since: times, failures: fc.integer({ min: 1, max: 8 }), rest: fc.integer({ min: 0, max: 60_000 }) })
    .map(({ failures, rest, since }) => troubleAt(since, { failures, failedAt: since + rest, until: since + 2 * rest })),
  { nil: undefined }
)
const trunks: fc.Arbitrary<TrunkView> = fc.record({
  status: fc.constantFrom<TrunkView["status"]>(well.status, well.status, well.status, down.status, { _tag: "Connecting" }),
  trouble: troubles,
  admits: fc.boolean(),
  endpoints: fc.constantFrom<TrunkView["endpoints"]>(
    [],
    [
      { name: "a", trouble: undefined },
      { name: "b", trouble: "HTTP 503" }
    ]
  )
})
const views: fc.Arbitrary<CampaignView> = fc
  .record({
    elapsed: times,
    trunk: fc.option(trunks, { nil: undefined, freq: 20 }),
    breaker: fc.constantFrom<CampaignView["breaker"]>("watching", "watching", "watching", "settling", "tripped"),
    isOpen: fc.boolean(),
    edge: fc.option(fc.integer({ min: 1, max: 7_200_000 }), { nil: undefined }),
    isJournalWritable: fc.boolean(),
    isLockHeld: fc.boolean(),
    more: fc.boolean(),
    dueIn: fc.option(fc.integer({ min: -1000, max: 7_200_000 }), { nil: undefined })
  })
  .map(({ dueIn, edge, elapsed, isOpen, ...view }) => {
    const now = NOW + elapsed
    const at = edge === undefined ? undefined : now + edge
    return {
      ...view,
      now,
      steady: elapsed,
      refused: undefined,
      dueAt: dueIn === undefined ? Number.POSITIVE_INFINITY : now + dueIn,
      window: isOpen ? { open: true, closesAt: at } : { open: false, opensAt: at }
    }
  })
/** What an owner sees over time. */
const histories = fc.array(views, { minLength: 1, maxLength: 12, size: "max" }).map((seen) => seen.toSorted((a, b) => a.steady - b.steady))
const throughout = (seen: ReadonlyArray<CampaignView>) => {
  let watch: CampaignWatch = begun
  return seen.map((view) => {
    const before = watch
    const decided = decide(before, view)
    watch = decided.watch
    return { before, decided, view }
  })
}

/** Whatever came before, the law holds at each moment. */
const always = (law: (moment: ReturnType<typeof throughout>[number]) => boolean) =>
  fc.assert(
    fc.property(histories, (seen) => throughout(seen).every(law)),
    RUNS
  )

t.test("whatever came before, nothing is dialed that must not be", async () => {
  always(({ decided: { decision }, view: { trunk, ...view } }) => {
    if (decision._tag !== "Dial") return true
    const isAllowed = view.window.open && view.breaker === "watching" && view.isJournalWritable && view.isLockHeld
    const isAnybody = view.more || view.dueAt <= view.now
    return isAllowed && isAnybody && trunk?.status._tag === "Up" && (trunk.trouble === undefined || trunk.admits)
  })
})

t.test("whatever came before, a sleep ends at the window's edge at the latest, or when an awaited retry is due", async () => {
  always(({ decided: { decision, watch }, view }) => {
    if (decision._tag === "Dial" || decision._tag === "Stop" || decision._tag === "JudgeBreaker") return true
    const sleep = millisToSleep(decision, watch, view)
    const isDueInTime = decision._tag !== "Due" || sleep <= Math.max(0, view.dueAt - view.now)
    return sleep <= 3_600_000 && view.now + sleep <= watch.edgeAt && isDueInTime
  })
})

t.test("whatever came before, the log reports each edge of the window once, and no beginning inside it", async () => {
  fc.assert(
    fc.property(histories, (seen) => {
      const judged = throughout(seen).filter(({ view }) => view.trunk !== undefined && view.breaker === "watching")
      const edges = judged.flatMap(({ decided: { notes } }) => notes.filter(({ event }) => event.startsWith("schedule_window")))
      const states = judged.map(({ view }) => view.window.open)
      const crossed = states.filter((isOpen, index) => isOpen !== (states[index - 1] ?? true))
      return edges.length === crossed.length
    }),
    RUNS
  )
})

t.test("whatever came before, deciding again at the same moment says nothing new", async () => {
  always(({ decided, view }) => {
    const again = decide(decided.watch, view)
    return again.notes.length === 0 && again.decision._tag === decided.decision._tag
  })
})

t.test(
  "given a trunk that is down, then the campaign is paused after 135 s of waiting, and time outside its window does not count",
  async (t) => {
    const at = (steady: number, isOpen = true): CampaignView => ({
      ...ready,
      steady,
      trunk: down,
      window: isOpen ? ready.window : { open: false, opensAt: undefined }
    })
    const last = (...seen: ReadonlyArray<CampaignView>) => throughout(seen).at(-1)?.decided
    t.match(last(at(0), at(134_999)), { decision: { _tag: "Until", until: 135_000 }, isHeldUp: true })
    t.match(last(at(0), at(135_000)), { decision: { _tag: "Stop", stop: { event: "telephony_unreachable" } } })
    t.match(last(at(0), at(60_000, false), at(135_000)), { decision: { _tag: "Until", until: 270_000 } })
  }
)

t.test(
  "given a trunk that fails every call, then the campaign is paused once a probe has failed after 130 s, not by time alone",
  async (t) => {
    const at = (steady: number, more: Partial<Trouble>): CampaignView => ({
      ...ready,
      steady,
      trunk: { ...well, admits: false, trouble: troubleAt(0, more) }
    })
    const tags = (...seen: ReadonlyArray<CampaignView>) => throughout(seen).map(({ decided: { decision } }) => decision._tag)
    t.strictSame(tags(at(0, {}), at(200_000, { until: 300_000 })), ["Until", "Until"])
    t.strictSame(tags(at(0, {}), at(131_000, { failures: 6, failedAt: 130_000, until: 190_000 })), ["Until", "Stop"])
  }
)

t.test("given no slot, then the log gives each reason once in ten minutes", async (t) => {
  const view: CapacityView = { now: 0, areNumbersExhausted: false, mediaLimit: undefined, held: 0, inDoubt: 0 }
  const check = (name: string, views: ReadonlyArray<Partial<CapacityView>>, expected: unknown) => {
    let watch = untold
    const said = views.map((one) => {
      const [notes, next] = capacityNotes(watch, { ...view, ...one })
      watch = next
      return notes.map(({ event }) => event)
    })
    t.strictSame(said, expected, name)
  }
  const full = "waiting_for_capacity"
  check("others have them all", [{}, { now: 599_999 }, { now: 600_000 }], [[full], [], [full]])
  check("it has its share", [{ held: 1 }], [[]])
  check("calls in doubt have them", [{ held: 2, inDoubt: 2 }], [[full]])
  check("there is no room for audio", [{ mediaLimit: 10 }, { mediaLimit: 10 }, {}], [[full], [], [full]])
  check("all numbers are in use", [{ areNumbersExhausted: true, held: 1 }], [["phone_number_pool_exhausted"]])
})
