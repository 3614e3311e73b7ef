/** What tests request for every call, unless it is what they test. */
export const usual = { detect: "no", maxDurationSeconds: 600, ringTimeoutSeconds: 30 } as const
