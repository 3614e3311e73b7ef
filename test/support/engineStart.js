/** The engine of the tests, built as `npm start` builds the engine; `engineStart.js FILE` runs a build that is known to be up to date. */
import { load } from "#runtime/build.js"
import { keepCode, runBuilt } from "#runtime/builtProgram.js"

const [built] = process.argv.slice(2)
/** @type {typeof import("./engineMain.ts")} */
const { start } = built === undefined ? await load("test/support/engineMain.ts") : runBuilt(built)
start(keepCode)
