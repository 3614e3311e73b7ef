import { Layer } from "effect"
import { PassDialPoint } from "#runtime/call/DialPoint.ts"
import { launch } from "#runtime/main.ts"
const t: Record<string, number> = {}
const gaps: Record<string, number[]> = { endedClaimed: [], claimedMarked: [], markedAccepted: [] , endRec: [], ansRec: []}
let n = 0
launch(Layer.succeed(PassDialPoint, (p) => {
  const now = performance.now()
  if (p === "claimed") gaps.endedClaimed!.push(now - (t.ended ?? now))
  if (p === "marked sent") gaps.claimedMarked!.push(now - (t.claimed ?? now))
  if (p === "accepted") gaps.markedAccepted!.push(now - (t["marked sent"] ?? now))
  if (p === "end recorded") gaps.endRec!.push(now - (t.ended ?? now))
  if (p === "answer recorded") gaps.ansRec!.push(now - (t.answered ?? now))
  t[p] = now
  if (p === "ended" && ++n % 100 === 0) {
    const cpu = process.cpuUsage()
    for (const [k, v] of Object.entries(gaps)) { v.sort((a, b) => a - b); console.error(k, v.length, "p50", v[v.length >> 1]?.toFixed(2), "p90", v[Math.floor(v.length * .9)]?.toFixed(2)); v.length = 0 }
    console.error("cpu", (cpu.user + cpu.system) / 1000, "ms", performance.now())
  }
}))
