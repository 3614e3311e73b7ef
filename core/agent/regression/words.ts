/** Compares what was said with what a script names: by words, whatever their case and punctuation. */

/** Written without spaces between words, so each character counts as a word. */
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/gu

const wordsOf = (text: string): string =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/['’]/g, "")
    .replaceAll(unspaced, " $& ")
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, " ")
    .trim()

export const hasWords = (text: string): boolean => wordsOf(text) !== ""

/** Whether these very words are in the text, one after the other. */
export const isSaid = (words: string, text: string): boolean => ` ${wordsOf(text)} `.includes(` ${wordsOf(words)} `)
