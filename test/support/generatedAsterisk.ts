/**
 * A real Asterisk with the files that `deploy/asterisk/generate` writes, copied unchanged over the configuration of its Debian package. Its
 * provider is the SIPp callee of another instance, whose ports it shares. It exits with the process that started it.
 */
import { spawn } from "node:child_process"
import { appendFile, copyFile, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Asterisk } from "./asterisk.ts"
import { runScript } from "./fromDebian.ts"
import { until } from "./until.ts"

const deploy = fileURLToPath(new URL("../../deploy/asterisk/", import.meta.url))
const program = join(deploy, "program")
const commandMillis = 600_000

export interface GeneratedOptions {
  readonly arguments?: ReadonlyArray<string>
  readonly environment?: Readonly<Record<string, string>>
  /** Generated files that are not copied, so that the package's own stay. */
  readonly without?: ReadonlyArray<string>
  /** What an administrator appends to files, by file name. */
  readonly added?: Readonly<Record<string, string>>
}

export interface GeneratedAsterisk {
  /** The content of `telephony-config.json`, ready to be posted. */
  readonly telephonyConfig: { readonly config: Readonly<Record<string, string>> }
  readonly ariUrl: string
  readonly runFolder: string
  /** Runs a command on its console and returns the output. */
  readonly ctl: (command: string) => Promise<string>
  readonly stop: () => Promise<void>
}

export const generate = (args: ReadonlyArray<string>, environment: Readonly<Record<string, string>> = {}) =>
  runScript(join(deploy, "generate"), args, environment, commandMillis)

/** The folder of the unpacked packages, from which `program` runs, and that of their libraries. */
const unpacked = async (): Promise<string> => {
  const { stdout } = await runScript("bash", ["-c", `. "${deploy}lib.sh" && printf '%s\\n%s\\n' "$root" "$(libraries)"`], {}, commandMillis)
  return stdout
}

const configure = async (etc: string, run: string, generated: string, options: GeneratedOptions): Promise<void> => {
  const [root = "", libraries = ""] = (await unpacked()).split("\n")
  await cp(join(root, "etc/asterisk"), etc, { recursive: true })
  const files = (await readdir(generated)).filter((name) => name.endsWith(".conf") && !options.without?.includes(name))
  for (const file of files) await copyFile(join(generated, file), join(etc, file))
  for (const [file, text] of Object.entries(options.added ?? {})) await appendFile(join(etc, file), text)
  const places = { "@RUN@": run, "@ROOT@": root, "@MODULES@": join(libraries, "asterisk/modules") }
  let folders = await readFile(join(deploy, "conf/asterisk.conf"), "utf8")
  for (const [place, path] of Object.entries(places)) folders = folders.replaceAll(place, path)
  await writeFile(join(etc, "asterisk.conf"), folders)
  for (const folder of ["cache", "lib/keys", "log/cdr-csv", "log/cdr-custom", "log/cel-custom", "run", "spool"]) {
    await mkdir(join(run, folder), { recursive: true })
  }
}

export const startGenerated = async (callee: Asterisk, options: GeneratedOptions = {}): Promise<GeneratedAsterisk> => {
  const run = await mkdtemp(join(tmpdir(), "trunkline-generated-"))
  // The other instance's block of ports begins with its ARI port.
  const base = Number(new URL(callee.ariUrl).port)
  const ports = [
    "--http-port",
    `${base + 5}`,
    "--https-port",
    `${base + 7}`,
    "--sip-bind",
    `127.0.0.1:${base + 6}`,
    "--rtp",
    `${base + 1000}-${base + 1900}`
  ]
  const generated = join(run, "generated")
  const written = await generate(
    [generated, "--provider", `127.0.0.1:${base + 2}`, ...ports, ...(options.arguments ?? [])],
    options.environment
  )
  if (written.status !== 0) throw new Error(written.stderr)
  const etc = join(run, "etc")
  await configure(etc, run, generated, options)
  const main = join(etc, "asterisk.conf")
  // Its input closes when we exit, even by SIGKILL.
  const shell = spawn(
    "bash",
    ["-c", '"$0" sbin/asterisk -f -C "$1" </dev/null >"$2" 2>&1 & cat; kill $!; wait', program, main, join(run, "out")],
    {
      stdio: ["pipe", "ignore", "ignore"],
      detached: true
    }
  )
  const ended = new Promise((resolve) => shell.once("exit", resolve))
  const stop = async () => {
    shell.stdin.end()
    await ended
    await rm(run, { recursive: true, force: true })
  }
  const ctl = async (command: string) => (await runScript(program, ["sbin/asterisk", "-C", main, "-rx", command], {}, commandMillis)).stdout
  try {
    await until("Asterisk that has booted", async () => /fully booted/i.test(await ctl("core waitfullybooted")) || undefined)
  } catch (error) {
    const output = await readFile(join(run, "out"), "utf8").catch(() => "")
    await stop()
    throw new Error(`Asterisk did not start:\n${output}`, { cause: error })
  }
  // The cast holds because `generate` writes this JSON.
  const telephonyConfig = JSON.parse(
    await readFile(join(generated, "telephony-config.json"), "utf8")
  ) as GeneratedAsterisk["telephonyConfig"]
  return { telephonyConfig, ariUrl: `${telephonyConfig.config["ari_endpoint"]}/ari`, runFolder: run, ctl, stop }
}

/** The lines of one of its call logs. */
export const recordsOf = async ({ runFolder }: GeneratedAsterisk, file: string): Promise<ReadonlyArray<string>> =>
  (await readFile(join(runFolder, "log", file), "utf8").catch(() => "")).split("\n").filter((line) => line !== "")
