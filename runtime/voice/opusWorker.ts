/** Runs in a worker thread: compresses one recording after another, with what processor time nobody else wants. */
import { constants, setPriority } from "node:os"
import { parentPort } from "node:worker_threads"
import { compressRecording } from "./opusRecording.ts"

export interface CompressionRequest {
  readonly wav: string
  readonly opus: string
}
/** The bytes written; undefined when the file is no recording of a call. */
export type CompressionReply = number | undefined

// Of this thread alone, which only Linux can: elsewhere it would be the whole engine's.
if (process.platform === "linux") setPriority(0, constants.priority.PRIORITY_LOW)

parentPort?.on("message", async ({ opus, wav }: CompressionRequest) => {
  parentPort?.postMessage(await compressRecording(wav, opus))
})
