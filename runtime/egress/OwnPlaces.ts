/**
 * What belongs to the engine itself and to nobody else: the ports it listens on, its database, the addresses of its machine. Whatever an
 * organization may reach, it never gets the engine to connect to these.
 */
import { Clock, Context, Effect, Layer, Schedule } from "effect"
import { lookup } from "node:dns/promises"
import { networkInterfaces } from "node:os"
import { plainAddress, reachOf } from "#core/egress/IpAddress.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { Config } from "#runtime/config/config.ts"
import { DatabasePlace } from "#runtime/postgres/postgres.ts"

/** Addresses of this machine come and go. */
const INTERFACES_MILLIS = 5_000
const LOOKUP_AGAIN = "1 minute"

export class OwnPlaces extends Context.Service<
  OwnPlaces,
  {
    /** A port that this process listens on. */
    readonly add: (port: number) => void
    /** Whether the address is one of this machine's, loopback aside. */
    readonly isOfMachine: (address: string) => boolean
    readonly has: (address: string, port: number) => boolean
  }
>()("runtime/egress/OwnPlaces") {
  static readonly layer = Layer.effect(
    OwnPlaces,
    Effect.gen(function* () {
      const { metrics, metricsPort, port } = yield* Config
      const database = yield* DatabasePlace
      const ofDatabase = yield* addressesOf(database.host)
      const isOfMachine = ofMachine(yield* Clock.Clock)
      // Those that are free ones are known once somebody listens.
      const ports = new Set([port, metrics === "local" ? metricsPort : 0].filter((one) => one !== 0))
      return {
        add: (port) => void ports.add(port),
        isOfMachine,
        has: (address, port) => {
          const isLocal = isOfMachine(address) || isLoopback(address)
          if (isLocal && ports.has(port)) return true
          // Names of private networks may lead to it in ways that we do not know of: nothing inside is asked at that port.
          return port === database.port && (isLocal || reachOf(address) !== "public" || ofDatabase().has(plainAddress(address) ?? ""))
        }
      }
    })
  )
}

const isLoopback = (address: string): boolean => /^127\.|^::1$/.test(plainAddress(address) ?? "")

const ofMachine = (clock: Clock.Clock) => {
  let known: ReadonlySet<string> = new Set()
  let until = Number.NEGATIVE_INFINITY
  return (address: string): boolean => {
    const now = SteadyTime.nowOf(clock)
    if (now >= until) {
      until = now + INTERFACES_MILLIS
      known = new Set(Object.values(networkInterfaces()).flatMap((all = []) => all.map((one) => plainAddress(one.address) ?? "")))
    }
    return known.has(plainAddress(address) ?? "")
  }
}

/** What the name of the database leads to, as far as is known by now. */
const addressesOf = Effect.fnUntraced(function* (host: string) {
  let known: ReadonlySet<string> = new Set()
  const look = Effect.tryPromise(() => lookup(host, { all: true })).pipe(
    Effect.tap((found) =>
      Effect.sync(() => {
        known = new Set(found.map(({ address }) => plainAddress(address) ?? ""))
      })
    ),
    Effect.ignore
  )
  yield* Effect.forkScoped(Effect.repeat(look, Schedule.spaced(LOOKUP_AGAIN)))
  return () => known
})
