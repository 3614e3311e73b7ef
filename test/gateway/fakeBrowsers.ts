/** The port that makes the calls of browsers, as tests of the gateway have it: it notes what pages say. */
import { Effect, Layer } from "effect"
import type { RunOf } from "#core/call/BrowserBeginning.ts"
import { BrowserCalls, type BrowserPage, type FirstOffer } from "#core/call/BrowserCalls.ts"

export interface FakeBrowsers {
  readonly begun: Array<{
    readonly run: RunOf
    readonly offer: FirstOffer
    readonly page: BrowserPage
    /** What the page has said since. */
    readonly log: Array<string>
  }>
  refusal: Effect.Error<ReturnType<BrowserCalls["Service"]["begin"]>> | undefined
}

export const browserCalls = (browsers: FakeBrowsers) =>
  Layer.succeed(BrowserCalls, {
    begin: (run, offer, page) =>
      Effect.suspend(() => {
        if (browsers.refusal !== undefined) return Effect.fail(browsers.refusal)
        const log: Array<string> = []
        browsers.begun.push({ run, offer, page, log })
        return Effect.succeed({
          offer: (sdp) => void log.push(`offer ${sdp.length > 0}`),
          candidate: (candidate) => void log.push(`candidate ${candidate.candidate}`),
          hangUp: () => void log.push("hangs up")
        })
      })
  })
