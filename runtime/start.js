/**
 * `npm start`: the engine as a build of its sources. Adapters that were installed beside it share `effect` with the engine, so with them it
 * runs from its sources.
 */
import { existsSync } from "node:fs"
import { load } from "./build.js"

const program = "runtime/main.ts"
const adapters = (process.env["ADAPTERS"] || "ari").split(",").map((name) => name.trim())
const isBuiltIn = (/** @type {string} */ name) => existsSync(new URL(`../adapters/${name}/`, import.meta.url))

const { launch } = adapters.every(isBuiltIn) ? await load(program) : await import("./main.ts")
launch()
