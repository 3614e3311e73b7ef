/**
 * Keys that are heard by their tones and keys that the carrier reports are the same presses, reported twice. The carrier's reports are more
 * reliable but later: once it has reported a key on this call, tones no longer count, and reports of keys that already counted are dropped. Pure
 * except for its state.
 */

interface PressedKeys {
  /** Whether a key whose tones were heard counts. Times are milliseconds of any clock. */
  readonly heard: (key: string, at: number) => boolean
  /** Whether a key that the carrier reports counts. */
  readonly reported: (key: string, at: number) => boolean
}

/** Carriers report a key when it is released, and over the network, but at most this long after its tones were heard. */
const latestReportMillis = 2000

export const makePressedKeys = (): PressedKeys => {
  let isReporting = false
  /** Keys that have counted, and that the carrier may still report. */
  let unreported: ReadonlyArray<{ readonly key: string; readonly at: number }> = []
  return {
    heard: (key, at) => {
      if (isReporting) return false
      unreported = [...unreported.filter((one) => one.at > at - latestReportMillis), { key, at }]
      return true
    },
    reported: (key, at) => {
      isReporting = true
      const known = unreported.findIndex((one) => one.key === key && one.at > at - latestReportMillis)
      if (known < 0) return true
      // The carrier reports in order, so it has missed the keys before this one, or we misheard them.
      unreported = unreported.slice(known + 1)
      return false
    }
  }
}
