/** Runs a batch of test files (`batch.ts`), and reports each of them as if it had run alone. */
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { PassThrough } from "node:stream"
import { fileURLToPath } from "node:url"
import type { TAP } from "tap"

const batch = fileURLToPath(new URL("./batch.ts", import.meta.url))
const stripped = fileURLToPath(new URL("./stripped.js", import.meta.url))
const indent = "    "
/** A process that does not end by itself after its time is killed this much later. */
const killMillis = 5000

interface BatchOptions {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** How long each of the files may take. */
  readonly fileMillis: number
}

/** The entry of one file in the report, which gets the file's lines of TAP. */
const openEntry = (t: TAP, file: string) => {
  const tapStream = new PassThrough()
  const reported = t.stdin(file, { at: null, buffered: true, stack: "", tapStream })
  let count = 0
  let isFailed = false
  let isOver = false
  const write = (line: string) => {
    // The plan is written at the end instead, because the end of the process may add a failure.
    if (/^1\.\.\d/.test(line)) return
    if (/^(not )?ok /.test(line)) count++
    isFailed ||= line.trimStart().startsWith("not ok")
    tapStream.write(`${line}\n`)
  }
  const fail = (reason: string) => write(`not ok ${count + 1} - ${reason}`)
  return {
    file,
    write,
    fail,
    result: (ok: boolean) => {
      isOver = true
      if (!ok && !isFailed) fail("the file failed")
    },
    isOver: () => isOver,
    close: () => {
      if (count === 0) fail(isFailed ? "test unfinished" : "no tests")
      tapStream.end(`1..${count}\n`)
      return reported
    }
  }
}
type Entry = ReturnType<typeof openEntry>

/** Runs files until the process ends. Resolves with the files that were not started. */
const runProcess = async (t: TAP, files: ReadonlyArray<string>, { cwd, env, fileMillis }: BatchOptions) => {
  const child = spawn(process.execPath, ["--import", stripped, batch, ...files], { cwd, env, stdio: ["ignore", "pipe", "inherit"] })
  const ended = new Promise<string | undefined>((resolve) =>
    child.once("close", (code, signal) => resolve(signal ?? (code === 0 ? undefined : `code ${code}`)))
  )
  const reported: Array<Promise<unknown>> = []
  let entry: Entry | undefined
  let begun = 0
  let limit: NodeJS.Timeout | undefined
  let isExpired = false
  const expire = () => {
    isExpired = true
    child.kill("SIGALRM")
    setTimeout(() => child.kill("SIGKILL"), killMillis).unref()
  }
  const begin = () => {
    if (entry !== undefined) reported.push(entry.close())
    entry = openEntry(t, files[begun++] ?? "")
    clearTimeout(limit)
    limit = setTimeout(expire, fileMillis)
    return entry
  }
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith("# Subtest: ")) begin()
    else if (line.startsWith(indent)) entry?.write(line.slice(indent.length))
    else if (/^(not )?ok /.test(line)) entry?.result(line.startsWith("ok"))
  }
  const end = await ended
  const last = entry ?? begin()
  clearTimeout(limit)
  if (isExpired) last.fail(`not over after ${fileMillis / 1000} s`)
  else if (end !== undefined) last.fail(`the process ended with ${end}`)
  else if (!last.isOver()) last.fail("the process ended before the file did")
  await Promise.all([...reported, last.close()])
  return files.slice(begun)
}

/** A file that ends its process, or hangs, fails. The files after it run in a new process. */
export const runBatch = async (t: TAP, files: ReadonlyArray<string>, options: BatchOptions): Promise<void> => {
  let left = files
  while (left.length > 0) left = await runProcess(t, left, options)
}
