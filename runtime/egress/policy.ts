/** The policy for connections that the engine opens on behalf of organizations: see core/egress/Egress.ts. */
import { Effect, FiberSet, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { BlockList } from "node:net"
import { canonicalAddress, familyOf, plainAddress } from "#core/egress/IpAddress.ts"
import { type Egress, EgressPolicy, type Lookup, refusedCode, refusedWords } from "#core/egress/Egress.ts"
import type { OrganizationId } from "#core/Id.ts"
import type { Network } from "#core/egress/Network.ts"
import { firstOrganization } from "#core/organization/InstallationStore.ts"
import { CurrentTenant } from "#core/organization/CurrentTenant.ts"
import { Config } from "#runtime/config/config.ts"
import { Intake } from "./Intake.ts"
import { OwnPlaces } from "./OwnPlaces.ts"
import { blockListOf, reachOf } from "./reach.ts"
import { askThisMachine, type Resolve, Resolver } from "./Resolver.ts"

interface Rules {
  /** The additional networks that the operator has allowed. */
  readonly allowed: BlockList
  /** Whether this machine and private networks are allowed. */
  readonly inside: boolean
  readonly own: OwnPlaces["Service"]
  readonly resolve: Resolve
  /** Whether an unknown name is reported as such. Otherwise it is refused like a name with refused addresses, so as not to reveal our network's names. */
  readonly tellsUnknownNames: boolean
}

const isLocalhost = /(^|\.)localhost\.?$/i
const isInsideName = /(^|\.)(local|internal)\.?$/i
const unresolved: ReadonlyArray<string | undefined> = ["ENOTFOUND", "ENODATA", "EAI_AGAIN", "ETIMEDOUT"]
const refused = () => Object.assign(new Error(refusedWords), { code: refusedCode })

const egressOf = ({ allowed, inside, own, resolve, tellsUnknownNames }: Rules): Egress => {
  const isAdded = (address: string): boolean => {
    const plain = plainAddress(address) ?? ""
    return allowed.check(plain, familyOf(plain))
  }
  const maySendTo = (address: string): boolean => {
    const reach = reachOf(address)
    if (reach === "never") return false
    // A connection from here to a public address of this machine bypasses any firewall in front of it.
    if (reach === "public" && !own.isOfMachine(address)) return true
    return (inside && reach !== "special") || isAdded(address)
  }
  const mayConnect = (address: string, port: number): boolean => maySendTo(address) && !own.has(address, port)
  const lookup =
    (port: number): Lookup =>
    (hostname, options, done) => {
      resolve(hostname, { all: true }, (error, found) => {
        const isUniform = !tellsUnknownNames && unresolved.includes(error?.code)
        if (error !== null) return done(isUniform ? refused() : error, [])
        const may = found.filter(({ address }) => mayConnect(address, port))
        const [first] = may
        if (first === undefined) return done(refused(), [])
        return options.all === true ? done(null, may) : done(null, first.address, first.family)
      })
    }
  return {
    maySendTo,
    lookup,
    refuses: (host, port) => {
      if (canonicalAddress(host) !== undefined || host.includes(":")) return !mayConnect(host, port)
      if (isLocalhost.test(host)) return !mayConnect("127.0.0.1", port) && !mayConnect("::1", port)
      return isInsideName.test(host) && !inside && allowed.rules.length === 0
    }
  }
}

/**
 * The installation's first organization. It never changes, so once there is one, the database is not asked again. The query runs as the engine,
 * because a request sees only its own organization.
 */
const rememberedFirst = (sql: SqlClient.SqlClient) => {
  let known: OrganizationId | undefined
  const ask = firstOrganization(sql).pipe(
    Effect.tap((id) =>
      Effect.sync(() => {
        known = id
      })
    ),
    Effect.orDie,
    Effect.provideService(CurrentTenant, undefined)
  )
  return Effect.suspend(() => (known === undefined ? ask : Effect.succeed(known)))
}

const heldBack = (organizationId: OrganizationId) =>
  Effect.annotateLogs(
    Effect.logWarning("an organization's servers send more than its share of the thread can take: it is read more slowly"),
    {
      organizationId
    }
  )

interface Installation {
  /** The additional networks that the operator has allowed. */
  readonly allow: ReadonlyArray<Network>
  readonly privateWebhooks: boolean
  /** The first organization; undefined while there is none. */
  readonly first: Effect.Effect<OrganizationId | undefined>
}

export const layerOf = ({ allow, first, privateWebhooks }: Installation) =>
  Layer.effect(
    EgressPolicy,
    Effect.gen(function* () {
      const own = yield* OwnPlaces
      const ofStrangers = yield* Resolver
      const ofOurs = askThisMachine()
      const allowed = blockListOf(allow)
      const strangers = egressOf({ allowed, inside: false, own, resolve: ofStrangers, tellsUnknownNames: false })
      const ours = egressOf({ allowed, inside: true, own, resolve: ofOurs, tellsUnknownNames: true })
      const resolve = privateWebhooks ? ofOurs : ofStrangers
      const run = yield* FiberSet.makeRuntime()
      const intake = new Intake<OrganizationId>({ report: (organizationId) => void run(heldBack(organizationId)) })
      return {
        webhooks: egressOf({ allowed, inside: privateWebhooks, own, resolve, tellsUnknownNames: privateWebhooks }),
        trunksOf: (organizationId) =>
          Effect.map(first, (id) => ({
            ...(id === organizationId ? ours : strangers),
            pace: (socket, kind) => intake.pace(organizationId, socket, kind)
          }))
      }
    })
  )

export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const { egressAllow, webhookPrivateTargets } = yield* Config
    const first = rememberedFirst(yield* SqlClient.SqlClient)
    return layerOf({ allow: egressAllow ?? [], first, privateWebhooks: webhookPrivateTargets })
  })
)
