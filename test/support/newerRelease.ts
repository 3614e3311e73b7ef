/** A newer release of the engine in its own folder: the same program with additional migrations. */
import { cp, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Test } from "tap"
import { ensureBuilt } from "#runtime/build.js"
import { temporaryFolder } from "./dataFolder.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
// Includes the build, because building it again would yield the same.
const parts = [".build/engineMain", "adapters", "core", "gateway", "runtime", "test/support", "package.json", "tsconfig.json"]

/** Returns its folder. `migrations` has the text of each by the name of its file. */
export const newerRelease = async (t: Test, migrations: Readonly<Record<string, string>>): Promise<string> => {
  ensureBuilt("test/support/engineMain.ts")
  const folder = temporaryFolder(t)
  for (const part of parts) await cp(join(root, part), join(folder, part), { recursive: true })
  await symlink(join(root, "node_modules"), join(folder, "node_modules"))
  for (const [file, text] of Object.entries(migrations)) await writeFile(join(folder, "core/migrations", file), text)
  return folder
}
