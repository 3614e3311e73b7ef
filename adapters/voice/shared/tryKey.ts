/**
 * Tries a key when it is saved: the service is asked for something small that every key may read. Only what counts against the key, the account or the
 * address is a failure; servers that do not know the request say nothing.
 */
import { Effect } from "effect"
import type { Egress } from "#core/egress/Egress.ts"
import type { ModelError } from "#core/model/LanguageModel.ts"
import type { ServiceHost } from "#core/model/ServiceProvider.ts"
import { pathUnder } from "#adapters/shared/HttpClient.ts"
import { timedOut } from "./modelErrors.ts"
import { openConnection } from "./ServiceConnection.ts"
import { wholeReply } from "./wholeReply.ts"

const PATIENCE_MILLIS = 4000

interface Keyed {
  /** Empty for servers that need none. */
  readonly api_key: string
  readonly base_url: string
}
/** The probe of a service whose settings have a key and an address. `path` follows the address. */
export const keyTrial =
  (path: string, headersOf: (key: string) => Readonly<Record<string, string>>, wrongKeyStatus?: number) =>
  ({ api_key, base_url }: Keyed, { egress }: ServiceHost): Effect.Effect<void, ModelError> =>
    tryKey({ baseUrl: base_url, path, headers: headersOf(api_key), egress, ...(wrongKeyStatus === undefined ? {} : { wrongKeyStatus }) })

interface Trial {
  /** The service's address, as configured. */
  readonly baseUrl: string
  /** Follows that of the address. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly egress: Egress
  /** A status that means a wrong key, besides 401. */
  readonly wrongKeyStatus?: number
}

/** A key that may do some things only is a good one. */
const isLimited = ({ message }: ModelError): boolean => /permission|scope/i.test(message)

const counts = (error: ModelError, wrongKeyStatus: number): boolean => {
  const isWrong = [401, wrongKeyStatus].some((status) => error.message.startsWith(`HTTP ${status}`)) && !isLimited(error)
  return isWrong || ["credit", "timeout", "unreachable"].includes(error.reason)
}

export const tryKey = ({ baseUrl, egress, headers, path, wrongKeyStatus = 401 }: Trial): Effect.Effect<void, ModelError> =>
  Effect.scoped(
    Effect.gen(function* () {
      const base = new URL(baseUrl)
      const connection = yield* openConnection(base, egress, PATIENCE_MILLIS)
      const sent = Object.values(headers).join(" ")
      return yield* wholeReply(connection, { path: pathUnder(base, path), headers, body: undefined, sent })
    })
  ).pipe(
    Effect.timeoutOrElse({ duration: PATIENCE_MILLIS, orElse: () => Effect.fail(timedOut("it did not answer")) }),
    Effect.catch((error) => (counts(error, wrongKeyStatus) ? Effect.fail(error) : Effect.void)),
    Effect.asVoid
  )
