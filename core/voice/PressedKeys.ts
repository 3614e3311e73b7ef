/**
 * Keys that are heard by their tones and keys that the carrier reports are the same presses, told twice. The carrier's word is better but later: once it
 * has reported a key on this call, tones do not count any more, and reports of keys that did count before are dropped. Pure but for its state.
 */

interface PressedKeys {
  /** Whether a key whose tones were heard counts. Times are milliseconds of any clock. */
  readonly heard: (key: string, at: number) => boolean
  /** Whether a key that the carrier reports counts. */
  readonly reported: (key: string, at: number) => boolean
}

/** Carriers report a key when it is released, and over the network: by then it has been heard this long ago at most. */
const latestReportMillis = 2000

export const makePressedKeys = (): PressedKeys => {
  let isReporting = false
  /** Keys that count, and that the carrier may yet report. */
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
      // They are reported in order: those before it were missed, or misheard.
      unreported = unreported.slice(known + 1)
      return false
    }
  }
}
