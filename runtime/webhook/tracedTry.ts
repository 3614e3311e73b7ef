/** An attempt to deliver a webhook, as a separate trace. It contains neither the address nor the content. */
import { Effect, Exit } from "effect"
import { CurrentTraces } from "#runtime/trace/Traces.ts"
import type { Attributes } from "#runtime/trace/TraceSpan.ts"

/** `answerOf`: the status of the response, or a word for why there was none. */
export const tracedTry =
  <A>(attributes: Attributes, answerOf: (answer: A) => number | string) =>
  <E, R>(send: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(CurrentTraces, (traces) => {
      const span = traces?.root({ name: "webhook.deliver", kind: "client" })
      if (traces === undefined || span === undefined) return send
      span.tell(attributes)
      return Effect.onExit(send, (exit) =>
        Effect.sync(() => {
          const answer = Exit.isSuccess(exit) ? answerOf(exit.value) : "not_sent"
          if (typeof answer === "number") span.tell({ "http.response.status_code": answer })
          if (typeof answer === "string") span.fail(answer)
          else if (answer >= 400) span.fail("refused")
          traces.end(span)
        })
      )
    })
