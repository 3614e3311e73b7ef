/** What the first organization may use, as its operator sets it and as its answers show it. */
import { bodyOf, type TestApi } from "#test/gateway/apiTest.ts"

export const quotasOf = async (api: TestApi) => {
  const operator = await api.makeKey({ is_operator: true })
  const set = (quotas: object) => api.ask("PUT", `/operator/organizations/${api.organizationId}/quotas`, quotas, { key: operator })
  const used = async (name: string) => Number(bodyOf(await api.ask("GET", "/organizations/quotas"))[name]?.["used"])
  return { operator, set, used }
}

export const full = (quota: string, limit: number, used: number, wanted = 1) => ({
  detail: `The organization's quota '${quota}' is full: ${used} of ${limit} are used, and ${wanted} more were requested`
})

export const times = <A>(count: number, make: (at: number) => A): ReadonlyArray<A> => Array.from({ length: count }, (_, at) => make(at))

/** How many answers have each status. */
export const counts = (answers: ReadonlyArray<{ readonly status: number }>): Readonly<Record<number, number>> => {
  const found: Record<number, number> = {}
  for (const { status } of answers) found[status] = (found[status] ?? 0) + 1
  return found
}
