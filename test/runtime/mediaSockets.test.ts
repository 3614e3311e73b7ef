/** The media sockets of calls whose carrier connects to us: from before the answer to the end of the call, and from one stream to the next. */
import { Effect } from "effect"
import t from "tap"
import type { MediaEnd, MediaListener, MediaStream } from "#core/provider/Media.ts"
import type { MediaSession } from "#core/provider/CarrierMedia.ts"
import type { AcceptMedia } from "#core/provider/MediaSocket.ts"
import { MediaSockets } from "#runtime/call/MediaSockets.ts"
import { accepted, answered, callId, hungUp, play, type Scene, steps, wait } from "#test/support/callScene.ts"
import { refTo } from "#test/support/refTo.ts"

/** A protocol of three words: `start`, `stop` and `key`. Anything else is unreadable. */
const carrier = () => {
  const log: Array<string> = []
  let sockets = 0
  const accept: AcceptMedia = (_, socket, onEvent) => {
    const name = `socket ${++sockets}`
    let listener: MediaListener | undefined
    let end: readonly [MediaEnd, string] | undefined
    const closed = (how: MediaEnd, why: string) => {
      if (end !== undefined) return
      end = [how, why]
      log.push(`${name} ${how}`)
      listener?.closed(how, why)
    }
    const stream: MediaStream = {
      clear: () => {},
      listen: (given) => {
        listener = given
        log.push(`${name} heard`)
        if (end !== undefined) given.closed(...end)
      },
      mark: () => false,
      send: () => socket.sendText(name),
      skip: () => {}
    }
    return {
      closed,
      message: (data) => {
        const word = new TextDecoder().decode(data)
        if (word === "start") return stream
        if (word === "key") onEvent({ _tag: "Dtmf", digit: "5" })
        else if (word === "stop") closed("ended", "stopped")
        else throw new Error(word)
        return undefined
      }
    }
  }
  return { accept, log }
}

const words = (session: MediaSession, ...all: ReadonlyArray<string>) => {
  for (const word of all) session.message(new TextEncoder().encode(word), true)
}

/** Opens a socket, as the carrier does. */
const opens = (scene: Scene, closings: Array<number> = []) =>
  Effect.map(MediaSockets, (sockets) => {
    const { accept, onEvent } = { accept: scene.world.accept, onEvent: scene.world.provider.onEvent }
    const socket = {
      bufferedBytes: () => 0,
      close: (code: number) => void closings.push(code),
      sendBytes: () => true,
      sendText: () => true
    }
    return sockets.open(
      callId,
      (own) => {
        if (accept === undefined) throw new Error("no protocol")
        return accept(refTo(callId), own, (event) => onEvent?.(callId, event))
      },
      socket
    )
  })

const says = (scene: Scene, ...all: ReadonlyArray<string>) => Effect.map(opens(scene), (session) => words(session, ...all))

type Act = Effect.Effect<unknown, never, MediaSockets>
interface Expected {
  readonly log?: ReadonlyArray<string>
  readonly media?: ReadonlyArray<string>
  /** How the journal begins. */
  readonly journal?: ReadonlyArray<string>
  readonly closings?: ReadonlyArray<number>
}
/** What comes of a call whose agent listens to every stream that it is given. */
const check = (
  title: string,
  acts: (scene: Scene, closings: Array<number>) => Effect.Effect<unknown, never, MediaSockets>,
  expected: Expected
) =>
  t.test(title, async (t) => {
    const { accept, log: media } = carrier()
    const closings: Array<number> = []
    const { log, world } = await play(
      (scene) => {
        scene.world.accept = accept
        scene.onMedia = (stream) => stream.listen({ closed: (how, why) => scene.hears({ _tag: "MediaClosed", how, why }), frame: () => {} })
      },
      (scene) => acts(scene, closings)
    )
    const { log: expectedLog = log, media: expectedMedia = media, journal = [], closings: expectedClosings = closings } = expected
    t.strictSame([log, media, closings], [expectedLog, expectedMedia, expectedClosings])
    t.strictSame(world.journal.slice(0, journal.length), journal)
  })
const all = (...acts: ReadonlyArray<Act>) => steps<MediaSockets>(...acts)
const notes = (scene: Scene, what: string) => Effect.sync(() => scene.world.log.push(what))
const isUp = ({ world }: Scene) => Effect.sync(() => void (world.lookup = Effect.succeed("up")))
const ends = ({ says }: Scene) => says(hungUp("normal_clearing"))
const ending = ["line free, 0 slots", "finish", "ended answered"]

check(
  "given a stream that starts before the answer, then that is not an answer, the agent speaks once there is one, and it is closed with the call",
  (scene) => all(says(scene, "start"), wait("20 seconds"), notes(scene, "-"), scene.says(answered), ends(scene)),
  { log: [...accepted, "-", "answered", "voice", ...ending], media: ["socket 1 heard", "socket 1 ended"] }
)
check(
  "given a stream that starts some seconds after the answer, then the agent speaks from that time on",
  (scene) => all(scene.says(answered), wait("9 seconds"), says(scene, "start"), wait(0), ends(scene)),
  { log: [...accepted, "answered", "voice", ...ending] }
)
check(
  "given a stream that never starts, then the call is looked up and hung up",
  (scene) => all(isUp(scene), opens(scene), scene.says(answered), wait("15 seconds"), ends(scene)),
  { log: [...accepted, "answered", "look", "hangup media_failure", "line free, 0 slots", "ended error"] }
)
check(
  "given a call that nobody answers, then the socket is closed with the call",
  (scene, closings) => all(opens(scene, closings), scene.says(hungUp("no_answer")), wait("20 seconds")),
  { closings: [1000] }
)
const startsAndCloses = (scene: Scene) =>
  Effect.map(opens(scene), (session) => {
    words(session, "start")
    session.closed("ended", "closed")
  })
check(
  "given a stream that stops before the answer is reported, then its end is on disk before the answer",
  (scene) => all(startsAndCloses(scene), scene.says(answered), ends(scene)),
  { log: [...accepted, "answered", "voice", ...ending], journal: ["placed", "audio has ended", "answered"] }
)
check(
  "given a stream that has stopped, when it is followed by another, then the call has its audio again",
  (scene) => all(startsAndCloses(scene), says(scene, "start"), scene.says(answered), ends(scene)),
  { journal: ["placed", "audio has ended", "audio is back", "answered"] }
)
check(
  "given a key that is pressed on the stream, then the agent hears it",
  (scene) => all(scene.says(answered), says(scene, "start", "key"), wait(0), ends(scene)),
  { log: [...accepted, "answered", "voice", "key 5", ...ending] }
)

/** The rest of a call that talks on a first stream. */
const talks = (title: string, acts: (scene: Scene, first: MediaSession, closings: Array<number>) => Act, expected: Expected) =>
  check(
    `given a call that talks, ${title}`,
    (scene, closings) =>
      Effect.gen(function* () {
        yield* scene.says(answered)
        const first = yield* opens(scene)
        words(first, "start")
        yield* wait(0)
        scene.world.log.length = 0
        yield* acts(scene, first, closings)
      }),
    expected
  )
const stops = (session: MediaSession) =>
  Effect.sync(() => {
    words(session, "stop")
    session.closed("ended", "closed")
  })

for (const [seconds, looks] of [
  [1, []],
  [5, ["look", "look"]],
  [9, ["look", "look"]]
] as const)
  talks(
    `when its stream stops ${seconds} s before its end is reported, then that is not a failure`,
    (scene, first) => all(stops(first), wait(`${seconds} seconds`), ends(scene)),
    { log: [...looks, ...ending] }
  )
talks(
  "when its stream stops and it is still up, then it is hung up",
  (scene, first) => all(isUp(scene), stops(first), wait("11 seconds"), ends(scene)),
  { log: ["look", "look", "hangup media_failure", "line free, 0 slots", "finish", "ended error"] }
)
talks(
  "when a message of its stream is unreadable, then it is looked up at once, and the following messages are not read",
  (scene, first) => {
    const garbage = Effect.sync(() => words(first, "garbage", "key"))
    return all(garbage, wait(0), ends(scene))
  },
  { log: ["look", ...ending], media: ["socket 1 heard", "socket 1 failed"] }
)
talks(
  "when a second stream starts beside the first, then it replaces the first, and the agent continues on it",
  (scene) => all(says(scene, "start"), wait("30 seconds"), ends(scene)),
  { log: ["resumed", ...ending], media: ["socket 1 heard", "socket 1 replaced", "socket 2 heard", "socket 2 ended"] }
)
talks(
  "when a second stream starts after the first has stopped, then the call continues",
  (scene, first) => all(isUp(scene), stops(first), wait("5 seconds"), says(scene, "start"), wait("60 seconds"), ends(scene)),
  { log: ["look", "resumed", ...ending] }
)
talks(
  "when sockets are opened endlessly, then the oldest ones are closed",
  (scene, _, closings) =>
    all(
      ...Array.from({ length: 10 }, () => opens(scene, closings)),
      Effect.sync(() => t.equal(closings.length, 6))
    ),
  {}
)

t.test("given a protocol that cannot start, then its socket is closed", async (t) => {
  const closings: Array<number> = []
  const { log } = await play(
    ({ world }) => {
      world.accept = () => {
        throw new Error("no")
      }
    },
    (scene) =>
      steps<MediaSockets>(
        Effect.map(opens(scene, closings), (session) => {
          words(session, "start")
          session.closed("unknown", "closed")
        }),
        scene.says(hungUp("no_answer"))
      )
  )
  t.strictSame([closings, log.at(-1)], [[4400], "ended no_answer"])
})

t.test("given a provider without audio, when an agent must speak, then no silent call is placed", async (t) => {
  const { log } = await play(
    ({ world }) => void (world.opensMedia = false),
    () => wait(0)
  )
  t.strictSame(log, ["sent", "void", "line free, 0 slots"])
})
