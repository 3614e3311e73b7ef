/** The engine of the tests, built as `npm start` builds the engine; `engineStart.js FILE` runs a build that is known to be up to date. */
import { load, loadBuilt } from "#runtime/build.js"

const [built] = process.argv.slice(2)
await (built === undefined ? load("test/support/engineMain.ts") : loadBuilt(built))
