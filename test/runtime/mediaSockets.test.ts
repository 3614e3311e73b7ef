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

const callWith = async (act: (scene: Scene) => ReturnType<typeof steps<MediaSockets>>) => {
  const { accept, log: media } = carrier()
  const { log, world } = await play((scene) => {
    scene.world.accept = accept
    // The agent listens to every stream that it is given.
    scene.onMedia = (stream) => stream.listen({ closed: (how, why) => scene.hears({ _tag: "MediaClosed", how, why }), frame: () => {} })
  }, act)
  return { journal: world.journal, log, media }
}
const ending = ["line free, 0 slots", "finish", "ended answered"]

t.test("given a call whose carrier connects to us", async (t) => {
  await t.test(
    "when the stream starts before the answer, then that is not an answer, and the agent speaks once there is one",
    async (t) => {
      const { log, media } = await callWith((scene) =>
        steps<MediaSockets>(
          says(scene, "start"),
          wait("20 seconds"),
          Effect.sync(() => scene.world.log.push("-")),
          scene.says(answered),
          scene.says(hungUp("normal_clearing"))
        )
      )
      t.strictSame(log, [...accepted, "-", "answered", "voice", ...ending])
      t.strictSame(media, ["socket 1 heard", "socket 1 ended"], "then the socket is closed with the call")
    }
  )
  await t.test("when it starts some seconds after the answer, then the agent speaks from that time on", async (t) => {
    const { log } = await callWith((scene) =>
      steps<MediaSockets>(scene.says(answered), wait("9 seconds"), says(scene, "start"), wait(0), scene.says(hungUp("normal_clearing")))
    )
    t.strictSame(log, [...accepted, "answered", "voice", ...ending])
  })
  await t.test("when it never starts, then the call is looked up and hung up", async (t) => {
    const { log } = await callWith((scene) =>
      steps<MediaSockets>(
        Effect.sync(() => void (scene.world.lookup = Effect.succeed("up"))),
        opens(scene),
        scene.says(answered),
        wait("15 seconds"),
        scene.says(hungUp("normal_clearing"))
      )
    )
    t.strictSame(log, [...accepted, "answered", "look", "hangup media_failure", "line free, 0 slots", "ended error"])
  })
  await t.test("when nobody answers, then the socket is closed with the call", async (t) => {
    const closings: Array<number> = []
    await callWith((scene) => steps<MediaSockets>(opens(scene, closings), scene.says(hungUp("no_answer")), wait("20 seconds")))
    t.strictSame(closings, [1000])
  })
  await t.test("when the stream stops before the answer is reported, then its end is on disk before the answer", async (t) => {
    const { journal, log } = await callWith((scene) =>
      steps<MediaSockets>(
        Effect.map(opens(scene), (session) => {
          words(session, "start")
          session.closed("ended", "closed")
        }),
        scene.says(answered),
        scene.says(hungUp("normal_clearing"))
      )
    )
    t.strictSame(log, [...accepted, "answered", "voice", ...ending])
    t.strictSame(journal.slice(0, 3), ["placed", "audio has ended", "answered"])
  })
  await t.test("when a stream that has stopped is followed by another, then the call has its audio again", async (t) => {
    const { journal } = await callWith((scene) =>
      steps<MediaSockets>(
        Effect.map(opens(scene), (session) => {
          words(session, "start")
          session.closed("ended", "closed")
        }),
        says(scene, "start"),
        scene.says(answered),
        scene.says(hungUp("normal_clearing"))
      )
    )
    t.strictSame(journal.slice(0, 4), ["placed", "audio has ended", "audio is back", "answered"])
  })
  await t.test("when a key is pressed on the stream, then the agent hears it", async (t) => {
    const { log } = await callWith((scene) =>
      steps<MediaSockets>(scene.says(answered), says(scene, "start", "key"), wait(0), scene.says(hungUp("normal_clearing")))
    )
    t.strictSame(log, [...accepted, "answered", "voice", "key 5", ...ending])
  })
})

t.test("given a call that talks", async (t) => {
  const talking = (act: (scene: Scene, first: MediaSession) => ReturnType<typeof steps<MediaSockets>>) =>
    callWith((scene) =>
      Effect.gen(function* () {
        yield* scene.says(answered)
        const first = yield* opens(scene)
        words(first, "start")
        yield* wait(0)
        scene.world.log.length = 0
        yield* act(scene, first)
      })
    )
  const stopped = (session: MediaSession) =>
    Effect.sync(() => {
      words(session, "stop")
      session.closed("ended", "closed")
    })

  for (const seconds of [1, 5, 9]) {
    await t.test(`when its stream stops ${seconds} s before its end is reported, then that is not a failure`, async (t) => {
      const { log } = await talking((scene, first) =>
        steps<MediaSockets>(stopped(first), wait(`${seconds} seconds`), scene.says(hungUp("normal_clearing")))
      )
      t.strictSame(log, ending)
    })
  }
  await t.test("when its stream stops and it is still up, then it is hung up", async (t) => {
    const { log } = await talking((scene, first) =>
      steps<MediaSockets>(
        Effect.sync(() => void (scene.world.lookup = Effect.succeed("up"))),
        stopped(first),
        wait("11 seconds"),
        scene.says(hungUp("normal_clearing"))
      )
    )
    t.strictSame(log, ["look", "hangup media_failure", "line free, 0 slots", "finish", "ended error"])
  })
  await t.test("when a message of its stream is unreadable, then it is looked up at once", async (t) => {
    const { log, media } = await talking((scene, first) =>
      steps<MediaSockets>(
        Effect.sync(() => words(first, "garbage", "key")),
        wait(0),
        scene.says(hungUp("normal_clearing"))
      )
    )
    t.strictSame(log, ["look", ...ending], "then the following messages are not read")
    t.strictSame(media, ["socket 1 heard", "socket 1 failed"])
  })
  await t.test("when a second stream starts beside the first, then it replaces the first, and the agent continues on it", async (t) => {
    const { log, media } = await talking((scene) =>
      steps<MediaSockets>(says(scene, "start"), wait("30 seconds"), scene.says(hungUp("normal_clearing")))
    )
    t.strictSame(log, ["resumed", ...ending])
    t.strictSame(media, ["socket 1 heard", "socket 1 replaced", "socket 2 heard", "socket 2 ended"])
  })
  await t.test("when a second stream starts after the first has stopped, then the call continues", async (t) => {
    const { log } = await talking((scene, first) =>
      steps<MediaSockets>(
        stopped(first),
        wait("5 seconds"),
        says(scene, "start"),
        wait("60 seconds"),
        scene.says(hungUp("normal_clearing"))
      )
    )
    t.strictSame(log, ["resumed", ...ending])
  })
  await t.test("when sockets are opened endlessly, then the oldest ones are closed", async (t) => {
    const closings: Array<number> = []
    await talking((scene) =>
      steps<MediaSockets>(
        ...Array.from({ length: 10 }, () => opens(scene, closings)),
        Effect.sync(() => t.equal(closings.length, 6))
      )
    )
  })
})

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
