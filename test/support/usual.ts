/** What tests ask of every call, unless they are about it. */
export const usual = { detect: "no", maxDurationSeconds: 600, ringTimeoutSeconds: 30 } as const
