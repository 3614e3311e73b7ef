/** Which text chats this engine is currently changing, and for how many messages each organization is waiting for its models. */
import { Effect } from "effect"
import type { OrganizationId } from "#core/Id.ts"
import { TooManyChatMessages } from "./TextChat.ts"
import type { ChatOf } from "./TextChatStore.ts"

/** Each of them may take half a minute. */
const mostAtOnce = 20
const retryAfterSeconds = 5

export class ChatPlaces {
  readonly #busy = new Set<string>()
  readonly #messages = new Map<OrganizationId, number>()

  /** A message takes one of the organization's places until it is answered. */
  answering<A, E, R>(organizationId: OrganizationId, work: Effect.Effect<A, E, R>): Effect.Effect<A, E | TooManyChatMessages, R> {
    return Effect.suspend((): Effect.Effect<A, E | TooManyChatMessages, R> => {
      const taken = this.#messages.get(organizationId) ?? 0
      if (taken >= mostAtOnce) return Effect.fail(new TooManyChatMessages({ retryAfterSeconds }))
      this.#messages.set(organizationId, taken + 1)
      return Effect.ensuring(
        work,
        Effect.sync(() => this.#leave(organizationId))
      )
    })
  }

  /** Only one change of a chat at a time: `busy` instead, while there is another. */
  alone<A, E, R>(chat: ChatOf, work: Effect.Effect<A, E, R>, busy: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.suspend(() => {
      const key = `${chat.organizationId} ${chat.runId}`
      if (this.#busy.has(key)) return busy
      this.#busy.add(key)
      return Effect.ensuring(
        work,
        Effect.sync(() => this.#busy.delete(key))
      )
    })
  }

  #leave(organizationId: OrganizationId): void {
    const left = (this.#messages.get(organizationId) ?? 1) - 1
    if (left > 0) this.#messages.set(organizationId, left)
    else this.#messages.delete(organizationId)
  }
}
