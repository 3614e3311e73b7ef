/** The port that makes the calls of browsers, as tests of the gateway have it: it notes what pages say. */
import { Effect, Layer } from "effect"
import type { RunOf } from "#core/call/BrowserBeginning.ts"
import type { BrowserRun } from "#core/call/BrowserRun.ts"
import { BrowserCalls, type BrowserPage, type FirstOffer } from "#core/call/BrowserCalls.ts"
import type { OrganizationId, RunId } from "#core/Id.ts"
import { LiveFeedback } from "#core/run/LiveFeedback.ts"
import type { FeedbackEvent } from "#core/run/RunRecord.ts"

export interface FakeBrowsers {
  /** The runs of which calls are expected. */
  readonly expected: Array<RunId>
  readonly begun: Array<{
    readonly run: RunOf
    readonly offer: FirstOffer
    readonly page: BrowserPage
    /** What the page has said since. */
    readonly log: Array<string>
    /** Something happens in its conversation. */
    readonly happens: (event: FeedbackEvent) => void
  }>
  refusal: Effect.Error<ReturnType<BrowserCalls["Service"]["begin"]>> | undefined
}

export const browserCalls = (browsers: FakeBrowsers) =>
  Layer.effect(
    BrowserCalls,
    Effect.map(LiveFeedback, (feedback) => ({
      expect: (_: OrganizationId, run: BrowserRun) =>
        Effect.suspend(() => {
          browsers.expected.push(run.id)
          return browsers.refusal === undefined ? Effect.void : Effect.die("This engine does not decide")
        }),
      begin: (run: RunOf, offer: FirstOffer, page: BrowserPage) =>
        Effect.suspend(() => {
          if (browsers.refusal !== undefined) return Effect.fail(browsers.refusal)
          const log: Array<string> = []
          const happens = (event: FeedbackEvent) => feedback.publish(run.organizationId, run.runId, event)
          browsers.begun.push({ run, offer, page, log, happens })
          return Effect.succeed({
            offer: (sdp: string) => void log.push(`offer ${sdp.length > 0}`),
            candidate: (candidate: { readonly candidate: string }) => void log.push(`candidate ${candidate.candidate}`),
            hangUp: () => void log.push("hangs up")
          })
        })
    }))
  ).pipe(Layer.provide(LiveFeedback.layer))
