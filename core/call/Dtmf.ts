/** Keys that a callee presses, by whatever way the provider tells of them. */

const isDtmf = (digit: string): boolean => /^[0-9*#A-D]$/.test(digit)
/** No menu needs more, and a far end that never stops sending keys must not fill the memory. */
const mostKeys = 256

/** The keys pressed so far with one more; unchanged when it is no DTMF key, or when there are enough. */
export const withKey = (pressed: string, digit: string): string => (isDtmf(digit) && pressed.length < mostKeys ? pressed + digit : pressed)
