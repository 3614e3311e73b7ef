/** The settings of the addresses at which others reach the engine. */
import { Schema } from "effect"
import { mapped, optional, required, text, url } from "./Variable.ts"

const publicAddress = mapped(url("http:", "https:").check(Schema.isPattern(/^[^?#]*$/)), Schema.String, (value) =>
  value.replace(/\/+$/, "")
)

export const addressVariables = {
  publicUrl: optional(publicAddress, {
    name: "PUBLIC_URL",
    description:
      "URL at which clients and providers reach the API; upload and callback URLs start with it. Default: made from `HOST` and `PORT`.",
    allowed: "an http:// or https:// address without query"
  }),
  mediaUrl: optional(publicAddress, {
    name: "MEDIA_URL",
    description:
      "URL at which hosted carriers open websockets for the audio of this engine's calls, if not `PUBLIC_URL`. With one for each of [several engines](#several-engines), which leads to its own `PORT`, no audio passes through the one that decides.",
    allowed: "an http:// or https:// address without query"
  }),
  publicUrlCheck: required(
    mapped(text(/^(on|off)$/), Schema.Boolean, (value) => value === "on"),
    {
      name: "PUBLIC_URL_CHECK",
      default: "on",
      description:
        "Whether an engine with hosted carriers first checks that `PUBLIC_URL` and `MEDIA_URL` lead to it, and dials nothing while they do not: `on`, or `off` if carriers can reach them but this machine cannot.",
      allowed: "on or off"
    }
  )
}
