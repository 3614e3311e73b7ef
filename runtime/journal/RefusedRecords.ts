/** Records of calls whose content the database refuses: one JSON object per line, for the operator. Nothing reads or removes them. */
import { Result } from "effect"
import { appendFileSync, statSync } from "node:fs"
import { join } from "node:path"
import type { AttemptEnd } from "#core/call/Attempt.ts"
import type { CallId } from "#core/Id.ts"

/** Enough to see what is wrong. A fault that affects every call must not fill the disk. */
const MAX_BYTES = 16 * 1024 * 1024

export class RefusedRecords {
  readonly #path: string

  constructor(folder: string) {
    this.#path = join(folder, "refused.jsonl")
  }

  /** False if the record could not be written, or if the file is already full. */
  keep(callId: CallId, end: AttemptEnd): boolean {
    const size = statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0
    if (size > MAX_BYTES) return false
    return Result.isSuccess(Result.try(() => appendFileSync(this.#path, `${JSON.stringify({ callId, ...end })}\n`, { mode: 0o600 })))
  }
}
