/**
 * `npm start`: runs a build of the engine. Adapters and services that are installed beside the engine share `effect` with it, so with any of them it
 * runs from its sources.
 */
import { existsSync } from "node:fs"
import { consolePages, ensureBuilt, load } from "./build.js"
import { keepCode } from "./builtProgram.js"

const program = "runtime/main.ts"
const adapters = (process.env["ADAPTERS"] ?? "").split(",").map((name) => name.trim())
// Without a name, all are.
const isBuiltIn = (/** @type {string} */ name) => existsSync(new URL(`../adapters/${name}/`, import.meta.url))

const hasServices = (process.env["SERVICES"] ?? "").trim() !== ""

ensureBuilt(consolePages)
const { launch } = !hasServices && adapters.every(isBuiltIn) ? await load(program) : await import("./main.ts")
launch({ onReady: keepCode })
