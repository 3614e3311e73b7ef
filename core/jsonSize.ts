/** Estimates how many characters a value takes as JSON, without writing it. Stops counting once there are more than `most`. */
export const jsonSize = (value: unknown, most: number): number => {
  if (typeof value === "string") return value.length + 3
  if (typeof value !== "object" || value === null || value instanceof Date) return 8
  let size = 3
  const isList = Array.isArray(value)
  for (const name of Object.keys(value)) {
    if (size > most) break
    size += (isList ? 0 : name.length + 3) + jsonSize(Reflect.get(value, name), most - size)
  }
  return size
}
