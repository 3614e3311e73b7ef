/** Runs in a worker thread: derives keys from passwords, one after another. */
import { scryptSync, type ScryptOptions } from "node:crypto"
import { parentPort } from "node:worker_threads"
import { stepBack } from "#runtime/process/ownPriority.ts"

export interface KeyRequest {
  readonly id: number
  readonly password: string
  readonly salt: Uint8Array
  readonly bytes: number
  readonly options: ScryptOptions
}
export interface KeyReply {
  readonly id: number
  readonly key: Uint8Array
}

// On a busy machine calls come first, and a log-in takes longer.
stepBack(10)

parentPort?.on("message", ({ bytes, id, options, password, salt }: KeyRequest) => {
  const key = new Uint8Array(scryptSync(password, salt, bytes, options))
  const reply: KeyReply = { id, key }
  parentPort?.postMessage(reply)
})
