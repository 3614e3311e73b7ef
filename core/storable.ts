/** Whether Postgres takes the text: no NUL, and no half of a surrogate pair, which is nothing in UTF-8. */
export const isStorable = (text: string): boolean => !text.includes("\0") && text.isWellFormed()
