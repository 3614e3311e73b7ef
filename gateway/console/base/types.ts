/** What the console reads, as the API declares it. */
import type { Static } from "typebox"
import type { AgentListItem, AgentName as AgentNameWire, AgentWire } from "#gateway/wire/Agent.ts"
import type { AgentTemplateWire } from "#gateway/wire/AgentTemplate.ts"
import type { AgentVersionWire } from "#gateway/wire/AgentVersion.ts"
import type { CreatedRun as CreatedRunWire } from "#gateway/wire/BrowserCall.ts"
import type {
  AdvisedCampaignWire,
  CampaignDefaultsWire,
  CampaignListWire,
  CampaignProgressWire,
  CampaignWire
} from "#gateway/wire/Campaign.ts"
import type { CampaignOutcomesWire } from "#gateway/wire/CampaignOutcomes.ts"
import type { ContactAttemptsWire, ContactListWire } from "#gateway/wire/Contact.ts"
import type { EngineList } from "#gateway/wire/Engine.ts"
import type { EventWire } from "#gateway/wire/Event.ts"
import type { UploadAddress } from "#gateway/wire/File.ts"
import type { ListCheckWire } from "#gateway/wire/ListCheck.ts"
import type { NodeTypeList } from "#gateway/wire/NodeType.ts"
import type { QuotasWire } from "#gateway/wire/Quota.ts"
import type { RunPageWire, RunWire } from "#gateway/wire/Run.ts"
import type { CallerWire } from "#gateway/wire/Session.ts"
import type { TelephonyConfigList } from "#gateway/wire/Telephony.ts"
import type { TrunkOutageList } from "#gateway/wire/TrunkOutage.ts"
import type { TextChatWire } from "#gateway/wire/TextChat.ts"
import type { HealthWire, TrunkList } from "#gateway/wire/Health.ts"
import type { DownFrame as DownFrameWire } from "#gateway/wire/Signaling.ts"
import type { TurnCredentialsWire } from "#gateway/wire/Turn.ts"

export type Caller = Static<typeof CallerWire>
export type Happened = Static<typeof EventWire>
export type Campaign = Static<typeof CampaignWire>
export type Campaigns = Static<typeof CampaignListWire>
export type Progress = Static<typeof CampaignProgressWire>
export type Contacts = Static<typeof ContactListWire>
export type Quotas = Static<typeof QuotasWire>
export type Run = Static<typeof RunWire>
export type Trunks = Static<typeof TrunkList>
export type TrunkOutages = Static<typeof TrunkOutageList>
export type Runs = Static<typeof RunPageWire>
export type Agent = Static<typeof AgentWire>
export type AgentItem = Static<typeof AgentListItem>
export type AgentName = Static<typeof AgentNameWire>
export type AgentTemplate = Static<typeof AgentTemplateWire>
export type AgentVersion = Static<typeof AgentVersionWire>
export type TextChat = Static<typeof TextChatWire>
export type NodeTypes = Static<typeof NodeTypeList>
export type AdvisedCampaign = Static<typeof AdvisedCampaignWire>
export type CampaignDefaults = Static<typeof CampaignDefaultsWire>
export type ContactAttempts = Static<typeof ContactAttemptsWire>
export type UploadPlace = Static<typeof UploadAddress>
export type ListCheck = Static<typeof ListCheckWire>
export type TelephonyConfigs = Static<typeof TelephonyConfigList>
export type Outcomes = Static<typeof CampaignOutcomesWire>
export type Engines = Static<typeof EngineList>
export type CreatedRun = Static<typeof CreatedRunWire>
export type DownFrame = Static<typeof DownFrameWire>
export type Health = Static<typeof HealthWire>
export type TurnCredentials = Static<typeof TurnCredentialsWire>
