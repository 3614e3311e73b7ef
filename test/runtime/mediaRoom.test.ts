/** Calls with audio are held back before the audio of live calls suffers. */
import type { Effect } from "effect"
import t from "tap"
import { makeFramePacer, type PacedStream } from "#runtime/voice/FramePacer.ts"
import { MediaRoom } from "#runtime/voice/MediaRoom.ts"
import { afterwards, campaign, fast, play, type Scene, steps, wait } from "#test/support/campaignScene.ts"
import { handTurned } from "#test/support/handTurned.ts"

const stream: PacedStream = { frame: () => {}, skipped: () => {}, failed: () => {} }

t.test("given streams, when frames are late or skipped, then the pacer reports it once per second", async (t) => {
  const { time, turn } = handTurned()
  const told: Array<{ readonly streams: number; readonly due: number; readonly late: number }> = []
  const pacer = makeFramePacer(time, (load) => told.push(load))
  const leave = [pacer.join(stream), pacer.join(stream)]
  turn(1000)
  turn(25, 25)
  turn(975)
  turn(50, 50)
  turn(950)
  turn(2000, 2000)
  for (const go of leave) go()
  turn(5000)
  const late = told.map((load) => load.late)
  t.strictSame(late.slice(0, 2), [0, 0], "what is late by less is in time")
  t.ok((late[2] ?? 0) >= 1 && (late[2] ?? 0) <= 4, `late for a moment: ${late}`)
  t.ok((late[3] ?? 0) >= 190 && (late[3] ?? 0) <= 200, `and for two seconds: ${late}`)
  t.ok(told.every(({ due, streams }) => streams === 2 && due >= 99) && told.length === 4)
})

const audio = { RECORDINGS: "on" }
const room = { ...fast, maxConcurrency: 500, organizationShare: 500 }
const playing = (contacts: number, act: (scene: Scene) => Effect.Effect<unknown>, environment: Readonly<Record<string, string>>) =>
  play(campaign(contacts, room), act, undefined, MediaRoom.layer, environment)
const set = { ...audio, MAX_LIVE_MEDIA: "2" }
const waiting = (entries: ReadonlyArray<string>) => entries.filter((entry) => entry === "waiting_for_capacity").length

t.test("given MAX_LIVE_MEDIA=2 and three contacts, then the third is dialed as a call ends, and the log says why", async (t) => {
  const seen: Array<unknown> = []
  const { at, details, entries } = await playing(
    3,
    (scene) =>
      steps(
        wait("5 seconds"),
        afterwards(() => seen.push([scene.world.dials.length, scene.media.metrics()])),
        scene.ends(0, "user_busy"),
        wait("1 second")
      ),
    set
  )
  t.match(seen, [[2, { placed: 2, limit: 2, streams: 0 }]])
  t.equal(at.length, 3)
  t.equal(waiting(entries), 1)
  t.match(details, [{ calls_with_audio: 2 }])
})

t.test("given MAX_LIVE_MEDIA=2 and calls without audio, then they are not held back once it is known that they need none", async (t) => {
  const { at, entries } = await playing(9, () => wait("5 seconds"), { ...set, RECORDINGS: "off" })
  t.equal(at.length, 9)
  t.equal(waiting(entries), 0)
})

t.test("given audio that is late for seconds, when calls end, then no calls replace them until it is on time again", async (t) => {
  const { time, turn } = handTurned()
  const seen: Array<readonly [dials: number, limit: number]> = []
  const look = (scene: Scene) => afterwards(() => seen.push([scene.world.dials.length, scene.media.metrics().limit]))
  const speak = (scene: Scene) =>
    afterwards(() => {
      for (let streams = 0; streams < 40; streams++) scene.media.pacer.join(stream)
      turn(3000)
    })
  const end = (scene: Scene, from: number, until: number) =>
    steps(...Array.from({ length: until - from }, (_, index) => scene.ends(from + index, "user_busy")))
  const { at } = await play(
    campaign(60, { ...room, maxConcurrency: 40 }),
    (scene) =>
      steps(
        wait("2 seconds"),
        speak(scene),
        look(scene),
        afterwards(() => turn(4000, 50)),
        look(scene),
        end(scene, 0, 4),
        wait("1 second"),
        look(scene),
        end(scene, 4, 6),
        wait("1 second"),
        look(scene),
        afterwards(() => turn(11_000)),
        wait("1 second"),
        look(scene)
      ),
    undefined,
    MediaRoom.layerPacedBy(time),
    audio
  )
  t.strictSame(seen, [
    [40, Number.POSITIVE_INFINITY],
    [40, 36],
    [40, 36],
    [42, 36],
    [43, 37]
  ])
  t.equal(at.length, 43)
})
