/** Asterisk through its REST interface: calls over HTTP; events and audio over WebSockets that we open. */
import { Effect } from "effect"
import { refusedWords, refusesUrl } from "#core/egress/Egress.ts"
import { defineAdapter, type TrunkContext } from "#core/provider/Adapter.ts"
import * as Credential from "#core/provider/Credential.ts"
import { extensionItem, extensionsOf, mostExtensions } from "#core/telephony/Extensions.ts"
import { contextName, dialplanOf, extensionName, priorityNumber } from "./DialplanPlace.ts"
import type { EndpointSettings } from "./AriEndpoint.ts"
import { openEndpoints } from "./AriEndpoints.ts"
import * as variables from "./AriVariables.ts"
import { openTrunk, unusableTrunk } from "./AriTrunk.ts"
import { notAnAddress, verifyAll } from "./AriVerify.ts"
import { nameOf } from "./Asterisk.ts"

/** The URL of Asterisk's HTTP server; a trailing `/ari` is accepted and dropped. */
const endpointOf = (text: string): URL | undefined => {
  const url = URL.parse(text.trim())
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) return undefined
  url.pathname = withoutSlashes(url.pathname).replace(/\/ari$/, "")
  return url
}

/** Removes trailing slashes. A regular expression would take quadratic time on a long run of slashes. */
const withoutSlashes = (path: string): string => {
  let end = path.length
  while (path[end - 1] === "/") end--
  return path.slice(0, end)
}

/** May be empty: no transfers. */
const dialTemplate = "^([A-Za-z0-9]{1,20}/[!-~]{0,200}[{](number|digits)[}][!-~]{0,200})?$"

interface AriConfig {
  readonly ari_endpoint: string
  readonly ari_endpoints: ReadonlyArray<string>
  readonly app_name: string
  readonly app_password: string
  readonly dial_string: string
  readonly allow_extensions: ReadonlyArray<string>
  readonly context: string
  readonly extension: string
  readonly priority: string
  readonly account_code: string
  readonly caller_name: string
  readonly transfer_dial_string: string
  readonly transfer_context: string
  readonly channel_variables: ReadonlyArray<string>
  readonly sip_headers: ReadonlyArray<string>
}

/** Returns the settings of each endpoint, or why there can be no trunk. */
const settingsOf = (config: AriConfig, { configurationId, egress, node }: Pick<TrunkContext, "configurationId" | "egress" | "node">) => {
  const weights = weightsOf(config)
  if (weights === undefined) return "an ARI endpoint is not an http or https URL, or too long"
  if (weights.some(({ base }) => refusesUrl(egress, base))) return refusedWords
  const common = {
    user: config.app_name,
    password: config.app_password,
    // Includes the configuration, because two configurations may share a user, and an application has only one owner.
    application: `${config.app_name}.${node}.${configurationId}`,
    dialString: config.dial_string,
    extensions: extensionsOf(config.allow_extensions),
    dialplan: dialplanOf(config.context, config.extension, config.priority),
    transfers: { dialString: config.transfer_dial_string, context: config.transfer_context },
    extras: {
      accountCode: config.account_code,
      callerName: config.caller_name,
      channelVariables: config.channel_variables,
      sipHeaders: config.sip_headers
    }
  }
  return weights.map(({ base, weight }): EndpointSettings => ({ settings: { base, ...common }, weight }))
}

/** The endpoints without duplicates, with their weights. Undefined: one of them is not a valid address. */
const weightsOf = ({ ari_endpoint, ari_endpoints }: Pick<AriConfig, "ari_endpoint" | "ari_endpoints">) => {
  const weights = new Map<string, { readonly base: URL; readonly weight: number }>()
  for (const item of [ari_endpoint, ...ari_endpoints]) {
    const [address = "", word = "weight=1"] = item.trim().split(/\s+/)
    const base = endpointOf(address)
    if (base === undefined || nameOf(base).length > longestName) return undefined
    // A later mention overrides an earlier one, so listing `ari_endpoint` again gives it another weight than 1.
    weights.set(nameOf(base), { base, weight: Number(word.slice("weight=".length)) })
  }
  return [...weights.values()]
}

/** The form of an item of `ari_endpoints`. */
const addressAndWeight = "^https?://[!-?A-~]{1,250}( weight=(0|[1-9][0-9]{0,2}))?$"
const mostEndpoints = 7
/** The name is stored with each attempt. */
const longestName = 300

export default defineAdapter({
  manifest: {
    contract: 2,
    provider: "ari",
    displayName: "Asterisk ARI",
    docsUrl: "https://docs.asterisk.org/Configuration/Interfaces/Asterisk-REST-Interface-ARI/",
    callsPerSecond: 30,
    originatesInFlight: 12,
    tells: ["ringing", "keys", "marks", "joined", "declined", "unnamed"],
    transfers: ["attended", "blind"],
    extensionsField: "allow_extensions"
  },
  fields: {
    ari_endpoint: Credential.address({
      label: "ARI Endpoint",
      description: "Base URL of Asterisk's HTTP server, with its prefix if http.conf sets one",
      placeholder: "http://asterisk.example.com:8088"
    }),
    ari_endpoints: Credential.optionalAddresses({
      label: "More ARI Endpoints",
      description:
        "Further Asterisks with the same ARI user, each with its share of the calls: 1 for `ari_endpoint` unless it is listed as well, 0 for no new calls",
      placeholder: "http://asterisk2.example.com:8088 weight=1",
      pattern: addressAndWeight,
      most: mostEndpoints
    }),
    app_name: {
      ...Credential.text({ label: "ARI Username", description: "Section name of the ARI user in ari.conf", placeholder: "trunkline" }),
      normal: "trimmed"
    },
    app_password: Credential.secret({ label: "ARI Password", description: "Password of that user" }),
    ws_client_name: Credential.optionalText({
      label: "websocket_client.conf Name",
      description: "Not needed: audio runs over a websocket that the engine opens to Asterisk",
      placeholder: ""
    }),
    from_numbers: Credential.optionalList({ label: "From Extensions", description: "Caller ids to show", placeholder: "+15550100" }),
    dial_string: Credential.optionalText({
      label: "Dial String",
      description: "How a number is dialed: {number} becomes the number with its plus, {digits} the number without",
      placeholder: "PJSIP/{number}@trunk",
      default: "PJSIP/{number}@trunk"
    }),
    allow_extensions: Credential.optionalList({
      label: "Extensions",
      description:
        "Numbers of 2 to 8 digits, without a plus, that may be called: one by one (`1000`) or as ranges (`1000-1999`). Ranges never cover numbers of emergency services",
      placeholder: "1000-1999",
      pattern: extensionItem,
      most: mostExtensions
    }),
    context: Credential.optionalText({
      label: "Context",
      description: "Dialplan context that answered calls run through before it hands them over. If omitted, they are handed over at once",
      placeholder: "trunkline-answered",
      pattern: contextName
    }),
    extension: Credential.optionalText({
      label: "Extension",
      description: "Extension at which they enter that context; {number} and {digits} as in the dial string",
      placeholder: "{number}",
      default: "{number}",
      pattern: extensionName
    }),
    priority: Credential.optionalText({
      label: "Priority",
      description: "Priority at which they enter that context",
      placeholder: "1",
      default: "1",
      pattern: priorityNumber
    }),
    channel_variables: Credential.optionalList({
      label: "Channel Variables",
      description: "Contact columns that are set as channel variables of the same name, in lower case; other columns are not sent",
      placeholder: "customer_id",
      pattern: variables.variableName,
      most: variables.mostVariables
    }),
    account_code: Credential.optionalText({
      label: "Account Code",
      description: "Account code of the channel, for call records and billing",
      placeholder: "",
      pattern: variables.accountCode
    }),
    sip_headers: Credential.optionalList({
      label: "SIP Headers",
      description: "Headers of the INVITE, beginning with X-; {column} becomes the contact's value. Not with Local/ dial strings",
      placeholder: "X-Customer: {customer_id}",
      pattern: variables.sipHeader,
      most: variables.mostHeaders
    }),
    caller_name: Credential.optionalText({
      label: "Caller Name",
      description: "Name shown beside the caller number",
      placeholder: "",
      pattern: variables.callerName
    }),
    transfer_dial_string: Credential.optionalText({
      label: "Transfer Dial String",
      description:
        "How the destination of an attended transfer is dialed, with {number} or {digits}, such as Local/{digits}@from-internal for extensions and queues. If omitted, there are no attended transfers",
      placeholder: "PJSIP/{number}@trunk",
      pattern: dialTemplate
    }),
    transfer_context: Credential.optionalText({
      label: "Transfer Context",
      description:
        "Dialplan context where blind transfers continue, with the destination as the extension. If omitted, there are no blind transfers",
      placeholder: "from-internal",
      pattern: contextName
    })
  },
  connect: Effect.fn("ari.connect")(function* (config, context) {
    const settings = settingsOf(config, context)
    if (typeof settings === "string") return unusableTrunk(context, settings)
    const [only, second] = settings
    return only !== undefined && second === undefined ? yield* openTrunk(only.settings, context) : yield* openEndpoints(settings, context)
  }),
  verify: (config, context) => {
    const settings = settingsOf(config, context)
    return typeof settings === "string" ? notAnAddress(context, settings) : verifyAll(settings, context)
  }
})
