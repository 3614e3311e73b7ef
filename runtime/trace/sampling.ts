/** Which traces are exported. Decided by the trace's id alone, so that engines that do not know each other decide alike. */

/** The last 14 digits are random even in ids that start with a time; 13 of them fit into a number. */
const randomFrom = -14
const randomUntil = -1
const randomValues = 2 ** 52

/** `traceId`: 32 hexadecimal digits. */
export const isSampled = (traceId: string, ratio: number): boolean =>
  Number.parseInt(traceId.slice(randomFrom, randomUntil), 16) / randomValues >= 1 - ratio
