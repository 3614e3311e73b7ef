/**
 * Writes the types of the API, `trunkline/api`, into `.build`. npm runs this before it packs (`prepack`): they follow from the routes, so
 * they are not kept beside them. Of the providers' configurations they have those of the built-in adapters.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { fileURLToPath } from "node:url"
import { builtIn } from "#adapters/builtIn.ts"
import { apiRoutes } from "#gateway/api.ts"
import { openApiOf } from "#gateway/openapi/openapi.ts"
import { typesOf } from "#gateway/openapi/typesOf.ts"

const target = fileURLToPath(new URL("../.build/api.d.ts", import.meta.url))
mkdirSync(dirname(target), { recursive: true })
writeFileSync(target, typesOf(openApiOf(apiRoutes(builtIn), "")))
