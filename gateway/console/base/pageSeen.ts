/** Resolves while somebody can see the page. */
export const pageSeen = (): Promise<void> =>
  document.hidden
    ? new Promise((resolve) => document.addEventListener("visibilitychange", () => resolve(), { once: true }))
    : Promise.resolve()
