/** Headers whose names suggest a secret. They are neither stored nor sent: everybody who may see the agent could read them. */

const secretWords = ["authorization", "apikey", "accesskey", "privatekey", "bearer", "cookie", "credential", "passw", "secret", "token"]
/** Real header names are shorter. */
const longestName = 256

export const isSecretName = (text: string): boolean => {
  const name = text.slice(0, longestName)
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]/g, "")
  return secretWords.some((word) => plain.includes(word)) || /(^|[-_.])auth($|[-_.])/i.test(name)
}
