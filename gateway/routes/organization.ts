/** /api/v1/organizations: the caller's organization, its members and its settings. */
import { Effect } from "effect"
import { Members } from "#core/organization/Members.ts"
import { ModelConfigurations } from "#core/model/ModelConfigurations.ts"
import { OrganizationSettings } from "#core/organization/OrganizationSettings.ts"
import { Retentions } from "#core/file/Retentions.ts"
import { route, tagged, type Tag } from "#gateway/request/Route.ts"
import { Changed, changed } from "#gateway/wire/ApiKey.ts"
import {
  ChangeMember,
  concurrencyOf,
  ContextWire,
  contextWire,
  MemberList,
  MemberPath,
  MemberWire,
  memberWire,
  preferencesOf,
  PreferencesWire,
  preferencesWire,
  retentionOf,
  SetSettings,
  SettingsWire,
  settingsWire
} from "#gateway/wire/Organization.ts"

const memberRoutes = tagged({ name: "Members", about: "The people in the organization, and their roles." }, [
  route({
    method: "get",
    path: "/api/v1/organizations/members",
    name: "listMembers",
    summary: "List members, in the order of joining",
    description: "With their roles. People who were invited and have not accepted are in the list of invitations.",
    success: MemberList,
    handle: ({ caller }) =>
      Members.use((_) => _.list(caller.organizationId)).pipe(Effect.map((members) => ({ members: members.map(memberWire) })))
  }),
  route({
    method: "patch",
    path: "/api/v1/organizations/members/:user_id",
    name: "changeMember",
    summary: "Change the role of a member",
    description:
      "The last owner of an organization stays one. 403 for a role above the caller's, 409 for the last owner, 404 if the user is no member.",
    needs: "admin",
    params: MemberPath,
    body: ChangeMember,
    success: MemberWire,
    errors: ["MemberNotFound", "RoleTooLow", "LastOwner"],
    handle: ({ body, caller, params }) => Members.use((_) => _.setRole(caller, params.user_id, body.role)).pipe(Effect.map(memberWire))
  }),
  route({
    method: "delete",
    path: "/api/v1/organizations/members/:user_id",
    name: "removeMember",
    summary: "Remove a member, whose API keys are refused from now on",
    description:
      "The user stays, in their other organizations. 403 for a role above the caller's, 409 for the last owner, 404 if the user is no member.",
    needs: "admin",
    params: MemberPath,
    success: Changed,
    errors: ["MemberNotFound", "RoleTooLow", "LastOwner"],
    handle: ({ caller, params }) =>
      Effect.as(
        Members.use((_) => _.remove(caller, params.user_id)),
        changed("Member removed successfully")
      )
  })
])

export const organizationTag: Tag = { name: "Organization", about: "Settings of the organization." }

const settingsRoutes = tagged(organizationTag, [
  route({
    method: "get",
    path: "/api/v1/organizations/context",
    name: "getOrganizationContext",
    summary: "Read the caller's organization",
    description: "The organization that the request works in, and which services it has configured. For clients of the existing product.",
    success: ContextWire,
    handle: ({ caller: { organizationId } }) =>
      Effect.gen(function* () {
        const { providerId } = yield* OrganizationSettings
        const { document } = yield* ModelConfigurations
        return contextWire(organizationId, yield* providerId(organizationId), yield* document(organizationId))
      })
  }),
  route({
    method: "get",
    path: "/api/v1/organizations/preferences",
    name: "getOrganizationPreferences",
    summary: "Read the organization's preferences",
    description: "What people set for the pages of the existing product: a number to test calls with, and a time zone.",
    success: PreferencesWire,
    handle: ({ caller }) => OrganizationSettings.use((_) => _.preferences(caller.organizationId)).pipe(Effect.map(preferencesWire))
  }),
  route({
    method: "put",
    path: "/api/v1/organizations/preferences",
    name: "setOrganizationPreferences",
    summary: "Replace the organization's preferences",
    description: "Members that are left out are cleared. Calls and campaigns do not depend on them.",
    needs: "admin",
    body: PreferencesWire,
    success: PreferencesWire,
    handle: ({ body, caller }) =>
      OrganizationSettings.use((_) => _.setPreferences(caller.organizationId, preferencesOf(body))).pipe(Effect.map(preferencesWire))
  }),
  route({
    method: "get",
    path: "/api/v1/organizations/settings",
    name: "getOrganizationSettings",
    summary: "Read the organization's call limit, and what is kept of its calls",
    description: "How many calls may be live at once, whether calls are recorded and transcribed, and for how many days that is kept.",
    success: SettingsWire,
    handle: ({ caller: { organizationId } }) =>
      Effect.gen(function* () {
        const concurrency = yield* OrganizationSettings.use((_) => _.concurrency(organizationId))
        return settingsWire(concurrency, yield* Retentions.use((_) => _.get(organizationId)))
      })
  }),
  route({
    method: "put",
    path: "/api/v1/organizations/settings",
    name: "setOrganizationSettings",
    summary: "Set the organization's call limit, and what is kept of its calls",
    description:
      "Running campaigns follow the limit at once, and calls in progress continue. The limit cannot exceed what the operator allows (`/organizations/quotas`). Days that are left out stay as they are; older files are deleted within the hour.",
    needs: "admin",
    body: SetSettings,
    success: SettingsWire,
    errors: ["QuotaNotAllowed"],
    handle: ({ body, caller }) =>
      Effect.gen(function* () {
        const concurrency = yield* OrganizationSettings.use((_) => _.setConcurrency(caller, concurrencyOf(body)))
        return settingsWire(concurrency, yield* Retentions.use((_) => _.set(caller.organizationId, retentionOf(body))))
      })
  })
])

export const organizationRoutes = [...memberRoutes, ...settingsRoutes]
