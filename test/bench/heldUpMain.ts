/**
 * An engine whose calls each hold its thread for DIAL_MILLIS: what engines on machines of their own would come to, on one that has fewer processors
 * than engines. The thread waits instead of computing, so it takes nothing from the others.
 */
import { Layer } from "effect"
import { PassDialPoint } from "#runtime/call/DialPoint.ts"
import { launch } from "#runtime/main.ts"

const millis = Number(process.env["DIAL_MILLIS"])
const never = new Int32Array(new SharedArrayBuffer(4))
launch({
  extra: Layer.succeed(PassDialPoint, (point) => {
    // Only the engine that carries the call passes this, once its request has been answered.
    if (point === "accepted") Atomics.wait(never, 0, 0, millis)
  })
})
