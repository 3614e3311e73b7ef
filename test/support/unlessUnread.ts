/**
 * For requests that may be repeated if the engine closes their connection without a reply, as happens on a busy machine: uWebSockets closes a
 * connection from which it has read nothing for ten seconds, and a starved engine may not have looked. Any other error is thrown.
 */
export const unlessUnread = (error: unknown): undefined => {
  // The form of errors of Node's `fetch`, which has no types.
  const { cause } = error as { readonly cause?: { readonly code?: string; readonly socket?: { readonly bytesRead?: number } } }
  if (cause?.code !== "UND_ERR_SOCKET" || cause.socket?.bytesRead !== 0) throw error
  return undefined
}
