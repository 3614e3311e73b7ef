/** A long text that stays the same for as long as the process runs, such as a script of the documentation page: compressed once, for all who ask. */
import { Effect } from "effect"
import { setImmediate as nextTurn } from "node:timers/promises"
import { promisify } from "node:util"
import { gzip } from "node:zlib"

export class Lasting {
  readonly plain: Uint8Array
  readonly gzipped: Uint8Array

  constructor(plain: Uint8Array, gzipped: Uint8Array) {
    this.plain = plain
    this.gzipped = gzipped
  }
}

const compress = promisify(gzip)

/** Reads the text when it is first asked for. A failure is a defect, and the next one who asks tries again. */
export const lasting = (read: () => Promise<string | Uint8Array>): Effect.Effect<Lasting> => {
  let made: Lasting | undefined
  let making: Promise<Lasting> | undefined
  const make = async () => {
    try {
      const plain = Buffer.from(await read())
      made = new Lasting(plain, await compress(plain))
      return made
    } finally {
      making = undefined
    }
  }
  return Effect.suspend(() => (made === undefined ? Effect.promise(() => (making ??= make())) : Effect.succeed(made)))
}

const SLICE_MILLIS = 2

/** Takes the steps over as many turns of the event loop as it needs to hold nobody up. */
export const inTurns = async <A>(steps: Generator<undefined, A>): Promise<A> => {
  for (;;) {
    const until = performance.now() + SLICE_MILLIS
    do {
      const step = steps.next()
      if (step.done === true) return step.value
    } while (performance.now() < until)
    await nextTurn()
  }
}

/** Whether an `Accept-Encoding` header takes gzip. */
export const takesGzip = (header: string | undefined): boolean =>
  (header ?? "").split(",").some((coding) => /^\s*(?:x-)?gzip\s*(?:;\s*q\s*=\s*(?:1(?:\.0*)?|0?\.0*[1-9]\d*)\s*)?$/i.test(coding))
