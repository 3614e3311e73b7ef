/** What only some may do: all others read who may. */
import type { ComponentChildren } from "preact"
import { may } from "./caller.ts"

interface PermittedProps {
  /** The role. */
  readonly needs: Parameters<typeof may>[0]
  readonly scope: Parameters<typeof may>[1]
  readonly children: ComponentChildren
}

export const Permitted = ({ children, needs, scope }: PermittedProps) =>
  may(needs, scope) ? (
    children
  ) : (
    <span class="none">
      This needs the role {needs}, and an API key with scopes needs the scope {scope}.
    </span>
  )
