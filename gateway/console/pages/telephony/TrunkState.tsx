/** Whether a configuration may be called through, and whether it is connected. */
import { State } from "#gateway/console/base/Parts.tsx"
import type { Config, Trunk } from "./types.ts"

export const Readiness = ({ of }: { readonly of: Pick<Config, "is_ready_for_outbound" | "outbound_blocked_reason"> }) => (
  <>
    <State as={of.is_ready_for_outbound ? "good" : "bad"} of={of.is_ready_for_outbound ? "ready" : "not ready"} />
    {of.outbound_blocked_reason === null ? null : <span class="figures">{of.outbound_blocked_reason}</span>}
  </>
)

/** `trunk`: undefined if nothing has been opened or tested yet. */
export const TrunkState = ({ trunk }: { readonly trunk: Trunk | undefined }) => (
  <>
    <State of={trunk?.status ?? "unused"} />
    {trunk?.reason === null || trunk === undefined ? null : <span class="figures">{trunk.reason}</span>}
    {trunk?.endpoints.map(({ endpoint, reason, status }) => (
      <span key={endpoint} class="figures">
        {endpoint}: {status}
        {reason === null ? "" : `, ${reason}`}
      </span>
    ))}
  </>
)
