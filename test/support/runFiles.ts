/** Runs test files, alone or as a batch (`batch.ts`), and reports each of them as if it had run alone. */
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { FileReader, type FileReport } from "./FileReport.ts"

const batch = fileURLToPath(new URL("./batch.ts", import.meta.url))
const stripped = fileURLToPath(new URL("./stripped.js", import.meta.url))
const indent = "    "
/** A process that does not end by itself after its time is killed this much later. */
const killMillis = 5000
/** The unit of /proc on every Linux that Node runs on. */
const ticksPerSecond = 100

interface RunOptions {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** How long each of the files may take. */
  readonly fileMillis: number
  readonly report: (report: FileReport) => void
}

/** Of all processes that this one has waited for, and of those that they have waited for. Zero where there is no /proc. */
const cpuSecondsSoFar = (): number => {
  try {
    const fields = readFileSync("/proc/self/stat", "utf8").split(") ").at(-1)?.split(" ") ?? []
    const [user, system] = fields.slice(13, 15).map(Number)
    return ((user ?? 0) + (system ?? 0)) / ticksPerSecond
  } catch {
    return 0
  }
}
let counted = 0
/** The time of the process that has just ended: its time is counted all at once, at that moment. */
const cpuSecondsOfLast = (): number => {
  const before = counted
  counted = cpuSecondsSoFar()
  return counted - before
}

/** Runs files in one process until it ends. Returns those that were not started. */
const runProcess = async (files: ReadonlyArray<string>, { cwd, env, fileMillis, report }: RunOptions) => {
  const isBatch = files.length > 1
  const program = isBatch ? [batch, ...files] : files
  const child = spawn(process.execPath, ["--import", stripped, ...program], { cwd, env, stdio: ["ignore", "pipe", "inherit"] })
  let cpuSeconds = 0
  child.once("exit", () => {
    cpuSeconds = cpuSecondsOfLast()
  })
  const ended = new Promise<string | undefined>((resolve) =>
    child.once("close", (code, signal) => resolve(signal ?? (code === 0 ? undefined : `code ${code}`)))
  )
  let begun = 0
  let reader: FileReader | undefined
  let isOver = false
  let isExplained = false
  let isExpired = false
  let limit: NodeJS.Timeout | undefined
  const expire = () => {
    isExpired = true
    child.kill("SIGALRM")
    setTimeout(() => child.kill("SIGKILL"), killMillis).unref()
  }
  const close = (closed: FileReader) => {
    // A process in which a test failed ends with code 1.
    isExplained ||= closed.hasFailed
    report(closed.close(isBatch ? undefined : cpuSeconds))
  }
  const begin = () => {
    if (reader !== undefined) close(reader)
    reader = new FileReader(files[begun++] ?? "")
    isOver = false
    clearTimeout(limit)
    limit = setTimeout(expire, fileMillis)
    return reader
  }
  const readBatch = (line: string) => {
    if (line.startsWith("# Subtest: ")) begin()
    else if (line.startsWith(indent)) reader?.read(line.slice(indent.length))
    else if (/^(not )?ok /.test(line)) {
      isOver = true
      if (line.startsWith("not ") && reader?.hasFailed === false) reader.fail("the file failed")
    }
  }
  if (!isBatch) begin()
  for await (const line of createInterface({ input: child.stdout })) {
    if (isBatch) readBatch(line)
    else reader?.read(line)
  }
  const end = await ended
  const last = reader ?? begin()
  clearTimeout(limit)
  if (isExpired) last.fail(`not over after ${fileMillis / 1000} s`)
  else if (isBatch && !isOver && end === undefined) last.fail("the process ended before the file did")
  else if (end !== undefined && !last.hasFailed && !(isExplained && end === "code 1")) last.fail(`the process ended with ${end}`)
  close(last)
  return files.slice(begun)
}

/** A file that ends its process, or hangs, fails. The files after it run in a new process. */
export const runFiles = async (files: ReadonlyArray<string>, options: RunOptions): Promise<void> => {
  let left = files
  while (left.length > 0) left = await runProcess(left, options)
}
