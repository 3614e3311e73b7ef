/** Programs that tests need, unpacked from Debian packages into the cache folder by a script that uses `deploy/debian.sh`. */
import { execFile } from "node:child_process"

interface Outcome {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

/** Resolves when the script has exited, with any status. */
export const runScript = (path: string, args: ReadonlyArray<string>, environment: Readonly<Record<string, string>>, timeout: number) =>
  new Promise<Outcome>((resolve, reject) => {
    execFile(path, args, { env: { ...process.env, ...environment }, timeout }, (error, stdout, stderr) => {
      const status = error === null ? 0 : error.code
      if (typeof status === "number") resolve({ status, stdout, stderr })
      else reject(new Error(`${path} did not end by itself: ${stderr}`, { cause: error }))
    })
  })

const installMillis = 1_200_000
/** The exit status of `install` if Debian's packages are not available on this machine. */
const notOnThisMachine = 75

const install = async (script: string): Promise<string | undefined> => {
  const { status, stderr } = await runScript(script, [], {}, installMillis)
  if (status === 0) return undefined
  const reason = stderr.trim().split("\n").at(-1) ?? ""
  if (status === notOnThisMachine && process.env.CI !== "true") return reason
  throw new Error(reason)
}

/**
 * Why this machine cannot have what the script installs, as the reason to skip a test; undefined once it is installed. With `CI` set to "true",
 * a machine without it is an error.
 */
export const unavailable = (script: string): (() => Promise<string | undefined>) => {
  let installed: Promise<string | undefined> | undefined
  return () => (installed ??= install(script))
}
