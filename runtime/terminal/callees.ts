/** Who speaks to the agent on a `TerminalLine`: a recording, or whoever is at this machine. */
import { spawn } from "node:child_process"
import { readFile } from "node:fs/promises"
import { frameSize, silence } from "#core/audio/Mulaw.ts"
import type { FramePacer } from "#runtime/voice/FramePacer.ts"
import { makePhoneSound } from "#runtime/voice/PhoneSound.ts"
import { readWav } from "#runtime/voice/Wav.ts"
import { TerminalLine } from "./TerminalLine.ts"

const quiet = new Uint8Array(frameSize).fill(silence)
/** How long the callee of a recording listens after its last word. */
const PATIENCE_FRAMES = 500

export interface Callee {
  readonly line: TerminalLine
  /** Begins to speak. Returns how to stop. */
  readonly begin: (pacer: FramePacer) => () => void
}

/** In whole frames of mu-law. Undefined if the file is no WAV, or silent. */
export const soundOf = async (path: string): Promise<Uint8Array | undefined> => {
  const sound = makePhoneSound()
  return readWav(await readFile(path), sound) ? sound.end() : undefined
}

export const recordedCallee = (sound: Uint8Array): Callee => {
  const line = new TerminalLine()
  const begin = (pacer: FramePacer) => {
    let at = 0
    let listened = 0
    const leave = pacer.join({
      frame: () => {
        const frame = sound.subarray(at, at + frameSize)
        at += frameSize
        if (frame.length === frameSize) return line.hear(frame)
        line.hear(quiet)
        if (++listened === PATIENCE_FRAMES) line.hangUp("ended", "the recording is over")
      },
      skipped: (frames) => {
        for (let frame = 0; frame < frames; frame++) line.hear(quiet)
      },
      failed: () => line.hangUp("failed", "the recording cannot be played")
    })
    return leave
  }
  return { line, begin }
}

const audio = ["-q", "-t", "raw", "-f", "MU_LAW", "-r", "8000", "-c", "1"]

/** By ALSA's `arecord` and `aplay`. `failed` is called once, if one of them cannot be used. */
export const calleeHere = (failed: (why: string) => void): Callee => {
  const speaker = spawn("aplay", audio, { stdio: ["pipe", "ignore", "ignore"] })
  const line = new TerminalLine((frame) => void speaker.stdin.write(frame.slice()))
  const begin = () => {
    const microphone = spawn("arecord", audio, { stdio: ["ignore", "pipe", "ignore"] })
    let rest = Buffer.alloc(0)
    microphone.stdout.on("data", (bytes: Buffer) => {
      rest = Buffer.concat([rest, bytes])
      for (; rest.length >= frameSize; rest = rest.subarray(frameSize)) line.hear(rest.subarray(0, frameSize))
    })
    let isOver = false
    const over = (why: string) => {
      if (isOver) return
      isOver = true
      failed(why)
    }
    for (const [name, program] of [["aplay", speaker] as const, ["arecord", microphone] as const]) {
      program.on("error", () => over(`${name} cannot be run: install alsa-utils, or give a recording with --wav`))
      program.on("exit", (code) => over(`${name} has ended with ${code}: there may be no sound device here; give a recording with --wav`))
    }
    speaker.stdin.on("error", () => {})
    return () => {
      isOver = true
      microphone.kill()
      speaker.kill()
    }
  }
  return { line, begin }
}
