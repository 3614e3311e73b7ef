/**
 * The settings of a campaign, each declared once. The types below follow from the declarations, and so do a campaign's inserts, updates and
 * reads (`settingColumns.ts`), what a redial copies, the names in the log, the form for a new campaign and the plan that a campaign dials by.
 */
import type { Row } from "#core/Row.ts"
import { type BreakerConfig, resolve } from "./CircuitBreaker.ts"
import { complete, type RetryConfig } from "./RetryPolicy.ts"
import type { ScheduleConfig } from "./Schedule.ts"

interface Setting {
  /** The column in `campaigns`. The API and the campaign's log use the same name. */
  readonly column: string
  readonly type: "text" | "int" | "jsonb"
  /** Whether a campaign may have no value for it. A client clears such a setting with null. */
  readonly isNullable: boolean
  /** Whether a form for a new campaign offers the value of the newest one. */
  readonly isOffered: boolean
  /** Whether the dial plan of a running campaign contains it. */
  readonly isInPlan: boolean
  /** Converts the client's value into the stored one. */
  readonly stored: (given: never) => unknown
}

/** An object as a client sends it. Missing fields get their defaults. */
type Given<Config> = { readonly [Key in keyof Config]?: Config[Key] | undefined }

export const campaignSettings = {
  name: { column: "name", type: "text", isNullable: false, isOffered: false, isInPlan: false, stored: (name: string) => name },
  retry: {
    column: "retry_config",
    type: "jsonb",
    isNullable: false,
    isOffered: true,
    isInPlan: true,
    stored: (retry: Given<RetryConfig>): RetryConfig => complete(retry)
  },
  /** Dial requests per second. A new campaign without it gets the engine's default. */
  rateLimit: { column: "rate_limit", type: "int", isNullable: false, isOffered: false, isInPlan: true, stored: (rate: number) => rate },
  /** Without it, only the limits of the organization and of the telephony configuration apply. */
  maxConcurrency: {
    column: "max_concurrency",
    type: "int",
    isNullable: true,
    isOffered: true,
    isInPlan: true,
    stored: (calls: number) => calls
  },
  /** Without it, the campaign dials at any time. */
  schedule: {
    column: "schedule_config",
    type: "jsonb",
    isNullable: true,
    isOffered: true,
    isInPlan: true,
    stored: (schedule: ScheduleConfig) => schedule
  },
  /** Without it, the campaign has no circuit breaker. */
  breaker: {
    column: "circuit_breaker",
    type: "jsonb",
    isNullable: true,
    isOffered: true,
    isInPlan: true,
    stored: (breaker: Given<BreakerConfig>): BreakerConfig => resolve(breaker)
  }
} as const satisfies Readonly<Record<string, Setting>>

type Declared = typeof campaignSettings
export type SettingName = keyof Declared
export type SettingColumn = Declared[SettingName]["column"]
export type OfferedColumn = Declared[OfferedSetting]["column"]

type GivenValue<Name extends SettingName> = Parameters<Declared[Name]["stored"]>[0]
type Value<Name extends SettingName> = ReturnType<Declared[Name]["stored"]>
type IfNullable<Name extends SettingName, Absent> = Declared[Name]["isNullable"] extends true ? Absent : never
type With<Flag extends "isOffered" | "isInPlan"> = {
  [Name in SettingName]: Declared[Name][Flag] extends true ? Name : never
}[SettingName]
export type OfferedSetting = With<"isOffered">
export type PlanSetting = With<"isInPlan">

export type CampaignSettings = { readonly [Name in keyof Declared]: Value<Name> | IfNullable<Name, undefined> }

/** A setting that is left out stays as it is; null clears it. Each object is replaced as a whole. */
export type CampaignChanges = { readonly [Name in keyof Declared]?: GivenValue<Name> | IfNullable<Name, null> | undefined }

/** The same changes with defaults filled in, as they are stored. */
export type StoredChanges = { readonly [Name in keyof Declared]?: Value<Name> | IfNullable<Name, null> | undefined }

// `Object.keys` gives strings: the keys of a constant object are known.
export const settingNames = Object.keys(campaignSettings) as ReadonlyArray<SettingName>
export const offeredSettings = settingNames.filter((name): name is OfferedSetting => campaignSettings[name].isOffered)
export const planSettings = settingNames.filter((name): name is PlanSetting => campaignSettings[name].isInPlan)

/** A campaign's settings from its row. */
export const settingsOf = (row: Row<CampaignSettings>): CampaignSettings =>
  // Every name is there, and null has become undefined, which is all that the types differ in.
  Object.fromEntries(settingNames.map((name) => [name, row[name] ?? undefined])) as CampaignSettings

export const storedChanges = (changes: CampaignChanges): StoredChanges => {
  const stored = (name: SettingName) => {
    const given = changes[name]
    if (given === undefined || given === null) return given
    // The value and the function are of the same setting, which the compiler cannot follow through `name`.
    return (campaignSettings[name].stored as (given: unknown) => unknown)(given)
  }
  return Object.fromEntries(settingNames.map((name) => [name, stored(name)]))
}

/** The columns of the settings that a change names, for the log. */
export const changedColumns = (changes: CampaignChanges): ReadonlyArray<SettingColumn> =>
  settingNames.filter((name) => changes[name] !== undefined).map((name) => campaignSettings[name].column)
