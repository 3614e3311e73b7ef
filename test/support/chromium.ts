/** A real browser for one test: Debian's headless Chromium, driven over the DevTools protocol. It exits with the process that started it. */
import { spawn } from "node:child_process"
import { createServer } from "node:net"
import type { Readable, Writable } from "node:stream"
import { fileURLToPath } from "node:url"
import type { Test } from "tap"
import { temporaryFolder } from "./dataFolder.ts"
import { unavailable } from "./fromDebian.ts"
import { localPort } from "./localPort.ts"
import { until } from "./until.ts"

const script = (name: string) => fileURLToPath(new URL(`./chromium/${name}`, import.meta.url))
export const chromiumUnavailable = unavailable(script("install"))

type Json = { readonly [Name in string]?: unknown }
/** The parameters and results of each method are defined at https://chromedevtools.github.io/devtools-protocol/ */
interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: Json
  readonly result?: Json
  readonly error?: { readonly message: string }
}

/** Sends commands and receives events, each a JSON text that ends in a zero byte. */
class DevTools {
  readonly #input: Writable
  readonly #pending = new Map<number, (message: Message) => void>()
  #session: string | undefined
  #sent = 0
  #rest = Buffer.alloc(0)
  onEvent: (method: string, params: Json) => void = () => {}

  constructor(input: Writable, output: Readable) {
    this.#input = input
    output.on("data", (chunk: Buffer) => {
      this.#rest = Buffer.concat([this.#rest, chunk])
      for (let end = this.#rest.indexOf(0); end !== -1; end = this.#rest.indexOf(0)) {
        this.#take(JSON.parse(this.#rest.subarray(0, end).toString()) as Message)
        this.#rest = this.#rest.subarray(end + 1)
      }
    })
  }

  #take(message: Message): void {
    if (message.id !== undefined) this.#pending.get(message.id)?.(message)
    else if (message.method !== undefined) this.onEvent(message.method, message.params ?? {})
  }

  async ask(method: string, params: Json = {}): Promise<Json> {
    const id = ++this.#sent
    const session = this.#session === undefined ? {} : { sessionId: this.#session }
    const answer = new Promise<Message>((resolve) => this.#pending.set(id, resolve))
    this.#input.write(`${JSON.stringify({ id, method, params, ...session })}\0`)
    const { error, result } = await answer
    this.#pending.delete(id)
    if (error !== undefined) throw new Error(`${method}: ${error.message}`)
    return result ?? {}
  }

  /** Opens a page and attaches to it; all later commands are for this page. */
  async openPage(): Promise<void> {
    const { targetId } = await this.ask("Target.createTarget", { url: "about:blank" })
    const { sessionId } = await this.ask("Target.attachToTarget", { targetId, flatten: true })
    this.#session = String(sessionId)
    for (const domain of ["Page", "Runtime", "Network", "Log", "Audits"]) await this.ask(`${domain}.enable`)
  }
}

interface Point {
  readonly x: number
  readonly y: number
}

interface PageRequest {
  readonly method: string
  readonly url: string
  /** Why there is no response: blocked, refused or cut off. */
  failure?: string
}

export class Page {
  readonly requests: Array<PageRequest> = []
  /** What a developer would see in red: errors, exceptions, and what the content security policy has blocked. */
  readonly complaints: Array<string> = []
  readonly #devTools: DevTools
  readonly #byId = new Map<unknown, PageRequest>()
  /** What the browser requested from other machines. */
  readonly elsewhere: ReadonlyArray<string>

  constructor(devTools: DevTools, elsewhere: ReadonlyArray<string>) {
    this.#devTools = devTools
    this.elsewhere = elsewhere
    devTools.onEvent = (method, params) => this.#heard[method]?.(params)
  }

  readonly #heard: { readonly [Method in string]?: (params: Json) => void } = {
    "Network.requestWillBeSent": ({ request, requestId }) => {
      const { method, url } = request as { method: string; url: string }
      // A data URL makes no request.
      if (url.startsWith("data:")) return
      const made: PageRequest = { method, url }
      this.requests.push(made)
      this.#byId.set(requestId, made)
    },
    "Network.loadingFailed": ({ blockedReason, errorText, requestId }) => {
      const request = this.#byId.get(requestId)
      if (request !== undefined) request.failure = String(blockedReason ?? errorText)
    },
    "Log.entryAdded": ({ entry }) => {
      const { level, text, url } = entry as { level: string; text: string; url?: string }
      if (level === "error") this.complaints.push(`${text} ${url ?? ""}`)
    },
    "Runtime.consoleAPICalled": ({ args, type }) => {
      if (type === "error" || type === "assert") this.complaints.push(JSON.stringify(args))
    },
    "Runtime.exceptionThrown": ({ exceptionDetails }) => void this.complaints.push(JSON.stringify(exceptionDetails)),
    "Audits.issueAdded": ({ issue }) => {
      if ((issue as { code: string }).code === "ContentSecurityPolicyIssue") this.complaints.push(JSON.stringify(issue))
    }
  }

  /** Resolves when the page has been requested; redirects are followed. */
  async open(url: string): Promise<void> {
    const { errorText } = await this.#devTools.ask("Page.navigate", { url })
    if (errorText !== undefined) throw new Error(`${url}: ${String(errorText)}`)
  }

  /** The value of a JavaScript expression in the page; promises are awaited. */
  async evaluate(expression: string): Promise<unknown> {
    const asked = { expression, awaitPromise: true, returnByValue: true, userGesture: true }
    const { exceptionDetails, result } = await this.#devTools.ask("Runtime.evaluate", asked)
    if (exceptionDetails !== undefined) throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`)
    return (result as { value?: unknown }).value
  }

  /** The visible text of the first matching element, once it matches `wanted`. */
  text(selector: string, wanted = /\S/): Promise<string> {
    return until(`text ${wanted} in ${selector}`, async () => {
      const text = String(await this.evaluate(`document.querySelector(${JSON.stringify(selector)})?.innerText ?? ""`))
      return wanted.test(text) ? text : undefined
    })
  }

  /** Clicks in the middle of the element, once it exists and nothing covers it. */
  async click(selector: string): Promise<void> {
    const found = `(() => {
      const element = document.querySelector(${JSON.stringify(selector)})
      if (element === null) return undefined
      element.scrollIntoView({ block: "center", behavior: "instant" })
      const { x, y, width, height } = element.getBoundingClientRect()
      const at = { x: x + width / 2, y: y + height / 2 }
      const hit = document.elementFromPoint(at.x, at.y)
      return hit !== null && (element.contains(hit) || hit.contains(element)) ? at : undefined
    })()`
    const at = (await until(`${selector} to click on`, () => this.evaluate(found))) as Json
    const press = { ...at, button: "left", clickCount: 1 }
    await this.#devTools.ask("Input.dispatchMouseEvent", { ...press, type: "mousePressed" })
    await this.#devTools.ask("Input.dispatchMouseEvent", { ...press, type: "mouseReleased" })
  }

  /** Where the middle of the element is in the window. */
  async middleOf(selector: string): Promise<Point> {
    // Cast: the expression is a point.
    return (await this.evaluate(`(() => {
      const { x, y, width, height } = document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect()
      return { x: x + width / 2, y: y + height / 2 }
    })()`)) as Point
  }

  /** Turns the mouse's wheel there, by so many CSS pixels downwards; resolves once the page has taken it. */
  async wheel(at: Point, deltaY: number): Promise<void> {
    await this.#devTools.ask("Input.dispatchMouseEvent", { ...at, type: "mouseWheel", deltaX: 0, deltaY })
  }

  /** Seconds of CPU that the page's main thread has used for tasks since the first time it was asked. */
  async cpuSeconds(): Promise<number> {
    await this.#devTools.ask("Performance.enable", { timeDomain: "threadTicks" })
    const { metrics } = await this.#devTools.ask("Performance.getMetrics")
    // Cast: as the protocol has it.
    const all = metrics as ReadonlyArray<{ readonly name: string; readonly value: number }>
    return all.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN
  }

  /** Presses keys one after another, as on a keyboard. */
  async press(keys: string): Promise<void> {
    for (const key of keys)
      for (const type of ["keyDown", "keyUp"]) await this.#devTools.ask("Input.dispatchKeyEvent", { type, key, text: key })
  }

  /** Shows the page in a window of this size, to somebody with this preference. */
  async appear(width: number, scheme: "dark" | "light", height = 1000): Promise<void> {
    await this.#devTools.ask("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false })
    await this.#devTools.ask("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] })
  }

  /** A WebP of what the window shows, without scroll bars. `quality`: 0 to 100. */
  async picture(quality: number): Promise<Buffer> {
    await this.#devTools.ask("Emulation.setScrollbarsHidden", { hidden: true })
    // The page gets wider by that.
    await this.evaluate("new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))")
    const { data } = await this.#devTools.ask("Page.captureScreenshot", { format: "webp", quality })
    return Buffer.from(String(data), "base64")
  }

  /** Replaces the text in a field as if typed, and leaves the field. */
  async enter(selector: string, text: string): Promise<void> {
    await this.click(selector)
    await this.evaluate(`document.querySelector(${JSON.stringify(selector)}).select()`)
    await this.#devTools.ask("Input.insertText", { text })
    await this.evaluate(`document.activeElement.blur()`)
  }
}

/** The proxy for requests to all other machines: it records and drops them. */
const nowhere = async (t: Pick<Test, "teardown">) => {
  const asked: Array<string> = []
  const server = createServer((socket) => {
    socket.on("error", () => {})
    socket.once("data", (head) => {
      asked.push(head.toString("latin1").split("\r\n")[0] ?? "")
      socket.destroy()
    })
  })
  t.teardown(() => server.close())
  return { asked, proxy: `127.0.0.1:${await localPort(server)}` }
}

/** With these, pages get a microphone that beeps every second, play sound without being asked, and may call on this machine. */
export const withMicrophone: ReadonlyArray<string> = [
  "--use-fake-device-for-media-stream",
  "--use-fake-ui-for-media-stream",
  "--autoplay-policy=no-user-gesture-required",
  // Otherwise it offers no address by which this machine reaches itself.
  "--allow-loopback-in-peer-connection"
]

/** A page in a browser that can reach this machine only. */
export const openPage = async (t: Pick<Test, "teardown">, more: ReadonlyArray<string> = []): Promise<Page> => {
  const folder = temporaryFolder(t)
  const { asked, proxy } = await nowhere(t)
  const flags = [
    "--remote-debugging-pipe",
    `--user-data-dir=${folder}`,
    `--proxy-server=${proxy}`,
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--window-size=1280,1000",
    "--disable-gpu",
    // Chromium has no sandbox for root, and the pages are ours.
    "--no-sandbox",
    // Containers have little shared memory.
    "--disable-dev-shm-usage",
    ...more
  ]
  const child = spawn(script("run"), flags, { stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"] })
  const ended = new Promise((resolve) => child.once("close", resolve))
  const [, , errors, input, output] = child.stdio as unknown as [null, null, Readable, Writable, Readable]
  let said = ""
  errors.on("data", (chunk: Buffer) => {
    said += chunk.toString()
  })
  // The pipe breaks when Chromium exits.
  input.on("error", () => {})
  t.teardown(async () => {
    input.end()
    await ended
  })
  const devTools = new DevTools(input, output)
  const early = ended.then(() => Promise.reject(new Error(`Chromium ended: ${said}`)))
  await Promise.race([devTools.openPage(), early])
  early.catch(() => {})
  return new Page(devTools, asked)
}
