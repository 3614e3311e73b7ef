/** What both routes to the organization's speech and language services show and store. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { find } from "#core/model/ModelConfigurationStore.ts"
import type { TestApi } from "./apiTest.ts"

export const servicesPath = "/user/configurations/user"
export const llm = {
  provider: "openai",
  model: "gpt",
  api_key: ["sk-first-11112222", "sk-other-33334444"],
  own: { temperature: 0.5, a: [null] }
}
export const shownLlm = { ...llm, api_key: ["*************2222", "*************4444"] }
export const noServices = {
  llm: null,
  tts: null,
  stt: null,
  embeddings: null,
  realtime: null,
  is_realtime: false,
  test_phone_number: null,
  timezone: null
}

/** What the database stores for the first organization, unmasked. */
export const storedIn = ({ database, organizationId }: TestApi) =>
  database.run(
    Effect.map(
      SqlClient.SqlClient.use((sql) => find(sql, organizationId)),
      (configuration) => (configuration === undefined ? [] : [{ configuration }])
    )
  )
