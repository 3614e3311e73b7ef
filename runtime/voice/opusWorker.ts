/** Runs in a worker thread: compresses one recording after another, at the lowest priority. */
import { parentPort } from "node:worker_threads"
import { stepBack } from "#runtime/process/ownPriority.ts"
import { compressRecording } from "./opusRecording.ts"

export interface CompressionRequest {
  readonly wav: string
  readonly opus: string
}
/** The number of bytes written; undefined if the file is not a recording of a call. */
export type CompressionReply = number | undefined

stepBack(19)

parentPort?.on("message", async ({ opus, wav }: CompressionRequest) => {
  parentPort?.postMessage(await compressRecording(wav, opus))
})
