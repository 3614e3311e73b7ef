const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

/** Another text that decodes to the same bytes: the last digit of base64 has bits that no byte uses, unless the bytes are a multiple of three. */
export const twinText = (text: string): string => {
  const [, begin = "", last = "", padding = ""] = /^(.*?)([A-Za-z0-9+/_-])(=*)$/s.exec(text) ?? []
  const twin = [...`${alphabet}+/-_`].find(
    (other) => other !== last && Buffer.from(begin + other, "base64").equals(Buffer.from(begin + last, "base64"))
  )
  if (twin === undefined) throw new Error("this text has no twin")
  return begin + twin + padding
}
