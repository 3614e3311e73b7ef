/** Asterisk, through its REST interface: calls over HTTP, events and audio over websockets that we open. */
import { Effect } from "effect"
import { refusedWords, refusesUrl } from "#core/egress/Egress.ts"
import { defineAdapter, type TrunkContext } from "#core/provider/Adapter.ts"
import * as Credential from "#core/provider/Credential.ts"
import { extensionItem, extensionsOf, mostExtensions } from "#core/telephony/Extensions.ts"
import * as variables from "./AriVariables.ts"
import { openTrunk, unusableTrunk } from "./AriTrunk.ts"
import { notAnAddress, verify } from "./AriVerify.ts"

/** The address of Asterisk's HTTP server; an `/ari` at its end is forgiven. */
const endpointOf = (text: string): URL | undefined => {
  const url = URL.parse(text.trim())
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) return undefined
  url.pathname = withoutSlashes(url.pathname).replace(/\/ari$/, "")
  return url
}

/** At its end. Not by a pattern, which would begin anew at each of a long row of slashes. */
const withoutSlashes = (path: string): string => {
  let end = path.length
  while (path[end - 1] === "/") end--
  return path.slice(0, end)
}

interface AriConfig {
  readonly ari_endpoint: string
  readonly app_name: string
  readonly app_password: string
  readonly dial_string: string
  readonly allow_extensions: ReadonlyArray<string>
  readonly account_code: string
  readonly caller_name: string
  readonly channel_variables: ReadonlyArray<string>
  readonly sip_headers: ReadonlyArray<string>
}

/** Or why there can be no trunk. */
const settingsOf = (config: AriConfig, { configurationId, egress, node }: Pick<TrunkContext, "configurationId" | "egress" | "node">) => {
  const base = endpointOf(config.ari_endpoint)
  if (base === undefined) return "the ARI endpoint is not an http or https URL"
  if (refusesUrl(egress, base)) return refusedWords
  return {
    base,
    user: config.app_name,
    password: config.app_password,
    // With the configuration, because two of them may share a user, and an application has one owner only.
    application: `${config.app_name}.${node}.${configurationId}`,
    dialString: config.dial_string,
    extensions: extensionsOf(config.allow_extensions),
    extras: {
      accountCode: config.account_code,
      callerName: config.caller_name,
      channelVariables: config.channel_variables,
      sipHeaders: config.sip_headers
    }
  }
}

export default defineAdapter({
  manifest: {
    contract: 1,
    provider: "ari",
    displayName: "Asterisk ARI",
    docsUrl: "https://docs.asterisk.org/Configuration/Interfaces/Asterisk-REST-Interface-ARI/",
    callsPerSecond: 30,
    originatesInFlight: 12,
    extensionsField: "allow_extensions"
  },
  fields: {
    ari_endpoint: Credential.address({
      label: "ARI Endpoint",
      description: "Base URL of Asterisk's HTTP server, with its prefix if http.conf sets one",
      placeholder: "http://asterisk.example.com:8088"
    }),
    app_name: Credential.text({ label: "ARI Username", description: "Section name of the ARI user in ari.conf", placeholder: "trunkline" }),
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
        "Numbers of 2 to 8 digits, without a plus, that may be called: one by one (`1000`) or as ranges (`1000-1999`). Ranges cover no number of an emergency service",
      placeholder: "1000-1999",
      pattern: extensionItem,
      most: mostExtensions
    }),
    channel_variables: Credential.optionalList({
      label: "Channel Variables",
      description: "Columns of the contact that are set as channel variables of the same name, in lower case; no others are",
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
      description: "Headers of the INVITE, which begin with X-; {column} becomes what the contact has there. Not with Local/ dial strings",
      placeholder: "X-Customer: {customer_id}",
      pattern: variables.sipHeader,
      most: variables.mostHeaders
    }),
    caller_name: Credential.optionalText({
      label: "Caller Name",
      description: "Name shown beside the caller number",
      placeholder: "",
      pattern: variables.callerName
    })
  },
  connect: Effect.fn("ari.connect")(function* (config, context) {
    const settings = settingsOf(config, context)
    return typeof settings === "string" ? unusableTrunk(context, settings) : yield* openTrunk(settings, context)
  }),
  verify: (config, context) => {
    const settings = settingsOf(config, context)
    return typeof settings === "string" ? notAnAddress(context, settings) : verify(settings, context)
  }
})
