/** What the API tells of an organization. */
import type { Static, TSchema } from "typebox"
import type { ApiKeyWire, NewApiKeyWire } from "#gateway/wire/ApiKey.ts"
import type { InvitationList, NewInvitationWire } from "#gateway/wire/Invitation.ts"
import type { OptOutListWire, OptOutsAdded } from "#gateway/wire/OptOut.ts"
import type { AuditLogWire, MemberList, PreferencesWire, SettingsWire } from "#gateway/wire/Organization.ts"
import type { QuotasWire, SetOwnQuotas } from "#gateway/wire/Quota.ts"
import type { SessionList } from "#gateway/wire/Session.ts"
import type { WebhookDeliveryList, WebhookEndpointList, WebhookEndpointSecretWire, WebhookEndpointWire } from "#gateway/wire/Webhook.ts"

type Item<Schema extends TSchema, Name extends keyof Static<Schema>> = Static<Schema>[Name] extends ReadonlyArray<infer One> ? One : never

export type Members = Static<typeof MemberList>
export type Member = Item<typeof MemberList, "members">
export type Invitations = Static<typeof InvitationList>
export type Invitation = Item<typeof InvitationList, "invitations">
export type NewInvitation = Static<typeof NewInvitationWire>
export type ApiKey = Static<typeof ApiKeyWire>
export type NewApiKey = Static<typeof NewApiKeyWire>
export type Sessions = Static<typeof SessionList>
export type Session = Item<typeof SessionList, "sessions">
export type AuditLog = Static<typeof AuditLogWire>
export type AuditEntry = Item<typeof AuditLogWire, "entries">
export type Endpoints = Static<typeof WebhookEndpointList>
export type Endpoint = Static<typeof WebhookEndpointWire>
export type EndpointSecret = Static<typeof WebhookEndpointSecretWire>
export type Deliveries = Static<typeof WebhookDeliveryList>
export type Delivery = Item<typeof WebhookDeliveryList, "deliveries">
export type Quotas = Static<typeof QuotasWire>
export type OwnQuotas = Static<typeof SetOwnQuotas>
export type OptOuts = Static<typeof OptOutListWire>
export type OptOut = Item<typeof OptOutListWire, "opt_outs">
export type Added = Static<typeof OptOutsAdded>
export type Settings = Static<typeof SettingsWire>
export type Preferences = Static<typeof PreferencesWire>
