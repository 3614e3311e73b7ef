/** Unicode's normal forms of texts that anybody may have written. */

/** A letter of any language has fewer. https://www.unicode.org/reports/tr15/#Stream_Safe_Text_Format */
const overloaded = /(\p{M}{30})\p{M}+/gu

/** Marks beyond the thirtieth on one letter are dropped: sorting a run of them takes time in proportion to the square of its length. */
export const normalForm = (text: string, form: "NFKC" | "NFKD"): string => text.replace(overloaded, "$1").normalize(form)
