/** The voice of a service that is sent one text a request, and the settings that such voices have in common. */
import { Effect } from "effect"
import type { Egress } from "#core/egress/Egress.ts"
import type { SpeechFormat, TextToSpeech } from "#core/model/TextToSpeech.ts"
import { optionalText } from "#core/provider/Credential.ts"
import { baseUrlField } from "./BaseUrl.ts"
import { connectionTo } from "./ServiceConnection.ts"
import { type SpeechPatience, type SpeechRequest, spokenReply, usualPatience } from "./SpokenReply.ts"

/** Shorter than the time for which most servers and their proxies keep an idle connection. */
const IDLE_MILLIS = 20_000

const phoneSpeech: SpeechFormat = { encoding: "mulaw", rate: 8000 }

const decimal = "^([0-9]+([.][0-9]+)?)?$"

/** `atOnce`: how many requests the service allows an ordinary account at once. */
export const voiceFields = ({ atOnce, baseUrl }: { readonly atOnce: number; readonly baseUrl: string }) =>
  ({
    base_url: baseUrlField(baseUrl),
    speed: optionalText({ label: "Speed", description: "1 is usual. Empty: the service decides.", pattern: decimal }),
    at_once: optionalText({
      label: "Requests at once",
      description: "How many your account may send at a time.",
      default: String(atOnce),
      pattern: "^([1-9][0-9]{0,2})?$"
    })
  }) as const

/** Undefined if it is left to the service. */
export const numberOf = (field: string): number | undefined => (field.trim() === "" ? undefined : Number(field))

interface Hosted {
  /** As in the manifest. */
  readonly provider: string
  readonly voice: string
  readonly model?: string
  readonly format?: SpeechFormat
  readonly config: { readonly base_url: string; readonly at_once: string }
  readonly egress: Egress
  readonly patience?: SpeechPatience
  /** The path follows that of the address. */
  readonly request: (text: string) => SpeechRequest
}

/** A service that does not say a text in the same way twice is taken at its first word: greetings are made once. */
export const hostedVoice = ({
  config,
  egress,
  format = phoneSpeech,
  model,
  patience = usualPatience,
  provider,
  request,
  voice
}: Hosted): TextToSpeech => {
  const base = new URL(config.base_url)
  const connection = connectionTo(base, egress, IDLE_MILLIS)
  const under = base.pathname.replace(/\/+$/, "")
  return {
    provider,
    voice,
    ...(model === undefined ? {} : { model }),
    format,
    isCacheable: true,
    ownsQueue: false,
    atOnce: numberOf(config.at_once) ?? 1,
    warm: Effect.sync(connection.warm),
    speak: (text) => {
      const asked = request(text)
      return spokenReply(connection, patience, { ...asked, path: under + asked.path })
    }
  }
}
