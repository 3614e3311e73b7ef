import type { Callback } from "#core/provider/Callback.ts"

/** A callback about no call, by default. */
export const callbackOf = (body: string, more: Partial<Callback> = {}): Callback => ({
  method: "POST",
  url: "https://voice.example.com/cb",
  headers: {},
  body: Buffer.from(body),
  at: 0,
  kind: "event",
  call: undefined,
  isWanted: true,
  ...more
})
