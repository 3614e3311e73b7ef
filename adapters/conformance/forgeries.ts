/** Callbacks that are forged, altered, expired or repeated. The manifest says what a signature covers, which is verified in both directions. */
import type { Callback } from "#core/provider/Callback.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { alteredBodies, atAddress, sentAt, splicedEnd, unsigned, withOtherQuery } from "./altered.ts"
import type { Rule } from "./Case.ts"
import { callbacksOf, conversation, isRejected, mustRead, readAs, someTaken } from "./genuine.ts"
import { demand, NotAsked } from "./Nonconformity.ts"
import type { Scene } from "./Scene.ts"

type Signed = NonNullable<Scene["adapter"]["manifest"]["signs"]>[number]

const signs = ({ adapter }: Scene, what: Signed): boolean => adapter.manifest.signs?.includes(what) === true

const LATER_MILLIS = 86_400_000

/** If the manifest says that this part is signed, all of these must be refused; otherwise one of them must be accepted. */
const holdsTo = (scene: Scene, what: Signed, changed: ReadonlyArray<Callback>): void => {
  if (changed.length === 0) throw new NotAsked(`no callback has ${what === "body" ? "a body" : "such a part"}`)
  const taken = changed.filter((callback) => !isRejected(scene, callback)).length
  if (signs(scene, what)) {
    const seen = () => `${taken} of ${changed.length} changes accepted`
    return demand(taken === 0, `every change of the ${what} to be refused`, seen, "anybody who sees a callback could make up others")
  }
  const why = `what is refused can be relied upon: add \`${what}\` to \`signs\``
  demand(
    taken > 0,
    `a change of the ${what} to be accepted, as the manifest does not say that it is signed`,
    () => "each of them refused",
    why
  )
}

export const forgeries: ReadonlyArray<Rule> = [
  {
    name: "forged: a callback without a signature, or with that of another account, is refused",
    holds: async (scene) => {
      const { callbacks } = await conversation(scene, await scene.engine())
      if ((scene.adapter.manifest.signs ?? []).length === 0) {
        const why = "what is refused can be relied upon: say in `signs` what is signed"
        return demand(someTaken(scene, callbacks.map(unsigned)), "unsigned callbacks to be accepted", () => "each of them refused", why)
      }
      for (const callback of callbacks) {
        demand(
          isRejected(scene, unsigned(callback)),
          `an unsigned callback (${callback.kind}) to be refused`,
          () => "it taken",
          "anybody can send one"
        )
        const isStrange = isRejected(scene, callback, scene.need("wrongConfig"))
        demand(
          isStrange,
          `a callback (${callback.kind}) of another account to be refused`,
          () => "it taken",
          "other customers of the carrier could end calls"
        )
      }
    }
  },
  {
    name: "altered: a changed body is refused if the manifest says that it is signed",
    holds: async (scene) => {
      const { callbacks } = await conversation(scene, await scene.engine())
      holdsTo(scene, "body", callbacks.flatMap(alteredBodies))
    }
  },
  {
    name: "altered: another address is refused if the manifest says that it is signed",
    holds: async (scene) => {
      const engine = await scene.engine()
      const { call, callbacks } = await conversation(scene, engine)
      holdsTo(
        scene,
        "address",
        callbacks.map((callback) => atAddress(callback, engine.door.address("elsewhere", call.callId)))
      )
    }
  },
  {
    name: "altered: another query is refused if the manifest says that it is signed",
    holds: async (scene) => {
      const { callbacks } = await conversation(scene, await scene.engine())
      holdsTo(scene, "query", callbacks.map(withOtherQuery))
    }
  },
  {
    name: "altered: an end that was forged ends no call",
    holds: async (scene) => {
      mustRead(scene)
      const engine = await scene.engine()
      const over = await engine.accepted(scene.number("leaves"))
      const ends = await callbacksOf(scene, engine, over)
      const live = await engine.answered(scene.number("stays"))
      const names = [
        [over.providerCallId ?? "", live.providerCallId ?? ""],
        [over.callId, live.callId],
        [over.to.slice(1), live.to.slice(1)]
      ] as const
      const made = engine.door.of(live).flatMap((callback) => ends.map((end) => splicedEnd({ ...callback, call: live.ref() }, end, names)))
      // If bodies are not signed, a genuine callback proves no more than a forged one.
      const told = [...made, ...(signs(scene, "body") ? [] : ends)].flatMap((callback) => {
        const read = readAs(scene, scene.world.config, callback)
        return typeof read === "string" ? [] : read.events.map(({ event }) => event)
      })
      const isEnd = ({ _tag }: TrunkEvent) => _tag === "HungUp" || _tag === "Billed"
      const why =
        "a nonce or an address does not protect a body: without `body` in `signs`, an end, its time and its cost count only after a look"
      demand(
        !told.some(isEnd),
        "no end and no cost from such a callback",
        () =>
          told
            .filter(isEnd)
            .map(({ _tag }) => _tag)
            .join(", "),
        why
      )
      await engine.hangUp(live)
    }
  },
  {
    name: "expired: an old callback is refused if the manifest says that its time is signed",
    holds: async (scene) => {
      const { callbacks } = await conversation(scene, await scene.engine())
      holdsTo(
        scene,
        "time",
        callbacks.map((callback) => sentAt(callback, callback.at + LATER_MILLIS))
      )
    }
  },
  {
    name: "repeated: a delivery has the same id and nonce again, and no other delivery has them",
    holds: async (scene) => {
      const { callbacks } = await conversation(scene, await scene.engine())
      const idOf = (callback: Callback) => {
        const read = readAs(scene, scene.world.config, callback)
        return typeof read === "string" ? undefined : { id: read.deliveryId, nonce: read.nonce, told: JSON.stringify(read.events) }
      }
      const ids = callbacks.map(idOf)
      const why = "a repeat must change nothing, and what is new must not be taken for a repeat"
      demand(JSON.stringify(ids) === JSON.stringify(callbacks.map(idOf)), "the same id and events each time", () => "others", why)
      for (const [at, one] of ids.entries()) {
        const isNonceKept = (one?.nonce !== undefined) === signs(scene, "nonce")
        demand(isNonceKept, signs(scene, "nonce") ? "a nonce" : "no nonce, as the manifest does not list it", () => `${one?.nonce}`, why)
        const twin = ids.slice(0, at).find((other) => one?.id !== undefined && other?.id === one.id)
        demand(twin === undefined || twin.told === one?.told, "another id for another event", () => `${twin?.told} and ${one?.told}`, why)
      }
    }
  },
  {
    name: "socket: a request for the audio is refused without a signature if the manifest says that it is signed",
    holds: async (scene) => {
      const { media } = scene.adapter
      if (media === undefined) throw new NotAsked("its carrier opens no media sockets")
      const engine = await scene.engine()
      const call = await engine.answered(scene.number("stays"))
      await engine.audio(call)
      const callback = engine.door.media.upgrades.find(({ status }) => status === 101)?.callback
      if (callback === undefined) throw new Error("there is audio without a socket")
      const { config } = scene.world
      const wrongConfig = scene.need("wrongConfig")
      const isStrict = media.admit?.(config, unsigned(callback)) === false && media.admit(wrongConfig, callback) === false
      const why = "anybody who knows the address could listen"
      demand(
        isStrict === signs(scene, "socket"),
        signs(scene, "socket") ? "a refusal" : "no refusal, or `socket` in `signs`",
        () => `${isStrict}`,
        why
      )
      await engine.hangUp(call)
    }
  }
]
