/** Which test files share a process: most take less time than loading what they test. */
import { dirname } from "node:path"
import { alone } from "./namedFiles.ts"

export type Batch = readonly [string, ...ReadonlyArray<string>]

/** Into how many batches the files of a folder are divided. */
const batches: Readonly<Record<string, number>> = {
  "test/adapters": 2,
  "test/core": 2,
  "test/gateway": 4,
  "test/runtime": 5,
  "test/security": 3,
  "test/store": 3
}

/** The batches, ordered by their first files. */
export const batchesOf = (files: ReadonlyArray<string>): ReadonlyArray<Batch> => {
  const found = new Map<string, [string, ...Array<string>]>()
  const turns = new Map<string, number>()
  for (const file of files) {
    const folder = dirname(file)
    const count = alone.includes(file) ? undefined : batches[folder]
    const turn = turns.get(folder) ?? 0
    if (count !== undefined) turns.set(folder, turn + 1)
    const key = count === undefined ? file : `${folder} ${turn % count}`
    const batch = found.get(key)
    if (batch === undefined) found.set(key, [file])
    else batch.push(file)
  }
  return [...found.values()]
}
