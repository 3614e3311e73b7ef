/** The engine's side of one process that recognizes speech. It is started for an utterance, also after it has died, and handles several at a time. */
import { type ChildProcess, fork } from "node:child_process"
import { fileURLToPath } from "node:url"
import { Effect, Schema } from "effect"
import type { Jsgf } from "./Grammar.ts"
import type { SphinxFiles } from "./SphinxFiles.ts"
import type { NumberedReply, SphinxMessage, SphinxReply } from "./sphinxWorker.ts"

const meanings = {
  Busy: "too many utterances are waiting to be recognized",
  TimedOut: "it took too long to recognize",
  Crashed: "the process that recognizes speech has ended",
  Closed: "the engine is stopping"
} as const

export class NotRecognized extends Schema.TaggedError<NotRecognized>()("NotRecognized", {
  reason: Schema.Literals(["Busy", "TimedOut", "Crashed", "Closed"])
}) {
  override get message(): string {
    return meanings[this.reason]
  }
}

/** An utterance that a process works on. It occupies a decoder until it is answered or given up. */
export interface SphinxUtterance {
  /** 8 kHz mu-law. False: the process is far behind, or gone. */
  readonly hear: (audio: Uint8Array) => boolean
  /** Ends the utterance and waits for its answer. To be run once; an interruption gives the utterance up. */
  readonly answer: Effect.Effect<SphinxReply, NotRecognized>
  readonly giveUp: () => void
}

export interface SphinxProcess {
  /** `isWhole`: all of its audio follows at once. */
  readonly begin: (grammar: Jsgf, isWhole: boolean) => SphinxUtterance
  /** How many utterances the process works on. */
  readonly count: () => number
  readonly start: Effect.Effect<void>
  readonly stop: Effect.Effect<void>
  /** Undefined while it is not running. */
  readonly pid: () => number | undefined
}

/** A process from its start to its end. */
interface Life {
  readonly child: ChildProcess
  readonly utterances: Map<number, Told>
  isOver: boolean
}
/** Called once, with the reply, or with undefined if there will be none. */
type Told = (reply: SphinxReply | undefined) => void

const program = new URL("./sphinxWorker.ts", import.meta.url)

const startChild = (files: SphinxFiles): ChildProcess => {
  // Without the environment, which holds secrets, and without output: PocketSphinx prints grammars that it cannot read.
  const child = fork(fileURLToPath(program), [JSON.stringify(files)], {
    env: {},
    execArgv: ["--max-semi-space-size=1"],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc"]
  })
  child.unref()
  child.channel?.unref()
  return child
}

const live = (files: SphinxFiles, ended: (life: Life) => void): Life => {
  const life: Life = { child: startChild(files), utterances: new Map(), isOver: false }
  const over = () => {
    life.isOver = true
    ended(life)
    const left = [...life.utterances.values()]
    life.utterances.clear()
    for (const told of left) told(undefined)
  }
  // Without a listener, a failure to start would end the engine.
  life.child.on("error", over).on("exit", over)
  life.child.on("message", ({ id, ...reply }: NumberedReply) => {
    const told = life.utterances.get(id)
    life.utterances.delete(id)
    told?.(reply)
  })
  return life
}

const nobody: Told = () => {}

const utteranceOf = (life: Life, id: number): SphinxUtterance => {
  // A failure to send is ignored: the exit event reports the end of the process.
  const send = (message: SphinxMessage): boolean => !life.isOver && life.child.send(message, () => {})
  const giveUp = () => {
    if (life.utterances.delete(id)) send({ _tag: "GiveUp", id })
  }
  return {
    hear: (audio) => send({ _tag: "Hear", id, audio }),
    answer: Effect.callback<SphinxReply, NotRecognized>((resume) => {
      const told: Told = (reply) =>
        resume(reply === undefined ? Effect.fail(new NotRecognized({ reason: "Crashed" })) : Effect.succeed(reply))
      if (!life.utterances.has(id)) return told(undefined)
      life.utterances.set(id, told)
      send({ _tag: "Close", id })
      return Effect.sync(giveUp)
    }),
    giveUp
  }
}

export const makeSphinxProcess = (files: SphinxFiles): SphinxProcess => {
  let present: Life | undefined
  let count = 0
  const started = (): Life => {
    present ??= live(files, (life) => {
      if (present === life) present = undefined
    })
    return present
  }
  return {
    begin: (grammar, isWhole) => {
      const life = started()
      const id = ++count
      life.utterances.set(id, nobody)
      life.child.send({ _tag: "Begin", id, grammar, isWhole } satisfies SphinxMessage, () => {})
      return utteranceOf(life, id)
    },
    count: () => present?.utterances.size ?? 0,
    start: Effect.sync(() => void started()),
    stop: Effect.sync(() => {
      present?.child.kill("SIGKILL")
      present = undefined
    }),
    pid: () => present?.child.pid
  }
}
