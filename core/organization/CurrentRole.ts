/** The role of the current fiber's caller; set together with CurrentTenant. Undefined in the engine's own work. */
import { Context } from "effect"
import { includes, type Role } from "./Role.ts"

export const CurrentRole = Context.Reference<Role | undefined>("core/organization/CurrentRole", { defaultValue: () => undefined })

export const mayAdminister = (role: Role | undefined): boolean => role === undefined || includes(role, "admin")
