/** How far a campaign is: pushed while it is running or paused, and read when its state has changed. */
import { pushedProgress } from "#gateway/console/base/figures.ts"
import { type Reading, useReading } from "#gateway/console/base/reading.ts"
import type { Progress } from "#gateway/console/base/types.ts"

export const useProgress = (id: number): Reading<Progress> =>
  useReading<Progress>(`/campaign/${id}/progress`, ({ subject }) => subject === `campaigns/${id}`, { pushed: pushedProgress(id) })
