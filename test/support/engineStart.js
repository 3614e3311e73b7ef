/** The engine of the tests, built as `npm start` builds the engine. */
import { load } from "#runtime/build.js"

await load("test/support/engineMain.ts")
