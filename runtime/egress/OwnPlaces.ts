/**
 * The engine's own endpoints: the ports it listens on, its database, and its file bucket if that is at an endpoint of the operator's. No
 * organization can make the engine connect to them, whatever else it may reach. This service also knows the addresses of this machine.
 */
import { Clock, Context, Effect, Layer, Schedule } from "effect"
import { lookup } from "node:dns/promises"
import { networkInterfaces } from "node:os"
import { plainAddress } from "#core/egress/IpAddress.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { Config } from "#runtime/config/config.ts"
import { DatabaseServer } from "#runtime/postgres/DatabaseServer.ts"
import { reachOf } from "./reach.ts"

/** How long the addresses of this machine are cached: they can change at any time. */
const INTERFACES_MILLIS = 5_000
const LOOKUP_AGAIN = "1 minute"

export class OwnPlaces extends Context.Service<
  OwnPlaces,
  {
    /** Adds a port on which this process listens. */
    readonly add: (port: number) => void
    /** Whether the address belongs to an interface of this machine. */
    readonly isOfMachine: (address: string) => boolean
    readonly has: (address: string, port: number) => boolean
  }
>()("runtime/egress/OwnPlaces") {
  static readonly layer = Layer.effect(
    OwnPlaces,
    Effect.gen(function* () {
      const { filesUrl, metrics, metricsPort, port } = yield* Config
      const { url: database } = yield* DatabaseServer
      const ofDatabase = yield* addressesOf(database.host)
      const files = filesUrl === undefined ? undefined : placeOf(new URL(filesUrl.base))
      const ofFiles = files === undefined ? () => nowhere : yield* addressesOf(files.host)
      const isOfMachine = ofMachine(yield* Clock.Clock)
      // Each of these addresses reaches whatever listens on all addresses.
      const isHere = (address: string) => isOfMachine(address) || isLoopback(address)
      // Port 0 means any free port, which is added once the engine listens on it.
      const ports = new Set([port, metrics === "local" ? metricsPort : 0].filter((one) => one !== 0))
      return {
        add: (port) => void ports.add(port),
        isOfMachine,
        has: (address, port) => {
          const isLocal = isHere(address)
          if (isLocal && ports.has(port)) return true
          if (
            port === files?.port &&
            reachOf(address) !== "public" &&
            (ofFiles().has(plainAddress(address) ?? "") || (isLocal && [...ofFiles()].some(isHere)))
          )
            return true
          // A private network may have other routes to the database, so its port is off limits at every address that is not public.
          return port === database.port && (isLocal || reachOf(address) !== "public" || ofDatabase().has(plainAddress(address) ?? ""))
        }
      }
    })
  )
}

const nowhere: ReadonlySet<string> = new Set()

const placeOf = ({ hostname, port, protocol }: URL) => ({
  host: hostname.replace(/^\[(.*)\]$/, "$1"),
  port: port === "" ? (protocol === "https:" ? 443 : 80) : Number(port)
})

const isLoopback = (address: string): boolean => /^127\.|^::1$/.test(plainAddress(address) ?? "")

const ofMachine = (clock: Clock.Clock) => {
  let addresses: ReadonlySet<string> = new Set()
  let until = Number.NEGATIVE_INFINITY
  return (address: string): boolean => {
    const now = SteadyTime.nowOf(clock)
    if (now >= until) {
      until = now + INTERFACES_MILLIS
      addresses = new Set(Object.values(networkInterfaces()).flatMap((all = []) => all.map((one) => plainAddress(one.address) ?? "")))
    }
    return addresses.has(plainAddress(address) ?? "")
  }
}

/** The addresses of a host name. Empty until its first lookup has succeeded. */
const addressesOf = Effect.fnUntraced(function* (host: string) {
  let addresses: ReadonlySet<string> = new Set()
  const look = Effect.tryPromise(() => lookup(host, { all: true })).pipe(
    Effect.tap((found) =>
      Effect.sync(() => {
        addresses = new Set(found.map(({ address }) => plainAddress(address) ?? ""))
      })
    ),
    Effect.ignore
  )
  yield* Effect.forkScoped(Effect.repeat(look, Schedule.spaced(LOOKUP_AGAIN)))
  return () => addresses
})
