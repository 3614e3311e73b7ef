/** The one table from domain error to HTTP. An error that a route may give and that is not here does not compile. */
import { Schema } from "effect"
import type { AgentArchived, AgentDefinitionRefused, AgentNotFound, GraphProblem } from "#core/agent/Agent.ts"
import type { PhoneNumberRefused } from "#core/call/Calls.ts"
import type { CallNotPlaced, ConcurrencyExhausted } from "#core/call/Dialer.ts"
import type { CampaignNotFound, CampaignNotReady, CampaignStateConflict, SourceRefused } from "#core/campaign/Campaign.ts"
import type { SourceNotFound } from "#core/campaign/ContactSource.ts"
import type { UploadRefused } from "#core/campaign/Uploads.ts"
import type { RunNotFound } from "#core/run/Run.ts"
import type { RunAttributeRefused, RunFilterInvalid } from "#core/run/RunFilter.ts"
import type { TelephonyConfigNameTaken, TelephonyConfigNotFound, TelephonyNotConfigured } from "#core/telephony/TelephonyConfig.ts"
import { type BodyTooLarge, failure, type Reply } from "./Endpoint.ts"
import type { FileMissing } from "./FileStore.ts"
import { type Violation, valueError } from "./validation.ts"

export class NotAuthenticated extends Schema.TaggedError<NotAuthenticated>()("NotAuthenticated", { detail: Schema.String }) {}
/** What the path names is not there; for routes whose wording differs from the table's. */
export class NotFound extends Schema.TaggedError<NotFound>()("NotFound", { detail: Schema.String }) {}
/** A request that fits its schema and makes no sense. */
export class Unprocessable extends Schema.TaggedError<Unprocessable>()("Unprocessable", { detail: Schema.String }) {}
/** A file that is not this organization's. */
export class FileForbidden extends Schema.TaggedError<FileForbidden>()("FileForbidden", { detail: Schema.String }) {}
export class FileKeyInvalid extends Schema.TaggedError<FileKeyInvalid>()("FileKeyInvalid", {}) {}
/** An expired or altered address. */
export class LinkRefused extends Schema.TaggedError<LinkRefused>()("LinkRefused", {}) {}
/** This node cannot do its work. */
export class NotReady extends Schema.TaggedError<NotReady>()("NotReady", { detail: Schema.String }) {}
/** A form without exactly one file in it. */
export class FormInvalid extends Schema.TaggedError<FormInvalid>()("FormInvalid", {}) {}

export type DomainError =
  | AgentArchived
  | AgentDefinitionRefused
  | AgentNotFound
  | BodyTooLarge
  | CallNotPlaced
  | CampaignNotFound
  | CampaignNotReady
  | CampaignStateConflict
  | ConcurrencyExhausted
  | FileForbidden
  | FileKeyInvalid
  | FileMissing
  | FormInvalid
  | LinkRefused
  | NotAuthenticated
  | NotReady
  | NotFound
  | PhoneNumberRefused
  | RunAttributeRefused
  | RunFilterInvalid
  | RunNotFound
  | SourceNotFound
  | SourceRefused
  | TelephonyConfigNameTaken
  | TelephonyConfigNotFound
  | TelephonyNotConfigured
  | Unprocessable
  | UploadRefused
export type DomainTag = DomainError["_tag"]
export type ErrorOf<Tag extends DomainTag> = Extract<DomainError, { readonly _tag: Tag }>

type Detail = string | ReadonlyArray<Violation>
type Refusal<Tag extends DomainTag> = readonly [status: number, detail: (error: ErrorOf<Tag>) => Detail]

const expectedState = { start: "'draft' or 'paused'", resume: "'paused'", pause: "'running'" } as const

const problem = ({ id, kind, message, path }: GraphProblem): Violation => ({
  ...valueError(["body", "workflow_definition", ...path], null, message),
  ctx: { error: {}, kind, id }
})

const refusals: { readonly [Tag in DomainTag]: Refusal<Tag> } = {
  AgentArchived: [409, () => "Workflow is not active"],
  AgentDefinitionRefused: [422, ({ problems }) => problems.map(problem)],
  AgentNotFound: [404, () => "Workflow not found"],
  BodyTooLarge: [413, ({ limit }) => `The request body is larger than ${limit} bytes`],
  CallNotPlaced: [400, ({ reason }) => `Failed to initiate call: ${reason}`],
  CampaignNotFound: [404, () => "Campaign not found"],
  CampaignNotReady: [400, ({ reason }) => reason],
  CampaignStateConflict: [
    409,
    ({ action, state }) =>
      action === "update"
        ? `Cannot update a ${state} campaign`
        : `Campaign must be in ${expectedState[action]} state to ${action}, current state: ${state}`
  ],
  ConcurrencyExhausted: [429, () => "Concurrent call limit reached"],
  FileForbidden: [403, ({ detail }) => detail],
  FileKeyInvalid: [400, () => "Invalid key format"],
  FileMissing: [404, () => "File not found"],
  FormInvalid: [400, () => "The form must have exactly one file"],
  LinkRefused: [403, () => "Invalid or expired link"],
  NotAuthenticated: [401, ({ detail }) => detail],
  NotReady: [503, ({ detail }) => detail],
  NotFound: [404, ({ detail }) => detail],
  PhoneNumberRefused: [400, () => "Failed to initiate call: phone_number must be in E.164 format and start with '+'"],
  RunAttributeRefused: [403, ({ attribute }) => `Invalid attribute '${attribute}'`],
  RunFilterInvalid: [400, () => "Invalid filter format"],
  RunNotFound: [404, () => "Workflow run not found"],
  SourceNotFound: [400, ({ sourceId }) => `Failed to access CSV file: ${sourceId}`],
  SourceRefused: [400, ({ reason }) => reason],
  TelephonyConfigNameTaken: [
    409,
    ({ name }) => `A telephony configuration named '${name}' already exists in this organization. Pick a different name.`
  ],
  TelephonyConfigNotFound: [400, () => "telephony_configuration_not_found"],
  TelephonyNotConfigured: [400, () => "Telephony provider not configured for this organization"],
  Unprocessable: [422, ({ detail }) => detail],
  UploadRefused: [403, () => "Invalid or expired upload address"]
}

export const statusOf = (tag: DomainTag): number => refusals[tag][0]

export const refuse = <Tag extends DomainTag>(error: ErrorOf<Tag>): Reply => {
  // The row of the error's own tag: indexing by it loses the tie between the two.
  const [status, detail] = refusals[error._tag] as Refusal<Tag>
  return failure(status, detail(error))
}

// An answer must not grow far beyond its request.
const violationsShown = 1000
export const unprocessable = (violations: ReadonlyArray<Violation>): Reply => failure(422, violations.slice(0, violationsShown))
