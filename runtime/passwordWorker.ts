/** Runs in a worker thread: derives keys from passwords, one after the other. */
import { scryptSync, type ScryptOptions } from "node:crypto"
import { constants, setPriority } from "node:os"
import { parentPort } from "node:worker_threads"

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

/**
 * Where calls need the processor they have it, and a log-in takes longer. Only on Linux does a thread have a priority of its own: elsewhere it
 * would be that of the whole process. https://man7.org/linux/man-pages/man2/setpriority.2.html
 */
if (process.platform === "linux") setPriority(constants.priority.PRIORITY_BELOW_NORMAL)

parentPort?.on("message", ({ bytes, id, options, password, salt }: KeyRequest) => {
  const key = new Uint8Array(scryptSync(password, salt, bytes, options))
  const reply: KeyReply = { id, key }
  parentPort?.postMessage(reply)
})
