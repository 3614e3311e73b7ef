/** What shows an answer: each way that the manifest lists, when nothing is heard of the others, and none that it does not list. */
import type { Rule } from "./Case.ts"
import { demand, NotAsked } from "./Nonconformity.ts"
import type { Scene } from "./Scene.ts"

const ways = ["event", "document", "media"] as const
type Way = (typeof ways)[number]

const words: Readonly<Record<Way, string>> = {
  event: "a report",
  document: "the request for its document",
  media: "the start of its audio"
}

const shows = (way: Way) => async (scene: Scene) => {
  const { adapter } = scene
  if (adapter.media === undefined) throw new NotAsked("its carrier does not connect to the engine")
  const engine = await scene.engine()
  engine.door.deafTo = (["event", "document"] as const).filter((other) => other !== way)
  engine.door.media.isDeaf = way !== "media"
  const call = await engine.accepted(scene.number("stays"))
  if (adapter.manifest.answers?.includes(way) ?? way === "event")
    return await engine.told(call, "Answered", `the manifest says that ${words[way]} shows it, and the callee would wait for the agent`)
  // By now, everything that could show it has happened.
  await engine.audio(call)
  const why = `if ${words[way]} shows it, add \`${way}\` to \`answers\`; otherwise an agent might talk to a phone that rings`
  demand(!call.has("Answered"), "no answer to be reported", () => call.story(), why)
}

export const answers: ReadonlyArray<Rule> = ways.map((way) => ({
  name: `answer: ${words[way]} shows it exactly if the manifest says so`,
  holds: shows(way)
}))
