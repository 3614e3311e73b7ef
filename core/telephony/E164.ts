/** E.164 numbers: `+`, country code and subscriber number, 15 digits at most (ITU-T E.164). */

/** Whether a number may be dialed. The shortest numbers in use have 7 digits including the country code. */
export const isDialable = (text: string): boolean => /^\+[1-9]\d{6,14}$/.test(text)

/** Whether a number can be the caller ID of an account: carriers do not assign numbers with fewer than 8 digits. */
export const isOwnNumber = (text: string): boolean => /^\+[1-9]\d{7,14}$/.test(text)
