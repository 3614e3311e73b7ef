/** The one table from domain error to HTTP. An error that a route may give and that is not here does not compile. */
import type { AgentConfigurationsRefused } from "#core/agent/AgentConfigurations.ts"
import type { CalleeScriptsRefused } from "#core/agent/regression/readScripts.ts"
import { maskedMessage } from "#core/model/ModelSecrets.ts"
import type {
  AgentArchived,
  AgentDefinitionRefused,
  AgentDraftMissing,
  AgentInvalid,
  AgentNotFound,
  AgentTriggerNotFound,
  AgentTriggerTaken,
  AgentUnpublished
} from "#core/agent/Agent.ts"
import type {
  CallerNumberNotFound,
  CallUnsettled,
  PhoneNumberRefused,
  RunCalled,
  RunRefused,
  TestNumberMissing,
  TriggerNotInVersion
} from "#core/call/CallRequest.ts"
import type { CallNotPlaced, ConcurrencyExhausted } from "#core/call/Dialer.ts"
import type { NumberInCall } from "#core/call/NumberHold.ts"
import type { ContactNotFound } from "#core/contact/Contact.ts"
import type { NumberOptedOut, OptOutNotFound } from "#core/contact/OptOut.ts"
import type { CampaignNotFound, CampaignNotReady, CampaignStateConflict } from "#core/campaign/Campaign.ts"
import type { SourceNotFound, SourceRefused } from "#core/contact/ContactSource.ts"
import type { ContactsNotUnknown } from "#core/campaign/Contacts.ts"
import type { FolderNameTaken, FolderNotFound } from "#core/folder/Folder.ts"
import type { RedialRefused } from "#core/campaign/Redial.ts"
import type { UploadComplete, UploadRefused } from "#core/file/UploadCompletion.ts"
import type { ApiKeyExpired, ApiKeyNotFound } from "#core/organization/ApiKey.ts"
import type { InvitationNotFound, InvitationRefused, TooManyInvitations } from "#core/organization/Invitation.ts"
import type { TooManyAttempts } from "#core/organization/LoginLimit.ts"
import type { PasswordsBusy } from "#core/organization/PasswordTurns.ts"
import type { AlreadyMember, LastOwner, MemberNotFound } from "#core/organization/Member.ts"
import type { ModelSecretMasked, ModelsMissing } from "#core/model/ModelConfiguration.ts"
import { maxModelDocumentSize, type ModelDocumentRefused, type ModelDocumentTooLarge } from "#core/model/ModelDocument.ts"
import type { RoleTooLow } from "#core/organization/Role.ts"
import type { ScopeMissing } from "#core/organization/Scope.ts"
import type { PasswordWrong, SessionNotFound } from "#core/organization/Session.ts"
import type * as user from "#core/organization/User.ts"
import type { CredentialDataRefused, CredentialNameTaken, CredentialNotFound } from "#core/credential/Credential.ts"
import type { CredentialHostInvalid, CredentialHostRefused } from "#core/credential/CredentialHosts.ts"
import type { DocumentNotFound } from "#core/document/Document.ts"
import type { RecordingIdTaken, RecordingNotFound } from "#core/recording/Recording.ts"
import type { UploadMissing } from "#core/file/ResourceUploads.ts"
import type { ToolNotFound } from "#core/tool/Tool.ts"
import type { ReportDayInvalid } from "#core/report/Report.ts"
import type { TooManyFollowers } from "#core/event/LiveEvents.ts"
import type { NodeWebhookNotDead, NodeWebhookNotFound } from "#core/webhook/NodeWebhook.ts"
import type {
  TooManyWebhookEndpoints,
  WebhookDeliveryNotDead,
  WebhookDeliveryNotFound,
  WebhookEndpointDisabled,
  WebhookEndpointNotFound,
  WebhookUrlRefused
} from "#core/webhook/WebhookEndpoint.ts"
import type { FilesAway } from "#core/FilesAway.ts"
import type { RunNotCompleted } from "#core/file/Retention.ts"
import type { RunNotFound } from "#core/run/Run.ts"
import type { RunAttributeRefused, RunDateInvalid, RunFilterInvalid } from "#core/run/RunFilter.ts"
import { type BodyTooLarge, failure, type Reply } from "#gateway/http/Endpoint.ts"
import type { FileMissing } from "#gateway/ports/FileStore.ts"
import type * as own from "#gateway/http/GatewayErrors.ts"
import { graphViolation, type InvalidGraph, invalidGraph, misfit } from "./graphViolation.ts"
import { type AllowanceError, allowanceRefusals } from "./allowanceRefusals.ts"
import { shownViolations } from "./shownViolations.ts"
import { type TelephonyError, telephonyRefusals } from "./telephonyRefusals.ts"
import { type RevisionConflict, type TextChatError, textChatRefusals } from "./textChatRefusals.ts"
import { type Violation, valueError } from "./Violation.ts"
import type { StopUnconfirmed } from "#core/Signals.ts"

export * from "#gateway/http/GatewayErrors.ts"

export type DomainError =
  | AgentArchived
  | AgentConfigurationsRefused
  | AgentDefinitionRefused
  | AgentDraftMissing
  | AgentInvalid
  | AgentNotFound
  | AgentTriggerNotFound
  | AgentTriggerTaken
  | AgentUnpublished
  | AllowanceError
  | AlreadyMember
  | ApiKeyExpired
  | ApiKeyNotFound
  | own.ArtifactUnsupported
  | BodyTooLarge
  | CalleeScriptsRefused
  | CallerNumberNotFound
  | CallNotPlaced
  | CallUnsettled
  | StopUnconfirmed
  | CampaignNotFound
  | CampaignNotReady
  | CampaignStateConflict
  | ConcurrencyExhausted
  | ContactNotFound
  | ContactsNotUnknown
  | CredentialDataRefused
  | CredentialHostInvalid
  | CredentialHostRefused
  | CredentialNameTaken
  | CredentialNotFound
  | DocumentNotFound
  | own.FileForbidden
  | own.FileKeyInvalid
  | FileMissing
  | FilesAway
  | FolderNameTaken
  | FolderNotFound
  | own.IdempotencyKeyInFlight
  | own.IdempotencyKeyReused
  | user.KeyWithoutUser
  | InvitationNotFound
  | InvitationRefused
  | LastOwner
  | own.LinkRefused
  | user.LoginNeeded
  | user.LoginRefused
  | MemberNotFound
  | ModelDocumentRefused
  | ModelDocumentTooLarge
  | ModelSecretMasked
  | ModelsMissing
  | NodeWebhookNotDead
  | NodeWebhookNotFound
  | own.NotAuthenticated
  | own.NotReady
  | NumberInCall
  | NumberOptedOut
  | OptOutNotFound
  | own.NotFound
  | own.NotPossible
  | user.OrganizationNotFound
  | PasswordsBusy
  | PasswordWrong
  | PhoneNumberRefused
  | RecordingIdTaken
  | RecordingNotFound
  | RoleTooLow
  | RedialRefused
  | ReportDayInvalid
  | RunAttributeRefused
  | RunCalled
  | RunDateInvalid
  | RunFilterInvalid
  | RunNotCompleted
  | RunNotFound
  | RunRefused
  | user.SignupDisabled
  | user.SignupRefused
  | ScopeMissing
  | SessionNotFound
  | SourceNotFound
  | SourceRefused
  | TelephonyError
  | TextChatError
  | TooManyAttempts
  | ToolNotFound
  | TooManyFollowers
  | TooManyInvitations
  | TooManyWebhookEndpoints
  | own.Unprocessable
  | own.UpgradeRequired
  | WebhookDeliveryNotDead
  | WebhookDeliveryNotFound
  | WebhookEndpointDisabled
  | WebhookEndpointNotFound
  | WebhookUrlRefused
  | UploadMissing
  | TestNumberMissing
  | TriggerNotInVersion
  | UploadComplete
  | UploadRefused
  | user.UserNotFound
export type DomainTag = DomainError["_tag"]
export type ErrorOf<Tag extends DomainTag> = Extract<DomainError, { readonly _tag: Tag }>

type Detail = string | ReadonlyArray<Violation> | InvalidGraph | RevisionConflict
type Refusal<Tag extends DomainTag> = readonly [status: number, detail: (error: ErrorOf<Tag>) => Detail]

const anyOf = (states: ReadonlyArray<string>): string => states.map((state) => `'${state}'`).join(" or ")

const mostNamed = 5
/** Names the first few rows, as refusals of a list do. */
const named = (rows: ReadonlyArray<number>): string => {
  const more = rows.length - mostNamed
  return rows.slice(0, mostNamed).join(", ") + (more > 0 ? ` and ${more} more` : "")
}

const refusals: { readonly [Tag in DomainTag]: Refusal<Tag> } = {
  AgentArchived: [409, () => "Workflow is not active"],
  AgentConfigurationsRefused: [422, ({ problems }) => problems.map(misfit("body", "workflow_configurations"))],
  AgentDefinitionRefused: [422, ({ problems }) => problems.map(graphViolation)],
  AgentInvalid: [422, ({ problems }) => invalidGraph(problems)],
  AgentDraftMissing: [400, () => "No draft to publish"],
  AgentNotFound: [404, () => "Workflow not found"],
  AgentTriggerNotFound: [404, () => "Agent trigger not found"],
  AgentTriggerTaken: [
    409,
    () => "Trigger path is already in use. Please choose another one or leave empty to use a unique one generated by the server."
  ],
  AgentUnpublished: [409, ({ reason }) => reason],
  ...allowanceRefusals,
  AlreadyMember: [409, () => "This user is already a member"],
  ApiKeyExpired: [422, () => [valueError(["body", "expires_at"], null, "expires_at must be a time in the future")]],
  ApiKeyNotFound: [404, () => "API key not found"],
  ArtifactUnsupported: [400, () => "Unsupported artifact type"],
  BodyTooLarge: [413, ({ limit }) => `The request body is larger than ${limit} bytes`],
  CalleeScriptsRefused: [422, ({ problems }) => problems.map(misfit("body"))],
  CallerNumberNotFound: [400, () => "from_phone_number_not_found"],
  CallNotPlaced: [400, ({ reason }) => `Failed to initiate call: ${reason}`],
  StopUnconfirmed: [503, () => "It is not confirmed yet that dialing has stopped: repeat the request"],
  CallUnsettled: [503, () => "It is not yet known whether the call was placed"],
  CampaignNotFound: [404, () => "Campaign not found"],
  CampaignNotReady: [400, ({ reason }) => reason],
  CampaignStateConflict: [
    409,
    ({ action, expected, state }) =>
      action === "update"
        ? `Cannot update a ${state} campaign`
        : action === "redial"
          ? `Only completed campaigns can be redialed (current state: ${state})`
          : `Campaign must be in ${anyOf(expected)} state to ${action}, current state: ${state}`
  ],
  ConcurrencyExhausted: [429, () => "Concurrent call limit reached"],
  ContactNotFound: [404, () => "Contact not found"],
  ContactsNotUnknown: [409, ({ rowNumbers }) => `No call of unknown outcome in rows: ${named(rowNumbers)}`],
  CredentialDataRefused: [400, ({ credentialType, field }) => `Missing required field '${field}' for credential type '${credentialType}'`],
  CredentialHostInvalid: [
    422,
    ({ host }) => [valueError(["body", "allowed_hosts"], host, "not a host such as crm.example.com or 10.0.0.1:8080")]
  ],
  CredentialHostRefused: [422, ({ path, reason }) => [valueError(["body", "definition", ...path], null, reason)]],
  CredentialNameTaken: [409, ({ name }) => `A credential with the name '${name}' already exists`],
  CredentialNotFound: [404, () => "Credential not found"],
  DocumentNotFound: [404, () => "Document not found"],
  FileForbidden: [403, ({ detail }) => detail],
  FileKeyInvalid: [400, () => "Invalid key format"],
  FilesAway: [503, () => "The store of files does not answer: try again later"],
  FileMissing: [404, () => "File not found"],
  FolderNameTaken: [409, ({ name }) => `A folder with the name '${name}' already exists`],
  FolderNotFound: [404, ({ id }) => `Folder with id ${id} not found`],
  IdempotencyKeyInFlight: [409, () => "A request with this Idempotency-Key is still in progress"],
  IdempotencyKeyReused: [422, () => "This Idempotency-Key was used for a request with different content"],
  InvitationNotFound: [404, () => "Invitation not found"],
  InvitationRefused: [400, () => "Invalid or expired invitation"],
  KeyWithoutUser: [401, () => "API key has no associated user"],
  LastOwner: [409, () => "An organization must have an owner"],
  LinkRefused: [403, () => "Invalid or expired link"],
  LoginNeeded: [403, () => "Only a logged-in user may do this"],
  LoginRefused: [401, () => "Invalid email or password"],
  MemberNotFound: [404, () => "Member not found"],
  ModelDocumentRefused: [422, ({ problems }) => problems.map(misfit("body"))],
  ModelDocumentTooLarge: [
    422,
    () => [valueError(["body"], null, `All services together must have at most ${maxModelDocumentSize} bytes of JSON`)]
  ],
  ModelSecretMasked: [400, ({ kind, name }) => maskedMessage(`${kind} ${name}`)],
  ModelsMissing: [
    422,
    ({ problems }) =>
      problems.map(({ kind, message }) => ({
        type: "value_error",
        loc: [kind],
        msg: `${kind}: ${message}`,
        input: null,
        ctx: { model: kind }
      }))
  ],
  NodeWebhookNotDead: [409, ({ state }) => `Only dead-lettered deliveries can be replayed (current state: ${state})`],
  NodeWebhookNotFound: [404, () => "Webhook delivery not found"],
  NotAuthenticated: [401, ({ detail }) => detail],
  NotReady: [503, ({ detail }) => detail],
  NotFound: [404, ({ detail }) => detail],
  NotPossible: [400, ({ detail }) => detail],
  NumberInCall: [409, () => "The phone number is in another call of the organization, or it is not confirmed yet that that call has ended"],
  NumberOptedOut: [
    409,
    () =>
      "The phone number has opted out of calls of the organization: GET /api/v1/organizations/opt-outs?phone_number=... shows the opt-out"
  ],
  OptOutNotFound: [404, () => "Opt-out not found"],
  OrganizationNotFound: [404, () => "Organization not found"],
  PasswordsBusy: [503, () => "Too many log-ins at the moment, try again in a few seconds"],
  PasswordWrong: [400, () => "The current password is wrong"],
  PhoneNumberRefused: [400, ({ message }) => `Failed to initiate call: ${message}`],
  RoleTooLow: [403, () => "Your role does not allow this"],
  RedialRefused: [
    400,
    ({ reason }) =>
      ({
        already_redialed: "This campaign has already been redialed",
        nobody_matches: "No subscribers match the selected redial criteria",
        all_opted_out: "All subscribers that match the selected redial criteria have opted out"
      })[reason]
  ],
  RecordingIdTaken: [409, ({ recordingId }) => `A recording with the ID '${recordingId}' already exists`],
  RecordingNotFound: [404, () => "Recording not found"],
  ReportDayInvalid: [400, ({ reason }) => reason],
  RunAttributeRefused: [403, ({ attribute }) => `Invalid attribute '${attribute}'`],
  RunDateInvalid: [400, () => "Invalid date format"],
  RunCalled: [409, ({ isLive }) => (isLive ? "Workflow run already has an active call" : "Workflow run already has a finished call")],
  RunFilterInvalid: [400, ({ list }) => (list === "usage" ? "Invalid filters format" : "Invalid filter format")],
  RunNotCompleted: [409, ({ id }) => `Call ${id} is still in progress`],
  RunNotFound: [404, () => "Workflow run not found"],
  RunRefused: [400, ({ reason }) => (reason === "not_found" ? "Workflow run not found" : "workflow_run_workflow_mismatch")],
  ScopeMissing: [403, ({ scope }) => `The API key lacks the scope '${scope}'`],
  SessionNotFound: [404, () => "Session not found"],
  SignupDisabled: [403, () => "Signup is disabled"],
  SignupRefused: [
    403,
    () =>
      "Signup was refused: it requires the set-up code that the engine printed last or an invitation for this address, and an existing account requires its password"
  ],
  SourceNotFound: [400, ({ sourceId }) => `Failed to access CSV file: ${sourceId}`],
  SourceRefused: [400, ({ reason }) => reason],
  ...telephonyRefusals,
  ...textChatRefusals,
  TooManyAttempts: [429, () => "Too many attempts, try again in a few minutes"],
  ToolNotFound: [404, () => "Tool not found"],
  TestNumberMissing: [400, () => "Phone number must be provided in request or set in organization preferences"],
  TriggerNotInVersion: [404, () => "Trigger not found in the selected Agent"],
  TooManyFollowers: [429, ({ limit }) => `An organization may have at most ${limit} event connections`],
  TooManyInvitations: [409, ({ limit }) => `An organization may have at most ${limit} pending invitations`],
  TooManyWebhookEndpoints: [409, ({ limit }) => `An organization may have at most ${limit} webhook endpoints`],
  Unprocessable: [422, ({ detail }) => detail],
  UpgradeRequired: [426, () => "This URL is for websockets only"],
  WebhookDeliveryNotDead: [409, ({ state }) => `Only dead-lettered deliveries can be replayed (current state: ${state})`],
  WebhookDeliveryNotFound: [404, () => "Webhook delivery not found"],
  WebhookEndpointDisabled: [409, () => "The webhook endpoint is disabled"],
  WebhookEndpointNotFound: [404, () => "Webhook endpoint not found"],
  WebhookUrlRefused: [422, ({ reason }) => [valueError(["body", "url"], null, reason)]],
  UploadMissing: [404, () => "Uploaded file not found"],
  UploadComplete: [409, () => "Different bytes have already been uploaded to this URL"],
  UploadRefused: [403, () => "Invalid or expired upload URL"],
  UserNotFound: [404, () => "User not found"]
}

export const statusOf = (tag: DomainTag): number => refusals[tag][0]

export const refuse = <Tag extends DomainTag>(error: ErrorOf<Tag>): Reply => {
  // This is the row of the error's own tag: TypeScript loses the connection when it indexes by it.
  const [status, detail] = refusals[error._tag] as Refusal<Tag>
  const said = detail(error)
  const reply = typeof said === "string" || "is_valid" in said || "message" in said ? failure(status, said) : unprocessable(said, status)
  if (error._tag === "NumberInCall" || error._tag === "NumberOptedOut") return { ...reply, isPassing: true }
  if (!("retryAfterSeconds" in error)) return reply
  return { ...reply, headers: [...reply.headers, ["retry-after", String(error.retryAfterSeconds)]] }
}

export const unprocessable = (violations: ReadonlyArray<Violation>, status = 422): Reply => failure(status, shownViolations(violations))
