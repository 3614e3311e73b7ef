/** `npm run types`: rewrites the types of the API. They cover the provider configurations of the built-in adapters only. */
import { writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { builtIn } from "#adapters/index.ts"
import { apiRoutes } from "#gateway/api.ts"
import { openApiOf } from "#gateway/openapi/openapi.ts"
import { typesOf } from "#gateway/types/typesOf.ts"

export const typesFile = fileURLToPath(new URL("../../gateway/types/api.ts", import.meta.url))
export const types = () => typesOf(openApiOf(apiRoutes(builtIn), ""))

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(typesFile, types())
