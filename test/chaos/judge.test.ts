/** A judge that never finds anything is worthless: for every rule, there is a story that breaks that rule alone. */
import t from "tap"
import type { CalleeEntry } from "#test/emulators/shared/CalleeLog.ts"
import { type CampaignFacts, clearMillis, type Evidence, type Recorded, type Request } from "./Evidence.ts"
import { figuresOf, judge, type Rule, rules } from "./Judge.ts"
import { phaseOf } from "./killStory.ts"
import { explanations, summary } from "./Report.ts"

const number = "+15550000101"
/** A call from `from` to `until`; answered after 100 ms unless `answeredAt` says otherwise. */
const call = (id: string, from: number, until: number | undefined, more: { answeredAt?: number | null; number?: string } = {}) => {
  const entry = (kind: CalleeEntry["kind"], at: number): CalleeEntry => ({ at, channelId: id, kind, number: more.number ?? number })
  const answeredAt = more.answeredAt === undefined ? from + 100 : more.answeredAt
  return [
    entry("originate", from),
    ...(answeredAt === null ? [] : [entry("answered", answeredAt)]),
    ...(until === undefined ? [] : [{ ...entry("ended", until), by: "callee" as const }])
  ]
}
const attempt = (id: string, beganAt: number, more: Partial<Recorded> = {}): Recorded => ({
  beganAt,
  campaignId: 1,
  id,
  number,
  outcome: "answered",
  overAt: beganAt + 1100,
  state: "ended",
  ...more
})
const request = (id: string, at: number, more: Partial<Request> = {}): Request => ({ at, fate: "pass", id, told: 200, ...more })
const counters = { completed: 1, failed: 0 }
const campaign = (more: Partial<CampaignFacts> = {}): CampaignFacts => ({
  cap: 1,
  closed: [],
  contacts: [{ number, state: "completed" }],
  id: 1,
  pauses: [],
  recounted: counters,
  shown: counters,
  state: "completed",
  ...more
})
/** Unless a story says otherwise, each attempt was requested when it began, and its callee talked for a second. */
const evidence = ({ attempts = [attempt("a", 1000)], ...more }: Partial<Evidence> = {}): Evidence => ({
  attempts,
  busy: [],
  campaigns: [campaign()],
  cuts: [],
  deaf: [],
  kills: [],
  lateMillis: 250,
  log: attempts.flatMap((one) => call(one.id, one.beganAt, one.beganAt + 1000, { number: one.number })),
  organizationCap: 2,
  requests: attempts.map(({ beganAt, id }) => request(id, beganAt)),
  ...more
})
const span = (name: string, from: number, until: number = Number.POSITIVE_INFINITY) => ({ from, name, until })
const killed = (from: number, until: number) => span("the engine was killed", from, until)
const gone = (application: string) => ({ ...span("the engine that had asked for it was gone", 1500), application })

t.test("given a campaign in which everything went well, then nothing is found", async (t) => {
  t.strictSame(judge(evidence()), { explained: {}, findings: [], late: 0 })
})

const other = "+15550000202"
const unknown = { outcome: "unknown", overAt: 60_000 }
const unexplained = [attempt("a", 1000, unknown)]
const missed = { outcome: "no_answer" }
/** Two attempts for one contact, the second after the first. */
const again = (first: Partial<Recorded>) => [attempt("a", 1000, first), attempt("b", 5000)]

const broken: { readonly [rule in Rule]: Readonly<Record<string, Partial<Evidence>>> } = {
  "every dial belongs to a recorded attempt, and each attempt is dialed once": {
    "an attempt that is dialed twice": { log: [...call("a", 1000, 1200, { answeredAt: null }), ...call("a", 1300, 2000)] },
    "a call of no attempt": {
      log: [...call("a", 1000, 2000), ...call("x", 3000, 4000, { number: other })],
      requests: [request("a", 1000), request("x", 3000)]
    },
    "a call to somebody else's number": { attempts: [attempt("a", 1000, { number: other })], log: call("a", 1000, 2000) },
    "a void attempt that was dialed": { attempts: [attempt("a", 1000, { state: "void", overAt: 2100 })] }
  },
  "no contact and no phone has two calls at once": {
    "two campaigns that call one phone at once": {
      attempts: [attempt("a", 1000), attempt("b", 1500, { campaignId: 2 })],
      campaigns: [campaign(), campaign({ id: 2 })]
    }
  },
  "nobody is dialed again while an earlier request may still become a call": {
    "a request that got a 503 from an ingress, and a second one": {
      attempts: again(missed),
      log: call("b", 5000, 6000),
      requests: [request("a", 1000, { fate: "503 after forwarding", told: undefined }), request("b", 5000)]
    },
    "a request that is held while the contact is dialed again": {
      attempts: again({ overAt: 2000, state: "void", outcome: null }),
      log: call("b", 5000, 6000),
      requests: [request("a", 1000, { fate: "held for 75000 ms", told: undefined }), request("b", 5000)]
    }
  },
  "nobody who has answered is dialed again": {
    "a conversation whose end overtook its answer": { attempts: again(missed) }
  },
  "no call lasts longer than 5 s without an actor": {
    "a call that appears when it has been written off, and stays": {
      attempts: [attempt("a", 1000, unknown)],
      log: call("a", 70_000, 75_100),
      requests: [request("a", 1000, { fate: "held for 69000 ms" })]
    },
    "a call that is recorded as over while it is up": { attempts: [attempt("a", 1000, { overAt: 3000 })], log: call("a", 1000, 8100) },
    "a conversation that goes on, with nobody there, when the engine was killed and has come back": {
      attempts: [attempt("a", 1000, { outcome: "error", overAt: 15_100 })],
      deaf: [killed(1500, 10_000)],
      kills: [1500],
      log: call("a", 1000, 15_100)
    },
    "one that stays when the engine has come back": {
      attempts: [attempt("a", 1000, { overAt: 3000 })],
      deaf: [killed(2500, 10_000)],
      log: call("a", 1000, 15_100)
    }
  },
  "caps hold, except for late calls that are hung up within 5 s": {
    "two calls of a campaign that may have one": { attempts: [attempt("a", 1000), attempt("b", 1500, { number: other })] },
    "three calls of an organization that may have two": {
      attempts: [attempt("a", 1000), attempt("b", 1500, { number: other }), attempt("c", 1500, { number: "+15550000303" })],
      campaigns: [campaign({ cap: 3 })]
    }
  },
  "nothing is dialed outside the calling window": {
    "a dial in a closed window": { campaigns: [campaign({ closed: [{ from: 500, until: 9000 }] })] }
  },
  "nothing is dialed after a confirmed pause": {
    "a dial after a pause": { campaigns: [campaign({ pauses: [{ from: 700, until: 9000 }] })] },
    "one that nobody saw on its way": { campaigns: [campaign({ pauses: [{ from: 700, until: 9000 }] })], requests: [] }
  },
  "every contact and attempt ends in a final state, and no call is left up": {
    "a campaign that goes on": { campaigns: [campaign({ state: "running" })] },
    "a contact that is forgotten": { campaigns: [campaign({ contacts: [{ number, state: "dialing" }] })] },
    "an attempt without an end": { attempts: [attempt("a", 1000, { outcome: null, overAt: undefined, state: "sent" })] },
    "a call that never ends": { attempts: [attempt("a", 1000, { overAt: undefined })], log: call("a", 1000, undefined) }
  },
  "every unknown outcome is explained": {
    "a request that never left": { attempts: unexplained, log: [], requests: [] },
    "one that never left, long before a kill": { attempts: unexplained, kills: [9000], log: [], requests: [] },
    "an end that the engine was told of": { attempts: unexplained, requests: [request("a", 1000, { fate: "reply lost" })] },
    "an end that the engine was told of before it was killed": { attempts: unexplained, deaf: [killed(4500, 9000)], kills: [4500] },
    "a call of an engine that was there, while another one was gone": {
      attempts: unexplained,
      deaf: [gone("other")],
      requests: [request("a", 1000, { application: "own" })]
    },
    "a request to which nothing happened": { attempts: unexplained, log: [] }
  },
  "the counters match a recount": { "a counter that is one too high": { campaigns: [campaign({ shown: { completed: 2, failed: 0 } })] } }
}

for (const rule of rules) {
  t.test(`given a story that breaks: ${rule}`, async (t) => {
    for (const [what, story] of Object.entries(broken[rule])) {
      const { findings } = judge(evidence(story))
      t.strictSame([...new Set(findings.map((finding) => finding.rule))], [rule], `then it is found: ${what}`)
    }
  })
}

t.test("given what the rules allow, then nothing is found", async (t) => {
  const check = (what: string, story: Partial<Evidence>, explained: Readonly<Record<string, number>> = {}, late = 0) =>
    t.strictSame(judge(evidence(story)), { explained, findings: [], late }, what)

  check(
    "a call that appears late, over the cap, and is hung up within 5 s",
    {
      attempts: [attempt("a", 1000, unknown), attempt("b", 69_000, { number: other, overAt: 76_100 })],
      log: [...call("b", 69_000, 76_000, { number: other }), ...call("a", 70_000, 74_900)].toSorted((x, y) => x.at - y.at),
      requests: [request("a", 1000, { fate: "503, forwarded 69000 ms later" }), request("b", 69_000)]
    },
    { "503, forwarded 69000 ms later": 1 },
    1
  )
  check("a retry of somebody who was busy", {
    attempts: again({ outcome: "busy" }),
    log: [...call("a", 1000, 2000, { answeredAt: null }), ...call("b", 5000, 6000)]
  })
  const left = { state: "void", outcome: null }
  check("another attempt after one that Asterisk refused, and after one that never left", {
    attempts: [attempt("a", 1000, left), attempt("x", 2000, left), attempt("b", 5000)],
    log: call("b", 5000, 6000),
    requests: [request("a", 1000, { told: 500 }), request("b", 5000)]
  })
  const swallowed = [request("a", 1000, { fate: "swallowed", told: undefined })]
  check("a request whose fate explains it", { attempts: unexplained, log: [], requests: swallowed }, { swallowed: 1 })
  const inTheAct = { "killed between the mark and the first byte": 1 }
  check("a kill in the act", { attempts: unexplained, kills: [1400], log: [], requests: [] }, inTheAct)
  const down = { "the engine was killed": 1 }
  check("a call that ended while the engine was down", { attempts: unexplained, deaf: [killed(1500, 9000)], kills: [1500] }, down)
  check(
    "a call whose end was known only to an engine that was killed before its database was back",
    {
      attempts: [attempt("a", 1000, { ...unknown, overAt: 20_000 })],
      busy: [span("the database was away", 1500, 6000)],
      deaf: [killed(6500, 7000)],
      kills: [6500]
    },
    down
  )
  check(
    "a call that was placed only after the engine that had asked for it was killed",
    {
      attempts: [attempt("a", 1000, { ...unknown, overAt: 20_000 })],
      deaf: [gone("one")],
      log: call("a", 9000, 9500),
      requests: [request("a", 1000, { application: "one", fate: "held for 8000 ms" })]
    },
    { "the engine that had asked for it was gone": 1 }
  )
  const stopped = span("the engine was stopped", 20_000, 30_000)
  check(
    "a call that ended while the engine was down, which was stopped later too",
    { attempts: unexplained, deaf: [stopped, killed(1500, 9000)], kills: [1500] },
    down
  )
  check(
    "a request that was cut off, long before the engine was stopped",
    { attempts: unexplained, cuts: [1100], deaf: [stopped], log: [] },
    { cut: 1 }
  )
  check("a request that left just before the pause was confirmed", { campaigns: [campaign({ pauses: [{ from: 900, until: 9000 }] })] })
})

t.test("given spans, when they are subtracted from another, then the rest is clear", async (t) => {
  const check = (left: number, ...spans: ReadonlyArray<readonly [from: number, until: number]>) => {
    const others = spans.map(([from, until]) => ({ from, until }))
    t.equal(clearMillis({ from: 10, until: 20 }, others), left)
  }
  check(10)
  check(10, [0, 5])
  check(5, [15, 30])
  check(6, [18, 19], [12, 15], [13, 14])
  check(6, [0, 12], [11, 14], [25, 30])
  check(0, [0, 100])
})

t.test("given a finished chaos run, then its report says what was done and names what is unknown", async (t) => {
  const story = evidence({
    attempts: [
      attempt("a", 1000),
      attempt("b", 2000, { number: other, outcome: "unknown" }),
      attempt("c", 3000, { outcome: null, state: "void" })
    ],
    kills: [2300],
    log: call("a", 1000, 2000),
    requests: [request("a", 1000), request("b", 2000, { fate: "swallowed", told: undefined })]
  })
  const error = '{"level":"Error","message":"a sweep found work"}\n'
  const course = {
    chaosMillis: 61_000,
    faults: ["the engine", "a request", "a request"],
    output: error + error,
    settlingMillis: 9000,
    stops: 2
  }

  t.strictSame(summary(story, course), [
    "3 faults in 61 s; 9 s later all was settled",
    "faults by what they befell: 2 a request, 1 the engine",
    "the engine was killed 1 times and stopped 2 times",
    "3 attempts: 1 answered, 1 unknown, 1 void",
    "1 calls by the callees' log"
  ])
  t.strictSame(explanations(judge(story), course), [
    "unknown attempts, by what explains them:",
    "     1  swallowed",
    "errors in the engine's log:",
    "     2  a sweep found work"
  ])
  t.match(figuresOf(story), {
    "caps hold, except for late calls that are hung up within 5 s": "the organization: 1 of 2, campaign 1: 1 of 1",
    "every unknown outcome is explained": "1 of 1"
  })
})

t.test("given an engine that was killed, then an unknown call is excused only if nobody could know what became of it", async (t) => {
  const absences = [{ backAt: 20_000, killedAt: 10_000 }]
  const check = (what: string, times: Partial<Record<CalleeEntry["kind"], number>>, phase: string) => {
    const kinds = ["originate", "ringing", "answered", "ended"] as const
    const seen = kinds.flatMap((kind) => (times[kind] === undefined ? [] : [{ at: times[kind], channelId: "a", kind, number }]))
    t.match(phaseOf(seen, absences), new RegExp(`^${phase}`), what)
  }
  check("it rang", { originate: 9000, ringing: 9500, answered: 10_500, ended: 10_500 }, "ringing")
  check("it left with the last breath", { originate: 10_010, ringing: 10_100, answered: 10_300, ended: 10_300 }, "asked for")
  check("the answer was on its way", { originate: 9000, ringing: 9500, answered: 9900, ended: 10_300 }, "answered right before")
  check("the answer had been heard", { originate: 7000, ringing: 7500, answered: 8000, ended: 10_300 }, "!answered")
  check("its channel is in the list", { originate: 9000, ringing: 9500, ended: 25_000 }, "!not under way")
  check("nobody was killed", { originate: 1000, ringing: 1500, answered: 2000, ended: 3000 }, "!not under way")
  check("nobody has seen it", {}, "!not under way")
})
