/** Keys that a callee presses, however the provider reports them. */

const isDtmf = (digit: string): boolean => /^[0-9*#A-D]$/.test(digit)
/** No menu needs more, and a far end that keeps sending keys must not fill the memory. */
const mostKeys = 256

/** Appends a key to those pressed so far. Ignores it if it is not a DTMF key or the limit is reached. */
export const withKey = (pressed: string, digit: string): string => (isDtmf(digit) && pressed.length < mostKeys ? pressed + digit : pressed)
