/** What is wrong with settings together of which each is right. */

/** Variables by name. An empty one counts as missing. */
export type Environment = Readonly<Record<string, string | undefined>>

export const conflictsOf = (environment: Environment): ReadonlyArray<string> => {
  const has = (name: string): boolean => Boolean(environment[name])
  const inBucket = has("FILES_URL")
  const hasKey = has("AWS_ACCESS_KEY_ID") && has("AWS_SECRET_ACCESS_KEY")
  return [
    ...(inBucket && !hasKey ? ["FILES_URL needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"] : []),
    ...(has("TURN_URLS") === has("TURN_SECRET") ? [] : ["TURN_URLS and TURN_SECRET need each other"]),
    ...(inBucket && has("FILES_DIR") ? ["FILES_URL and FILES_DIR exclude each other"] : [])
  ]
}
