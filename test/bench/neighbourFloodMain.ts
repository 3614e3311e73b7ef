/**
 * Greedy clients, in a separate process: a flood of five hundred requests a second from strangers and one tenant, or the heaviest work
 * that this tenant can request, without pause.
 */
import { Agent, request } from "node:http"
import { connect, type Socket } from "node:net"
import { csvOf } from "./Contacts.ts"

export type Attack = "flood" | "heaviest work"
export interface AttackTarget {
  readonly port: number
  /** The tenant's key. */
  readonly key: string
  readonly agentId: number
}
/** How often each kind of request got each answer. */
export type Answers = Readonly<Record<string, number>>

const perSecond = 500
const tickMillis = 10
/** More than these would exhaust the memory of this process. */
const mostUnderWay = 1000
const importsAtOnce = 16
const contacts = 60_000
const followers = 50
const socketMillis = 2000
const drainMillis = 10_000
const graphNodes = 450
const promptLength = 900
const listBytes = 100_000

const agent = new Agent({ keepAlive: true, maxSockets: 400 })
const graph = {
  nodes: Array.from({ length: graphNodes }, (_, index) => ({
    id: String(index + 1),
    type: index === 0 ? "startCall" : "agentNode",
    position: { x: index, y: 0 },
    data: { name: `Node ${index}`, prompt: "Ask {{first_name}} how the weather is. ".repeat(promptLength / 39) }
  })),
  edges: Array.from({ length: graphNodes - 1 }, (_, index) => ({
    id: `e${index}`,
    source: String(index + 1),
    target: String(index + 2),
    data: { label: "next", condition: "always" }
  }))
}
const graphBody = JSON.stringify({ name: "Flood", workflow_definition: graph })
const someList = csvOf(2000).slice(0, listBytes)

let answers: Record<string, number> = {}
let isOn = false
let underWay = 0
const sockets = new Set<Socket>()

interface Sent {
  readonly key?: string
  readonly body?: string
  readonly type?: string
}

/** Returns the answer if it is JSON, otherwise undefined. */
const send = ({ port }: AttackTarget, what: string, method: string, path: string, { body, key, type = "application/json" }: Sent) =>
  new Promise<unknown>((resolve) => {
    underWay++
    const ended = (status: number | string, value?: unknown) => {
      underWay--
      const name = `${what} ${status}`
      answers[name] = (answers[name] ?? 0) + 1
      resolve(value)
    }
    const headers = {
      ...(key === undefined ? {} : { "x-api-key": key }),
      ...(body === undefined ? {} : { "content-type": type, "content-length": Buffer.byteLength(body) })
    }
    const outgoing = request({ agent, host: "127.0.0.1", port, method, path: `/api/v1${path}`, headers }, (response) => {
      const parts: Array<Buffer> = []
      response.on("data", (part: Buffer) => parts.push(part))
      response.on("error", () => ended("broken"))
      response.on("end", () => {
        const text = Buffer.concat(parts).toString()
        const isJson = response.statusCode === 200 && response.headers["content-type"]?.startsWith("application/json") === true
        ended(response.statusCode ?? 0, isJson ? JSON.parse(text) : undefined)
      })
    })
    outgoing.on("error", () => ended("broken"))
    outgoing.end(body)
  })

/** Asks to follow events, and stays for as long as it is allowed to. */
const openSocket = ({ port }: AttackTarget, key: string, millis: number) =>
  new Promise<void>((resolve) => {
    underWay++
    const headers = "upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ=="
    const socket = connect(port, "127.0.0.1", () => {
      socket.write(`GET /api/v1/events/ws HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: ${key}\r\n${headers}\r\n\r\n`)
    })
    sockets.add(socket)
    const late = setTimeout(() => socket.destroy(), millis)
    socket.on("data", () => undefined)
    socket.on("error", () => undefined)
    socket.on("close", () => {
      clearTimeout(late)
      sockets.delete(socket)
      underWay--
      answers["socket closed"] = (answers["socket closed"] ?? 0) + 1
      resolve()
    })
  })

let sent = 0
/** One of each kind in turn: half from strangers, half from the tenant. */
const floods: ReadonlyArray<(target: AttackTarget) => Promise<unknown>> = [
  (to) => send(to, "log-in", "POST", "/auth/login", { body: JSON.stringify({ email: `a${sent}@example.com`, password: "guess-12345" }) }),
  (to) => send(to, "graph", "POST", "/workflow/create/definition", { key: to.key, body: graphBody }),
  (to) => send(to, "sign-up", "POST", "/auth/signup", { body: JSON.stringify({ email: `b${sent}@example.com`, password: "guess-12345" }) }),
  (to) =>
    send(to, "upload address", "POST", "/s3/presigned-upload-url", {
      key: to.key,
      body: JSON.stringify({ file_name: "list.csv", file_size: someList.length })
    }),
  (to) => send(to, "graph of a stranger", "POST", "/workflow/create/definition", { body: graphBody }),
  (to) => openSocket(to, to.key, socketMillis),
  (to) => send(to, "upload of a stranger", "PUT", "/uploads/guess", { body: someList, type: "text/csv" }),
  (to) => openSocket(to, "dgr_nobody_has_this_key", socketMillis)
]

const flood = (target: AttackTarget) => {
  const began = performance.now()
  let due = 0
  const timer = setInterval(() => {
    if (!isOn) return clearInterval(timer)
    // What could not be sent in time is skipped, so that the rate is never exceeded.
    const now = Math.floor(((performance.now() - began) * perSecond) / 1000)
    const wanted = Math.min(now - due, (perSecond * tickMillis * 2) / 1000)
    due = now
    for (let count = 0; count < wanted && underWay < mostUnderWay; count++) void floods[sent++ % floods.length]?.(target)
  }, tickMillis)
}

const fieldOf = (value: unknown, name: string): string => String(value instanceof Object ? Reflect.get(value, name) : "")

const uploaded = async (target: AttackTarget, csv: string): Promise<string> => {
  const body = JSON.stringify({ file_name: "list.csv", file_size: csv.length })
  const ticket = await send(target, "upload address", "POST", "/s3/presigned-upload-url", { key: target.key, body })
  const address = URL.parse(fieldOf(ticket, "upload_url"))
  if (address !== null)
    await send(target, "upload", "PUT", (address.pathname + address.search).replace("/api/v1", ""), { body: csv, type: "text/csv" })
  return fieldOf(ticket, "file_key")
}

const again = async (work: () => Promise<unknown>) => {
  while (isOn) {
    await work()
    // A client that is refused at once retries after a moment.
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

const workHard = async (target: AttackTarget) => {
  const { agentId, key } = target
  const csv = csvOf(contacts)
  for (let one = 0; one < followers; one++) void again(() => openSocket(target, key, 60_000))
  for (let one = 0; one < importsAtOnce; one++) {
    void again(async () => {
      const source_id = await uploaded(target, csv)
      const body = JSON.stringify({ name: "Heavy", workflow_id: agentId, source_type: "csv", source_id })
      await send(target, "import", "POST", "/campaign/create", { key, body })
    })
  }
  for (const path of ["/organizations/usage/runs/report", "/organizations/usage/runs?limit=100", "/campaign/?limit=100"]) {
    for (let one = 0; one < 4; one++) void again(() => send(target, "report", "GET", path, { key }))
  }
  for (let one = 0; one < 4; one++) void again(() => send(target, "graph", "POST", "/workflow/create/definition", { key, body: graphBody }))
  for (let one = 0; one < 4; one++) void again(() => send(target, "copy", "POST", `/workflow/${agentId}/duplicate`, { key }))
}

/** Waits for pending requests, which must not affect what comes next. */
const allAnswered = async () => {
  const latest = performance.now() + drainMillis
  while (underWay > 0 && performance.now() < latest) await new Promise((resolve) => setTimeout(resolve, tickMillis))
}

process.on("message", (message: { readonly attack: Attack; readonly target: AttackTarget } | { readonly stop: true }) => {
  if ("attack" in message) {
    isOn = true
    answers = {}
    if (message.attack === "flood") flood(message.target)
    else void workHard(message.target)
  } else {
    isOn = false
    for (const socket of sockets) socket.destroy()
    void allAnswered().then(() => process.send?.({ answers }))
  }
})
process.on("disconnect", () => process.exit())
process.send?.({ started: true })
