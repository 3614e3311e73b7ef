/** Recognizes a repeated delivery like the engine's own inbox: by the carrier's id for it, by its nonce, or by its bytes. */
import type { Callback, CallbackRead } from "#core/provider/Callback.ts"
import { sha256Hex } from "#adapters/shared/hmac.ts"

export class Inbox {
  readonly #digests = new Map<string, string>()

  /** `altered`: its nonce was used before with other bytes, or at another address. */
  store({ body, call, url }: Callback, { deliveryId, nonce }: CallbackRead): "first" | "repeated" | "altered" {
    const digest = sha256Hex(`${url}\n${sha256Hex(body)}`)
    const key = `${call?.callId ?? ""} ${deliveryId ?? nonce ?? digest}`
    const before = this.#digests.get(key)
    if (before === undefined) this.#digests.set(key, digest)
    if (before === undefined) return "first"
    return before !== digest && nonce !== undefined ? "altered" : "repeated"
  }
}
