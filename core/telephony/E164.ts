/** E.164 numbers: `+`, country code and subscriber number, 15 digits at most (ITU-T E.164). */

/** A number that may be dialed. The shortest in use have 7 digits with their country code. */
export const isDialable = (text: string): boolean => /^\+[1-9]\d{6,14}$/.test(text)

/** A number of one's own, to be shown as caller ID: carriers assign none shorter than 8 digits. */
export const isOwnNumber = (text: string): boolean => /^\+[1-9]\d{7,14}$/.test(text)
