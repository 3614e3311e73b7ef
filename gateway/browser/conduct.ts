/** One call from a browser, as its websocket conducts it: who may make it, its offers and candidates, and what the page is told. */
import { Effect, Queue, type Scope, Stream } from "effect"
import type { Static } from "typebox"
import { type BrowserCall, BrowserCalls, type BrowserPage } from "#core/call/BrowserCalls.ts"
import { isUsable, mostCandidates, readOffer } from "#core/call/BrowserOffer.ts"
import { DecidingEngine } from "#core/node/DecidingEngine.ts"
import type { Caller } from "#core/organization/Caller.ts"
import type { RequestRates } from "#core/organization/RequestRates.ts"
import { LiveFeedback } from "#core/run/LiveFeedback.ts"
import { credentialLost } from "#gateway/events/followerLimits.ts"
import { Closing } from "#gateway/http/Closing.ts"
import { authenticate, type Identities } from "#gateway/request/authenticate.ts"
import { forbidden } from "#gateway/request/authorize.ts"
import { orUndefined } from "#gateway/request/Field.ts"
import type { NotAuthenticated } from "#gateway/request/Refusal.ts"
import { read } from "#gateway/request/validation.ts"
import type { Violation } from "#gateway/request/Violation.ts"
import { RunPath } from "#gateway/wire/Run.ts"
import { answerFrame, endedFrame, errorFrame, feedbackFrames, readFrame, type UpFrame } from "#gateway/wire/Signaling.ts"
import { PageEnded } from "./PageEnded.ts"

/** Until its first offer. */
const FIRST_OFFER = "20 seconds"
const mostOffers = 16
const mostSaid = 64

export interface Conduct {
  readonly id: string
  readonly address: string
  readonly headers: Readonly<Record<string, string>>
  readonly params: Readonly<Record<string, string>>
  readonly frames: Queue.Queue<Uint8Array>
  readonly rates: RequestRates
  /** The address that was asked for, without the query. */
  readonly path: string
  readonly send: (frame: object) => Effect.Effect<void, PageEnded>
  /** The same for a frame as the other engine has written it. */
  readonly sendText: (text: string) => Effect.Effect<void, PageEnded>
}

type Run = Static<typeof RunPath>
type Offer = Extract<UpFrame, { readonly type: "offer" | "renegotiate" }>["payload"]
type Candidate = Parameters<BrowserCall["candidate"]>[0]
type Needs = BrowserCalls | Closing | Identities | LiveFeedback

/** Returns why the connection is to be closed. */
export const conduct = (page: Conduct): Effect.Effect<PageEnded, never, Needs> =>
  Effect.gen(function* () {
    const { isHere } = yield* DecidingEngine
    if (!isHere()) return yield* passedOn(page)
    const run = yield* runOf(page)
    const caller = yield* callerOf(page)
    const lost = Effect.mapError(credentialLost(page.headers, caller), unwelcome)
    return yield* Effect.raceFirst(Effect.scoped(called(page, caller, run)), lost)
  }).pipe(Effect.catchTag("PageEnded", (ended) => Effect.succeed(ended)))

const decoder = new TextDecoder()

/** The engine that decides has the call: this one passes frames on, in both directions. */
const passedOn = Effect.fnUntraced(function* ({
  address,
  frames,
  headers,
  id,
  path,
  sendText
}: Conduct): Effect.fn.Return<PageEnded, PageEnded> {
  const { follow } = yield* DecidingEngine
  const said = Stream.map(Stream.fromQueue(frames), (bytes) => decoder.decode(bytes))
  yield* Stream.runForEach(follow({ address, headers, id, path }, said), sendText).pipe(
    Effect.catchTag("SocketEnded", ({ code, reason }) => Effect.fail(new PageEnded({ code, reason })))
  )
  return closing
})

const unwelcome = ({ detail }: NotAuthenticated): PageEnded => new PageEnded({ code: 4401, reason: detail })

const runOf = ({ params }: Conduct): Effect.Effect<Run, PageEnded> => {
  const found: Array<Violation> = []
  const run = read(RunPath, params, ["path"], found)
  // `run` was validated against this schema.
  return found.length > 0 ? Effect.fail(new PageEnded({ code: 4404, reason: "Workflow run not found" })) : Effect.succeed(run as Run)
}

const callerOf = Effect.fnUntraced(function* ({ address, headers, rates }: Conduct) {
  const caller = yield* authenticate(headers, address).pipe(
    Effect.mapError((error) =>
      error._tag === "NotAuthenticated" ? unwelcome(error) : new PageEnded({ code: 4429, reason: "Too many wrong keys" })
    )
  )
  if (rates.refusal(caller) !== undefined) return yield* new PageEnded({ code: 4429, reason: "Too many requests" })
  if (forbidden({ needs: "member", scope: "calls" }, caller) !== undefined)
    return yield* new PageEnded({ code: 4403, reason: "Only members may call, with keys that have the scope 'calls'" })
  return caller
})

/** What is to be sent to the page. */
type Said = { readonly _tag: "Frame"; readonly frame: object } | { readonly _tag: "Ended"; readonly frame: object }

/** The page's own name for its connection, which it gets back. */
interface Named {
  pcId: string
}

const called = Effect.fnUntraced(function* (page: Conduct, { organizationId }: Caller, { run_id: runId, workflow_id: agentId }: Run) {
  const first = yield* firstOffer(page)
  const named: Named = { pcId: first.offer.pc_id ?? page.id }
  const said = yield* Queue.dropping<Said>(mostSaid)
  const told: BrowserPage = {
    answered: (sdp) => void Queue.offerUnsafe(said, { _tag: "Frame", frame: answerFrame(sdp, named.pcId) }),
    ended: (cause) => void Queue.offerUnsafe(said, { _tag: "Ended", frame: endedFrame(runId, named.pcId, cause) })
  }
  // Before the call, so that nothing of it is missed.
  const feedback = yield* LiveFeedback.useSync((_) => _.watch(organizationId, runId))
  const sending = yield* Effect.forkScoped(
    Stream.runForEach(feedback, (event) => Effect.forEach(feedbackFrames(event), page.send, { discard: true })),
    { startImmediately: true }
  )
  yield* Effect.addFinalizer(() => Effect.sync(() => sending.interruptUnsafe()))
  const call = yield* begun(page, { organizationId, agentId, runId }, first, told)
  for (const candidate of first.candidates) call.candidate(candidate)
  const reading = heard(page, call, named, first)
  const writing = written(page, said)
  return yield* Effect.raceFirst(writing, reading)
})

interface First {
  readonly offer: Offer
  readonly sdp: string
  /** Those that came before it. */
  readonly candidates: ReadonlyArray<Candidate>
  /** How many candidates there have been, with those of the offer. */
  readonly count: number
}

const silent = new PageEnded({ code: 4408, reason: "There was no offer in time" })
const closing = new PageEnded({ code: 1001, reason: "The service is shutting down" })
const unread = new PageEnded({ code: 4400, reason: "A frame could not be read" })
const tooMany = new PageEnded({ code: 1008, reason: "Too much was said" })

const firstOffer = Effect.fnUntraced(function* (page: Conduct): Effect.fn.Return<First, PageEnded, Closing> {
  const { begun } = yield* Closing
  const candidates: Array<Candidate> = []
  let count = 0
  const offer = Effect.gen(function* () {
    while (true) {
      const frame = yield* nextFrame(page)
      if (frame.type !== "ice-candidate") return frame.payload
      if (++count > mostCandidates) return yield* tooMany
      candidates.push(...usable(frame.payload))
    }
  })
  const awaited = Effect.timeoutOrElse(offer, { duration: FIRST_OFFER, orElse: () => Effect.fail(silent) })
  const given = yield* Effect.raceFirst(awaited, Effect.andThen(begun, Effect.fail(closing)))
  const read = yield* readable(page, given)
  return { offer: given, sdp: read.sdp, candidates, count: count + read.candidates }
})

const nextFrame = ({ frames }: Conduct): Effect.Effect<UpFrame, PageEnded> =>
  Effect.flatMap(Queue.take(frames), (bytes) => {
    const frame = readFrame(bytes)
    return frame === undefined ? Effect.fail(unread) : Effect.succeed(frame)
  })

const usable = ({ candidate }: Extract<UpFrame, { readonly type: "ice-candidate" }>["payload"]): ReadonlyArray<Candidate> => {
  // Null, or empty: there are no more.
  if (candidate === null || !isUsable(candidate.candidate)) return []
  const { sdpMid, sdpMLineIndex } = candidate
  return [{ candidate: candidate.candidate, sdpMid: orUndefined(sdpMid), sdpMLineIndex: orUndefined(sdpMLineIndex) }]
}

const readable = Effect.fnUntraced(function* ({ send }: Conduct, { sdp }: Offer) {
  const read = readOffer(sdp)
  if (!("refused" in read)) return read
  yield* send(errorFrame(read.refused))
  return yield* new PageEnded({ code: 4400, reason: read.refused })
})

/** The call is hung up when the scope closes: the page has gone, or is told to. */
const begun = Effect.fnUntraced(function* (
  { send }: Conduct,
  run: Parameters<BrowserCalls["Service"]["begin"]>[0],
  { offer, sdp }: First,
  page: BrowserPage
): Effect.fn.Return<BrowserCall, PageEnded, BrowserCalls | Scope.Scope> {
  const refused = (code: number, ...words: Parameters<typeof errorFrame>) =>
    Effect.andThen(send(errorFrame(...words)), Effect.fail(new PageEnded({ code, reason: words[1] ?? words[0] })))
  const full = "concurrency_limit_exceeded"
  return yield* Effect.acquireRelease(
    BrowserCalls.use((_) => _.begin(run, { sdp, context: offer.call_context_vars ?? {} }, page)),
    (call) => Effect.sync(call.hangUp)
  ).pipe(
    Effect.catchTags({
      BrowserCallRefused: ({ reason }) => refused(1013, reason),
      BrowserRunTaken: ({ isCompleted }) =>
        isCompleted
          ? refused(4409, "Workflow run is already completed", "workflow_run_already_completed")
          : refused(4409, "Workflow run already has an active call", "workflow_run_already_active"),
      ConcurrencyExhausted: () => refused(4429, "Concurrent call limit reached", full),
      MediaExhausted: () => refused(4429, "The engine has no room for another call with audio", full),
      RunNotFound: () => refused(4404, "Workflow run not found")
    })
  )
})

/** Follows what the page says, until it says something that cannot be. */
const heard = Effect.fnUntraced(function* (
  page: Conduct,
  call: BrowserCall,
  named: Named,
  first: First
): Effect.fn.Return<never, PageEnded> {
  let candidates = first.count
  let offers = 1
  while (true) {
    const frame = yield* nextFrame(page)
    if (frame.type === "ice-candidate") {
      if (++candidates > mostCandidates) return yield* tooMany
      for (const candidate of usable(frame.payload)) call.candidate(candidate)
    } else {
      const read = yield* readable(page, frame.payload)
      candidates += read.candidates
      if (++offers > mostOffers || candidates > mostCandidates) return yield* tooMany
      named.pcId = frame.payload.pc_id ?? named.pcId
      call.offer(read.sdp)
    }
  }
})

const ended = new PageEnded({ code: 1000, reason: "call ended" })

const written = Effect.fnUntraced(function* ({ send }: Conduct, said: Queue.Queue<Said>): Effect.fn.Return<PageEnded, PageEnded> {
  while (true) {
    const { _tag, frame } = yield* Queue.take(said)
    yield* send(frame)
    if (_tag === "Ended") return ended
  }
})
