/** Whether everything that the start has to do is done. The API listens a little earlier. */
import { Context, Layer } from "effect"

export class Started extends Context.Service<Started, { readonly finish: () => void; readonly isFinished: () => boolean }>()(
  "runtime/process/Started"
) {
  static readonly layer = Layer.sync(Started, () => {
    let isFinished = false
    return {
      finish: () => {
        isFinished = true
      },
      isFinished: () => isFinished
    }
  })
}
