/** What only an engine that decides has to tell. */
import { Context, Layer } from "effect"

interface DeciderFigures {
  readonly isHeld: boolean
  readonly isTakeover: boolean
  /** Since this engine first got the lock; 0 if it never had it. */
  readonly seconds: number
  /** Call nodes that can be heard, and the calls that they have of this engine. */
  readonly callNodes: { readonly heard: number; readonly calls: number }
  readonly runningCampaigns: number
}

const none: DeciderFigures = { callNodes: { calls: 0, heard: 0 }, isHeld: false, isTakeover: false, runningCampaigns: 0, seconds: 0 }

export class DeciderMetrics extends Context.Service<
  DeciderMetrics,
  { readonly read: () => DeciderFigures; readonly readBy: (read: () => DeciderFigures) => void }
>()("runtime/metrics/DeciderMetrics") {
  static readonly layer = Layer.sync(DeciderMetrics, () => {
    let read = () => none
    return {
      read: () => read(),
      readBy: (by) => {
        read = by
      }
    }
  })
}
