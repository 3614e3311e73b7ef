/** What the owner of a campaign decides, given what it sees and whatever it remembers. */
import fc from "fast-check"
import t from "tap"
import { capacityTold, type CapacityView, capacityNotes } from "#core/campaign/Capacity.ts"
import { begun, type CampaignView, type CampaignWatch, decide, millisToSleep } from "#core/campaign/decide.ts"
import type { LastWord } from "#core/campaign/LastWords.ts"
import type { TrunkView } from "#core/campaign/TrunkWatch.ts"
import type { Trouble } from "#core/provider/TrunkHealth.ts"
import { forAllOf } from "#test/support/forAll.ts"

const RUNS = { numRuns: 2000 }
const NOW = 1_800_000_000_000
const well: TrunkView = {
  status: { _tag: "Up" },
  trouble: undefined,
  hasReached: true,
  admits: true,
  endpoints: [],
  numbersLacking: undefined
}
const none = { lack: "configuration" } as const
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
    t.match(decide(begun([]), { ...ready, ...view }).decision, expected, name)
  const stop = (event: string) => ({ _tag: "Stop", stop: { event } })
  check("none", {}, { _tag: "Dial" })
  const unavailable = (message: RegExp, detail: RegExp) => ({
    _tag: "Stop",
    stop: { event: "telephony_configuration_unavailable", message, details: { detail } }
  })
  check("no usable configuration", { trunk: none }, unavailable(/no usable telephony configuration/, /Choose one/))
  check("no adapter", { trunk: { lack: "adapter", provider: "acme" } }, unavailable(/does not have the adapter/, /"acme"/))
  const lacking = (inactive: number, refused: number, other = 0) => ({ ...well, numbersLacking: { inactive, refused, other } })
  const left = /no phone number left to call from/
  check("no number", { trunk: lacking(0, 0) }, unavailable(left, /has no phone numbers\. Add or activate one/))
  check("all inactive", { trunk: lacking(2, 0) }, unavailable(left, /inactive: 2/))
  check("all refused", { trunk: lacking(0, 1) }, unavailable(left, /refused by the provider: 1/))
  const misconfigured = { reason: "misconfigured", detail: "there is no active number to call from" } as const
  check("the last one gone after a claim", { trunk: lacking(0, 0), refused: misconfigured }, unavailable(left, /Add or activate/))
  check("one added since", { refused: misconfigured }, unavailable(/no call can be placed/, /no active number/))
  check("no number, and nobody to call", { trunk: lacking(0, 0), more: false }, { _tag: "Due" })
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
  hasReached: fc.boolean(),
  numbersLacking: fc.constant(undefined),
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
    trunk: fc.oneof({ weight: 20, arbitrary: trunks }, { weight: 1, arbitrary: fc.constant(none) }),
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
  let watch: CampaignWatch = begun([])
  return seen.map((view) => {
    const before = watch
    const decided = decide(before, view)
    watch = decided.watch
    return { before, decided, view }
  })
}

/** Whatever came before, the law holds at each moment. */
const always = (law: (moment: ReturnType<typeof throughout>[number]) => boolean) =>
  forAllOf(RUNS, histories, (seen) => throughout(seen).every(law))

t.test("whatever came before, nothing is dialed that must not be", async () => {
  always(({ decided: { decision }, view: { trunk, ...view } }) => {
    if (decision._tag !== "Dial") return true
    const isAllowed = view.window.open && view.breaker === "watching" && view.isJournalWritable && view.isLockHeld
    const isAnybody = view.more || view.dueAt <= view.now
    return isAllowed && isAnybody && !("lack" in trunk) && trunk.status._tag === "Up" && (trunk.trouble === undefined || trunk.admits)
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
  forAllOf(RUNS, histories, (seen) => {
    const judged = throughout(seen).filter(({ view }) => !("lack" in view.trunk) && view.breaker === "watching")
    const edges = judged.flatMap(({ decided: { notes } }) => notes.filter(({ event }) => event.startsWith("schedule_window")))
    // Closed until another time means that it has been open in between.
    const states = judged.map(({ view: { window } }) => (window.open ? "open" : `closed until ${window.opensAt}`))
    const crossed = states.filter((state, index) => state !== (states[index - 1] ?? "open"))
    return edges.length === crossed.length
  })
})

t.test("whatever came before, deciding again at the same moment says nothing new", async () => {
  always(({ decided, view }) => {
    const again = decide(decided.watch, view)
    return again.notes.length === 0 && again.decision._tag === decided.decision._tag
  })
})

t.test("given a trunk that is down, then the campaign is paused after 135 s of waiting, without the time outside its window", async (t) => {
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
})

t.test("given a trunk that fails every call, then the campaign is paused once a probe fails after 130 s, not by time alone", async (t) => {
  const at = (steady: number, more: Partial<Trouble>): CampaignView => ({
    ...ready,
    steady,
    trunk: { ...well, admits: false, trouble: troubleAt(0, more) }
  })
  const tags = (...seen: ReadonlyArray<CampaignView>) => throughout(seen).map(({ decided: { decision } }) => decision._tag)
  t.strictSame(tags(at(0, {}), at(200_000, { until: 300_000 })), ["Until", "Until"])
  t.strictSame(tags(at(0, {}), at(131_000, { failures: 6, failedAt: 130_000, until: 190_000 })), ["Until", "Stop"])
})

t.test("given no slot, then the log gives each reason once in ten minutes", async (t) => {
  const view: CapacityView = { now: 0, areNumbersExhausted: false, mediaLimit: undefined, held: 0, inDoubt: 0 }
  const check = (name: string, views: ReadonlyArray<Partial<CapacityView>>, expected: unknown) => {
    let watch = capacityTold([])
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

// --- what the log has said before

const said = (event: LastWord["event"], at = 900_000, details: LastWord["details"] = null): LastWord => ({
  event,
  level: "warning",
  details,
  at
})
const iso = (at: number) => new Date(at).toISOString()
const closedUntil = (at: number) => said("schedule_window_closed", 0, { next_open_at: iso(at) })

t.test("given a new owner, then it does not say again what the log has said", async (t) => {
  /** The log's last words, newest first, and what the new owner sees from then on. */
  const check = (name: string, words: ReadonlyArray<LastWord>, views: ReadonlyArray<Partial<CampaignView>>, expected: unknown) => {
    let watch = begun(words)
    const events = views.flatMap((view) => {
      const decided = decide(watch, { ...ready, ...view })
      watch = decided.watch
      return decided.notes.map(({ event }) => event)
    })
    t.strictSame(events, expected, name)
  }
  const closed: Partial<CampaignView> = { window: { open: false, opensAt: NOW + 5000 } }
  const [closes, opens] = ["schedule_window_closed", "schedule_window_opened"] as const
  check("of this closing", [closedUntil(NOW + 5000)], [closed, {}], [opens])
  check("of a closing that never ends", [said(closes, 0, { next_open_at: null })], [{ window: { open: false, opensAt: undefined } }], [])
  check("but of a later closing", [closedUntil(NOW - 5000)], [closed], [closes])
  check("but of an opening while nobody looked", [closedUntil(NOW - 5000)], [{}, {}], [opens])
  check("of an opening, and it has closed since", [said(opens), closedUntil(NOW - 5000)], [closed], [closes])
  check("of an opening, and it is open", [said(opens), closedUntil(NOW - 5000)], [{}], [])

  const [suspect, recovered] = ["telephony_suspect", "telephony_recovered"] as const
  const ill: Partial<CampaignView> = { trunk: { ...well, admits: false, trouble: troubleAt(990_000) } }
  const fresh: Partial<CampaignView> = { trunk: { ...well, hasReached: false } }
  check("of trouble", [said(suspect)], [fresh, ill, {}], [recovered])
  check("of trouble that ended while nobody looked, once a call got through", [said(suspect)], [fresh, {}], [recovered])
  check("of trouble a moment ago that is over", [said(recovered), said("provider_rate_limited", 990_000)], [ill], [])
  check("but of new trouble", [said(recovered), said(suspect)], [ill], [suspect])

  const unheard = said("telephony_unreachable", 0, { detail: "no answer" })
  const deaf: Partial<CampaignView> = { trunk: { ...well, status: { _tag: "Down", reason: "unheard", detail: "no answer" } } }
  const connecting: Partial<CampaignView> = { trunk: { ...well, status: { _tag: "Connecting" } } }
  check("of a provider that cannot reach us", [unheard], [connecting, deaf], [])
  check("but when that begins again", [unheard], [deaf, {}, deaf], ["telephony_unreachable"])
  check("but after an outage that is over", [said("telephony_outage"), unheard], [deaf], ["telephony_unreachable"])

  const endpoints = (trouble?: string): Partial<CampaignView> => ({
    trunk: {
      ...well,
      endpoints: [
        { name: "a", trouble: undefined },
        { name: "b", trouble }
      ]
    }
  })
  const ofB = { endpoint: "b" }
  check("of an endpoint", [said(suspect, 0, ofB)], [endpoints(), endpoints("HTTP 503"), endpoints()], [recovered])
  check("but of its next trouble", [said(recovered, 0, ofB), said(suspect, 0, ofB)], [endpoints("HTTP 503")], [suspect])
})

t.test("given a new owner without a slot, then each reason is given once in ten minutes as before", async (t) => {
  const check = (name: string, words: ReadonlyArray<LastWord>, view: Partial<CapacityView>, expected: ReadonlyArray<string>) => {
    const free: CapacityView = { now: 1_000_000, areNumbersExhausted: false, mediaLimit: undefined, held: 0, inDoubt: 0 }
    const [notes] = capacityNotes(capacityTold(words), { ...free, ...view })
    const events = notes.map(({ event }) => event)
    t.strictSame(events, expected, name)
  }
  const full = "waiting_for_capacity"
  const audio = { calls_with_audio: 3 }
  check("others have them", [said(full, 400_001)], {}, [])
  check("others have had them for long", [said(full, 400_000)], {}, [full])
  check("others have them, and audio was the reason before", [said(full, 900_000, audio)], {}, [full])
  check("there is no room for audio", [said(full, 900_000, audio)], { mediaLimit: 3 }, [])
  check("there is no room for audio, and others had them before", [said(full)], { mediaLimit: 3 }, [full])
  check("all numbers are in use", [said("phone_number_pool_exhausted")], { areNumbersExhausted: true, held: 1 }, [])
})
