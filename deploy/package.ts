/**
 * Builds what the package ships, into `.build/package`: the engine and what adapters import from it, as JavaScript that shares its parts, and the
 * declarations of the latter. npm runs this before it packs (`prepack`). Node strips no types below `node_modules`, so the sources are left out.
 */
import { execFileSync } from "node:child_process"
import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import * as esbuild from "esbuild"
import { consolePages, ensureBuilt, ownSources, workers } from "#runtime/build.js"

const root = fileURLToPath(new URL("..", import.meta.url))
const folder = join(root, ".build/package")
/** `trunkline/adapter` and `trunkline/conformance`. */
const exported = ["adapters/pluginExport.ts", "adapters/conformance/conformance.ts"]

const build = () =>
  esbuild.build({
    absWorkingDir: root,
    entryPoints: ["runtime/trunkline.ts", ...exported, ...workers],
    entryNames: "[name]",
    outdir: folder,
    bundle: true,
    // The engine and its adapters have one contract.
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node22",
    // All of npm stays outside: `effect` exists once for the engine and its adapters.
    packages: "external",
    plugins: [ownSources({ folder, loaded: [...workers, ...exported] })],
    logLevel: "warning"
  })

/** In declarations, `#core/...` and `.ts` mean something only to the compiler of this project. */
const withOwnPaths = (types: string, file: string): string =>
  readFileSync(join(types, file), "utf8").replaceAll(
    /(\bfrom |\bimport\()"(?:#|(?=\.))([^"]+)\.ts"/g,
    (_whole, before: string, path: string) => `${before}"${path.startsWith(".") ? path : below(relative(dirname(file), path))}.js"`
  )
const below = (path: string) => (path.startsWith(".") ? path : `./${path}`)

const declare = () => {
  const types = join(folder, "types")
  const compiler = join(root, "node_modules/typescript/bin/tsc")
  execFileSync(process.execPath, [compiler, "-p", join(root, "deploy/declarations.json")], { stdio: "inherit" })
  for (const file of globSync("**/*.d.ts", { cwd: types })) writeFileSync(join(types, file), withOwnPaths(types, file))
}

rmSync(folder, { recursive: true, force: true })
await build()
ensureBuilt(consolePages)
declare()
