/** Tests that the model does what every language model must do, against Acme on this machine. */
import { test } from "node:test"
import { lookup } from "node:dns"
import { languageModelConformance, type ModelWorld, type ScriptedAnswer } from "trunkline/conformance"
import acme from "language-model-acme"
import { AcmeMinds } from "./AcmeMinds.ts"

const piecesOf = ({ call, hangs, text }: ScriptedAnswer): ReadonlyArray<object> => [
  ...(text === undefined ? [] : [{ say: text }]),
  ...(call === undefined ? [] : [{ call: call.name, arguments: call.arguments }]),
  ...(hangs === true ? [] : [{ end: "stop" }])
]

const openWorld = async (): Promise<ModelWorld> => {
  const minds = await AcmeMinds.start()
  const config = { api_key: minds.key, base_url: minds.url }
  return {
    config,
    egress: { refuses: () => false, lookup: () => lookup, maySendTo: () => true },
    script: (answer) => minds.script({ pieces: piecesOf(answer), hangs: answer.hangs === true }),
    wrongConfig: { ...config, api_key: "key-of-a-stranger" },
    givenUp: () => minds.givenUp(),
    close: () => minds.stop()
  }
}

for (const { name, run } of languageModelConformance(acme, openWorld)) {
  test(name, async (t) => {
    const { notAsked } = await run()
    if (notAsked !== undefined) t.diagnostic(`not asked: ${notAsked}`)
  })
}
