// Made from the routes by `npm run types`. Not to be edited.

export type Error = { /** One sentence. */ readonly detail: string }

export type InvalidWorkflow = { readonly is_valid: false; readonly errors: ReadonlyArray<{ readonly kind: "node" | "edge" | "workflow"; readonly id: unknown; readonly field: unknown; readonly message: string }> }

export type Violation = { readonly type: string; /** Where: `body`, `query`, `path` or `header`, and on from there. */ readonly loc: ReadonlyArray<string | number>; readonly msg: string; /** What was there. */ readonly input: unknown; readonly ctx?: { readonly [name: string]: unknown } }

export type ValidationError = { readonly detail: ReadonlyArray<Violation> | string | InvalidWorkflow }

export type RetryConfig = { readonly enabled: boolean; /** One attempt more than this, at most. */ readonly max_retries: number; readonly retry_delay_seconds: number; readonly retry_on_busy: boolean; readonly retry_on_no_answer: boolean; readonly retry_on_voicemail: boolean; /** Calls that ended with the connection to the provider, in conversation or before. Only once the provider, reached again, has no such call any more: one that may still be up is never dialed again. The callee may have heard part of the first call. */ readonly retry_on_trunk_lost: boolean }

export type TimeSlot = { /** 0 is Monday, 6 is Sunday. */ readonly day_of_week: number; /** Local time `HH:MM`, included. */ readonly start_time: string; /** Local time `HH:MM`, not included; `24:00` is the end of the day. */ readonly end_time: string }

export type ScheduleConfig = { readonly enabled: boolean; /** IANA name, `Europe/Berlin`. */ readonly timezone: string; readonly slots: ReadonlyArray<TimeSlot> }

export type CircuitBreaker = { readonly enabled: boolean; /** Share of failed calls. */ readonly failure_threshold: number; readonly window_seconds: number; readonly min_calls_in_window: number }

export type CampaignLogEntry = { readonly ts: string; readonly level: "info" | "warning" | "error"; readonly event: "campaign_created" | "campaign_started" | "campaign_resumed" | "campaign_paused" | "campaign_completed" | "campaign_failed" | "circuit_breaker_tripped" | "quota_exhausted" | "telephony_configuration_unavailable" | "telephony_auth_failed" | "telephony_unreachable" | "telephony_suspect" | "telephony_recovered" | "telephony_outage" | "agent_archived" | "agent_unfinished" | "settings_updated" | "schedule_window_closed" | "schedule_window_opened" | "waiting_for_capacity" | "provider_rate_limited" | "phone_number_pool_exhausted" | "source_sync_completed" | "source_sync_failed" | "recovery_completed" | "attempt_written_off" | "greeting_missed" | "contacts_marked" | "redial_created"; readonly message: string; readonly details: { readonly [name: string]: unknown } | null }

export type AdvisedCampaign = { readonly id: number; readonly name: string; readonly workflow_id: number; readonly workflow_name: string; /** `created` stands for `draft` where the operator has set `COMPATIBILITY=dograh`, and nowhere else. */ readonly state: "draft" | "created" | "running" | "paused" | "completed" | "failed"; readonly source_type: string; readonly source_id: string; readonly total_rows: number; /** Contacts dialed at least once. */ readonly processed_rows: number; readonly failed_rows: number; readonly created_at: string; readonly started_at: string | null; readonly completed_at: string | null; readonly retry_config: RetryConfig; /** Calls placed per second, at most. */ readonly rate_limit: number; readonly max_concurrency: number | null; readonly schedule_config: ScheduleConfig | null; readonly circuit_breaker: CircuitBreaker; /** Calls placed, retries included. */ readonly executed_count: number; /** Contacts, and the retries that were scheduled for them. */ readonly total_queued_count: number; readonly parent_campaign_id: number | null; readonly redialed_campaign_id: number | null; readonly telephony_configuration_id: number | null; readonly telephony_configuration_name: string | null; /** The newest entries, oldest first. */ readonly logs: ReadonlyArray<CampaignLogEntry>; /** Settings that cannot take full effect as things stand; they are accepted all the same. */ readonly warnings: ReadonlyArray<string> }

export type Campaign = { readonly id: number; readonly name: string; readonly workflow_id: number; readonly workflow_name: string; /** `created` stands for `draft` where the operator has set `COMPATIBILITY=dograh`, and nowhere else. */ readonly state: "draft" | "created" | "running" | "paused" | "completed" | "failed"; readonly source_type: string; readonly source_id: string; readonly total_rows: number; /** Contacts dialed at least once. */ readonly processed_rows: number; readonly failed_rows: number; readonly created_at: string; readonly started_at: string | null; readonly completed_at: string | null; readonly retry_config: RetryConfig; /** Calls placed per second, at most. */ readonly rate_limit: number; readonly max_concurrency: number | null; readonly schedule_config: ScheduleConfig | null; readonly circuit_breaker: CircuitBreaker; /** Calls placed, retries included. */ readonly executed_count: number; /** Contacts, and the retries that were scheduled for them. */ readonly total_queued_count: number; readonly parent_campaign_id: number | null; readonly redialed_campaign_id: number | null; readonly telephony_configuration_id: number | null; readonly telephony_configuration_name: string | null; /** The newest entries, oldest first. */ readonly logs: ReadonlyArray<CampaignLogEntry> }

export type CampaignList = { readonly campaigns: ReadonlyArray<Campaign> }

export type SourceSync = { readonly status: "pending" | "in_progress" | "completed" | "failed"; readonly last_synced_at: string | null; readonly error: string | null; readonly rows_in_file: number; readonly accepted: number; /** Rows without a phone number. */ readonly skipped: number; readonly warnings: ReadonlyArray<string> }

export type CampaignProgress = { readonly campaign_id: number; /** `created` stands for `draft` where the operator has set `COMPATIBILITY=dograh`, and nowhere else. */ readonly state: "draft" | "created" | "running" | "paused" | "completed" | "failed"; readonly total_rows: number; readonly processed_rows: number; /** Calls that failed, were busy or were not answered, retries included. */ readonly failed_calls: number; readonly progress_percentage: number; readonly source_sync: SourceSync; /** Calls placed per second, at most. */ readonly rate_limit: number; readonly started_at: string | null; readonly completed_at: string | null; readonly total: number; readonly completed: number; readonly failed: number; readonly pending: number; readonly processed: number; readonly completion_percentage: number }

export type CostInfo = { /** Hundredths of a US dollar that the call has cost, as far as is known. */ readonly dograh_token_usage: number; readonly call_duration_seconds: number | null }

export type UsageInfo = { /** Tokens by service and model. */ readonly llm: { readonly [name: string]: unknown }; /** Characters by service and model. */ readonly tts: { readonly [name: string]: unknown }; /** Seconds by service and model. */ readonly stt: { readonly [name: string]: unknown }; readonly call_duration_seconds: number | null }

export type WorkflowRun = { readonly id: number; readonly workflow_id: number; readonly name: string; readonly mode: string; readonly created_at: string; readonly is_completed: boolean; readonly transcript_url: string | null; readonly recording_url: string | null; readonly transcript_public_url: string | null; readonly recording_public_url: string | null; readonly public_access_token: string | null; readonly cost_info: CostInfo | null; readonly usage_info: UsageInfo | null; readonly definition_id: number | null; readonly initial_context: { readonly [name: string]: unknown } | null; readonly gathered_context: { readonly [name: string]: unknown } | null; readonly call_type: "inbound" | "outbound"; readonly logs: { readonly [name: string]: unknown } | null; readonly annotations: { readonly [name: string]: unknown } | null }

export type WorkflowRunPage = { readonly runs: ReadonlyArray<WorkflowRun>; readonly total_count: number; readonly page: number; readonly limit: number; readonly total_pages: number }

export type SourceDownload = { /** Works without a credential, until it expires. */ readonly download_url: string; /** Seconds. */ readonly expires_in: number }

/** Of the newest campaign. */
export type LastCampaignSettings = { readonly retry_config: RetryConfig | null; readonly max_concurrency: number | null; readonly schedule_config: ScheduleConfig | null; readonly circuit_breaker: CircuitBreaker | null }

export type CampaignDefaults = { /** Calls of the organization that may be up at once. */ readonly concurrent_call_limit: number; /** Active numbers of the default telephony configuration. */ readonly from_numbers_count: number; readonly default_retry_config: RetryConfig; readonly last_campaign_settings: LastCampaignSettings | null }

/** The newest call. */
export type ContactRun = { readonly id: number; readonly workflow_id: number }

export type Contact = { /** The line of the list; the header is line 1. */ readonly row_number: number; readonly phone_number: string; readonly state: "pending" | "dialing" | "in_call" | "retry_wait" | "completed" | "failed" | "cancelled"; readonly retries_used: number; readonly last_outcome: "error" | "voicemail" | "answered" | "busy" | "no_answer" | "canceled" | "failed" | "unknown" | null; readonly due_at: string | null; readonly reached: boolean | null; readonly run: ContactRun | null }

export type ContactList = { readonly contacts: ReadonlyArray<Contact> }

/** What finished calls of the agent have come to. */
export type CallDispositionCodes = { readonly disposition_codes: ReadonlyArray<string> }

export type Workflow = { readonly id: number; readonly name: string; readonly status: "active" | "archived"; readonly created_at: string; /** The graph: `nodes`, `edges`, and whatever else an editor keeps in it. */ readonly workflow_definition: { readonly [name: string]: unknown }; readonly current_definition_id: number | null; readonly template_context_variables: { readonly [name: string]: unknown }; readonly call_disposition_codes: CallDispositionCodes; readonly total_runs: number; readonly workflow_configurations: { readonly [name: string]: unknown }; readonly version_number: number; readonly version_status: "draft" | "published" | "archived"; readonly workflow_uuid: string }

export type WorkflowListItem = { readonly id: number; readonly name: string; readonly status: "active" | "archived"; readonly created_at: string; readonly total_runs: number; readonly folder_id: number | null; readonly workflow_uuid: string }

export type WorkflowName = { readonly id: number; readonly name: string }

export type WorkflowCount = { readonly total: number; readonly active: number; readonly archived: number }

export type WorkflowTemplate = { readonly id: number; readonly template_name: string; readonly template_description: string; /** The graph: `nodes`, `edges`, and whatever else an editor keeps in it. */ readonly template_json: { readonly [name: string]: unknown }; readonly created_at: string }

export type DispositionCodes = { /** The engine's own, then what finished calls have come to besides. */ readonly codes: ReadonlyArray<string>; /** Those of the engine's own that end an answered call. */ readonly end_task_reason_codes: ReadonlyArray<string> }

export type WorkflowVersion = { readonly id: number; readonly version_number: number; readonly status: "draft" | "published" | "archived"; /** The graph: `nodes`, `edges`, and whatever else an editor keeps in it. */ readonly workflow_json: { readonly [name: string]: unknown }; readonly workflow_configurations: { readonly [name: string]: unknown }; readonly template_context_variables: { readonly [name: string]: unknown }; readonly created_at: string; readonly published_at: string | null }

export type PublishedWorkflowVersion = { readonly id: number; readonly version_number: number; readonly status: "draft" | "published" | "archived"; readonly published_at: string | null }

export type WorkflowValid = { readonly is_valid: true; /** Always empty: what is wrong is told by a 422. */ readonly errors: ReadonlyArray<unknown> }

/** The property is shown while each of these others has one of these values. */
export type DisplayOptions = { readonly show: { readonly [name: string]: ReadonlyArray<unknown> } | null; readonly hide: null }

export type PropertyOption = { readonly value: string; readonly label: string; readonly description: string | null }

export type RowPropertySpec = { readonly name: string; readonly type: "string" | "number" | "boolean" | "options" | "multi_options" | "fixed_collection" | "json" | "tool_refs" | "document_refs" | "recording_ref" | "credential_ref" | "mention_textarea" | "url"; readonly display_name: string; readonly description: string; readonly llm_hint: string | null; readonly default: unknown; readonly required: boolean; readonly placeholder: string | null; readonly display_options: DisplayOptions | null; readonly options: ReadonlyArray<PropertyOption> | null; readonly min_value: number | null; readonly max_value: number | null; readonly min_length: number | null; readonly max_length: number | null; readonly pattern: string | null; readonly editor: string | null; readonly properties: null }

export type PropertySpec = { readonly name: string; readonly type: "string" | "number" | "boolean" | "options" | "multi_options" | "fixed_collection" | "json" | "tool_refs" | "document_refs" | "recording_ref" | "credential_ref" | "mention_textarea" | "url"; readonly display_name: string; readonly description: string; readonly llm_hint: string | null; readonly default: unknown; readonly required: boolean; readonly placeholder: string | null; readonly display_options: DisplayOptions | null; readonly options: ReadonlyArray<PropertyOption> | null; readonly min_value: number | null; readonly max_value: number | null; readonly min_length: number | null; readonly max_length: number | null; readonly pattern: string | null; readonly editor: string | null; readonly properties: ReadonlyArray<RowPropertySpec> | null }

export type NodeExample = { readonly name: string; readonly description: string | null; readonly data: { readonly [name: string]: unknown } }

/** Null is no limit. */
export type GraphConstraints = { readonly min_incoming: number | null; readonly max_incoming: number | null; readonly min_outgoing: number | null; readonly max_outgoing: number | null; readonly min_instances: number | null; readonly max_instances: number | null }

export type NodeSpec = { readonly name: string; readonly display_name: string; readonly description: string; readonly llm_hint: string | null; readonly category: "call_node" | "global_node" | "trigger" | "integration"; readonly icon: string; readonly version: string; readonly properties: ReadonlyArray<PropertySpec>; readonly examples: ReadonlyArray<NodeExample>; readonly graph_constraints: GraphConstraints | null }

export type NodeTypeList = { readonly spec_version: string; readonly node_types: ReadonlyArray<NodeSpec> }

export type Folder = { readonly id: number; readonly name: string; readonly created_at: string }

export type FolderDeleted = { readonly success: true }

export type WorkflowRunPageOfWorkflow = { readonly runs: ReadonlyArray<WorkflowRun>; readonly total_count: number; readonly page: number; readonly limit: number; readonly total_pages: number; readonly applied_filters: ReadonlyArray<{ readonly [name: string]: unknown }> | null }

export type Changed = { readonly success: true; readonly message: string }

export type RunWebhook = { /** The same at every try: `X-Dograh-Delivery-Id` of the request. */ readonly id: string; readonly node_id: string; /** The node's. */ readonly name: string; readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | null; readonly url: string; readonly state: "pending" | "succeeded" | "dead_letter"; readonly attempts: number; readonly next_attempt_at: string | null; readonly last_attempt_at: string | null; readonly last_status: number | null; readonly last_error: string | null; readonly created_at: string }

export type RunWebhookList = { readonly deliveries: ReadonlyArray<RunWebhook> }

export type QueuedDeliveries = { /** Deliveries that will be sent. */ readonly queued: number }

export type DailyMetrics = { readonly total_runs: number; /** Calls that were transferred. */ readonly xfer_count: number }

export type DispositionShare = { readonly disposition: string; readonly count: number; /** 0 to 100. */ readonly percentage: number }

export type DurationShare = { readonly bucket: string; /** Seconds. */ readonly range_start: number; readonly range_end: number | null; readonly count: number; /** 0 to 100. */ readonly percentage: number }

export type DailyReport = { readonly date: string; readonly timezone: string; readonly workflow_id: number | null; readonly metrics: DailyMetrics; /** The five most frequent, and the rest as `Other`. Runs without a disposition are left out. */ readonly disposition_distribution: ReadonlyArray<DispositionShare>; /** Runs without a duration are left out. */ readonly call_duration_distribution: ReadonlyArray<DurationShare> }

export type DailyRun = { readonly phone_number: string | null; readonly disposition: string | null; readonly duration_seconds: number | null; readonly workflow_id: number; readonly run_id: number; readonly workflow_name: string; readonly created_at: string }

export type UsageRun = { readonly id: number; readonly workflow_id: number; readonly workflow_name: string | null; readonly name: string; readonly created_at: string; /** Hundredths of a US dollar that the call has cost, as far as is known. */ readonly dograh_token_usage: number; /** Rounded; 0 while the call goes on. */ readonly call_duration_seconds: number; readonly recording_url: string | null; readonly transcript_url: string | null; readonly recording_public_url: string | null; readonly transcript_public_url: string | null; readonly public_access_token: string | null; readonly phone_number: string | null; readonly caller_number: string | null; readonly called_number: string | null; readonly call_type: "inbound" | "outbound"; readonly mode: string; readonly disposition: string | null; readonly initial_context: { readonly [name: string]: unknown } | null; readonly gathered_context: { readonly [name: string]: unknown } | null; readonly charge_usd: number | null }

export type UsagePage = { readonly runs: ReadonlyArray<UsageRun>; /** Of this page. */ readonly total_dograh_tokens: number; /** Of this page. */ readonly total_duration_seconds: number; readonly total_count: number; readonly page: number; readonly limit: number; readonly total_pages: number }

export type CurrentPeriod = { readonly period_start: string; readonly period_end: string; /** Tokens of a managed service: this engine uses none. */ readonly used_dograh_tokens: number; readonly total_duration_seconds: number; readonly used_amount_usd: number | null; readonly currency: string | null; readonly price_per_second_usd: number | null }

export type DailyUsage = { /** `YYYY-MM-DD`, UTC. */ readonly date: string; readonly minutes: number; readonly cost_usd: number | null; /** Tokens of a managed service: this engine uses none. */ readonly dograh_tokens: number; readonly call_count: number }

export type DailyUsageBreakdown = { /** Newest first. */ readonly breakdown: ReadonlyArray<DailyUsage>; readonly total_minutes: number; readonly total_cost_usd: number | null; /** Tokens of a managed service: this engine uses none. */ readonly total_dograh_tokens: number; readonly currency: string | null }

export type CallStarted = { readonly status: "initiated"; readonly workflow_run_id: number; readonly workflow_run_name: string }

export type CallInitiated = { /** Names the run. */ readonly message: string }

export type TelephonyConfig = { readonly id: number; readonly name: string; readonly provider: string; readonly is_default_outbound: boolean; readonly max_concurrent_calls: number | null; readonly is_ready_for_outbound: boolean; readonly outbound_blocked_reason: string | null; /** Secrets are masked. */ readonly credentials: { readonly [name: string]: unknown }; readonly created_at: string; readonly updated_at: string }

export type TelephonyConfigListItem = { readonly id: number; readonly name: string; readonly provider: string; readonly is_default_outbound: boolean; /** Active numbers. */ readonly phone_number_count: number; readonly max_concurrent_calls: number | null; readonly is_ready_for_outbound: boolean; readonly outbound_blocked_reason: string | null; readonly created_at: string; readonly updated_at: string }

export type TelephonyConfigList = { readonly configurations: ReadonlyArray<TelephonyConfigListItem> }

export type TelephonyCheck = { /** What was looked at: `connection`, `credentials`, `rights` and so on, as the provider has it. */ readonly name: string; readonly result: "passed" | "warning" | "failed"; readonly message: string; readonly advice: string | null }

export type TelephonyTestedCall = { readonly status: "initiated" | "not_placed"; readonly workflow_run_id: number | null; readonly reason: string | null }

export type TelephonyTested = { /** Nothing failed. */ readonly passed: boolean; readonly tested_at: string; readonly checks: ReadonlyArray<TelephonyCheck>; readonly call: TelephonyTestedCall | null }

export type TelephonyConfigDeleted = { readonly message: string }

export type TrunkEndpoint = { readonly endpoint: string; readonly status: "up" | "down"; readonly reason: string | null }

export type TelephonyTest = { /** Nothing failed. */ readonly passed: boolean; readonly tested_at: string; readonly checks: ReadonlyArray<TelephonyCheck> }

export type Trunk = { readonly telephony_configuration_id: number; readonly provider: string; /** `unused`: no call has gone through it since the engine's start. */ readonly status: "up" | "down" | "unused"; readonly reason: string | null; /** Of a trunk with several endpoints, which is up while one of them is. */ readonly endpoints: ReadonlyArray<TrunkEndpoint>; readonly last_test: TelephonyTest | null }

export type TrunkList = { readonly trunks: ReadonlyArray<Trunk> }

/** How many configurations lack what their provider's callbacks are checked with. */
export type TelephonyConfigWarnings = { readonly telnyx_missing_webhook_public_key_count: number; readonly vonage_missing_signature_secret_count: number }

export type ProviderField = { readonly name: string; readonly label: string; readonly type: "text" | "password" | "textarea" | "boolean" | "string-array"; readonly required: boolean; readonly sensitive: boolean; readonly description: string; readonly placeholder: string }

export type Provider = { readonly provider: string; readonly display_name: string; readonly docs_url: string; readonly fields: ReadonlyArray<ProviderField> }

export type ProviderList = { readonly providers: ReadonlyArray<Provider> }

export type ProviderSync = { readonly ok: boolean; readonly message: string | null }

export type PhoneNumber = { readonly id: number; readonly telephony_configuration_id: number; readonly address: string; readonly address_normalized: string; readonly address_type: "pstn" | "sip_uri" | "sip_extension"; readonly country_code: string | null; readonly label: string | null; readonly inbound_workflow_id: number | null; readonly inbound_workflow_name: string | null; readonly is_active: boolean; readonly is_default_caller_id: boolean; readonly max_concurrent: number | null; readonly extra_metadata: { readonly [name: string]: unknown }; readonly created_at: string; readonly updated_at: string; /** What was told to the provider, where there is something to tell. */ readonly provider_sync: ProviderSync | null }

export type PhoneNumberList = { readonly phone_numbers: ReadonlyArray<PhoneNumber> }

export type PhoneNumberDeleted = { readonly message: string; readonly provider_sync: ProviderSync | null }

export type UploadAddress = { /** PUT the bytes here, or POST a form with one file; without a credential. */ readonly upload_url: string; /** A campaign's `source_id`. */ readonly file_key: string; /** Seconds. */ readonly expires_in: number }

export type Uploaded = { readonly file_key: string; readonly file_size: number }

export type SignedUrl = { readonly url: string; readonly expires_in: number }

export type StoredFile = { /** Bytes. */ readonly size: number; readonly last_modified: string; readonly content_type: string }

export type FileMetadata = { readonly key: string; readonly metadata: StoredFile | null }

export type ToolCreator = { readonly id: number; readonly provider_id: string }

export type Tool = { readonly id: number; /** How agents refer to it. */ readonly tool_uuid: string; readonly name: string; readonly description: string | null; readonly category: "http_api" | "end_call" | "transfer_call" | "calculator" | "mcp"; readonly icon: string | null; readonly icon_color: string | null; readonly status: "active" | "archived" | "draft"; /** False while it lacks the address that it asks at: agents do without it. */ readonly is_ready: boolean; /** As in the request, with what was left out. */ readonly definition: { readonly [name: string]: unknown }; readonly created_at: string; readonly updated_at: string | null; readonly created_by: ToolCreator | null }

export type ToolArchived = { readonly status: "archived"; readonly tool_uuid: string }

export type Credential = { /** How tools refer to it. */ readonly uuid: string; readonly name: string; readonly description: string | null; readonly credential_type: "none" | "api_key" | "bearer_token" | "basic_auth" | "custom_header"; /** It is sent to no others. */ readonly allowed_hosts: ReadonlyArray<string>; readonly created_at: string; readonly updated_at: string | null }

export type CredentialDeleted = { readonly status: "deleted"; readonly uuid: string }

export type Recording = { readonly id: number; readonly recording_id: string; readonly workflow_id: number | null; readonly organization_id: number; readonly tts_provider: string | null; readonly tts_model: string | null; readonly tts_voice_id: string | null; readonly transcript: string; /** Ask `/s3/signed-url` for an address of it. */ readonly storage_key: string; readonly storage_backend: string; readonly metadata: { readonly [name: string]: unknown }; /** The user who made it; 0 for a key that belongs to no user. */ readonly created_by: number; readonly created_at: string; /** What was deleted is not listed, so always true. */ readonly is_active: boolean }

export type RecordingList = { readonly recordings: ReadonlyArray<Recording>; /** How many are in this answer. */ readonly total: number }

export type RecordingUpload = { /** PUT the bytes here, without a credential. */ readonly upload_url: string; readonly recording_id: string; readonly storage_key: string; /** Seconds. */ readonly expires_in: number }

/** Of several files. */
export type RecordingUploads = { /** In the order of `files`. */ readonly items: ReadonlyArray<RecordingUpload> }

/** Of several. */
export type RecordingsMade = { readonly recordings: ReadonlyArray<Recording> }

export type ResourceDeleted = { readonly success: true; readonly message: string }

export type DocumentUpload = { /** PUT the bytes here, without a credential. */ readonly upload_url: string; readonly document_uuid: string; readonly s3_key: string; /** Seconds. */ readonly expires_in: number }

export type Document = { readonly id: number; /** How agents refer to it. */ readonly document_uuid: string; readonly filename: string; readonly file_size_bytes: number; /** SHA-256, hexadecimal. */ readonly file_hash: string; readonly mime_type: string; readonly processing_status: "pending" | "processing" | "completed" | "failed"; readonly processing_error: string | null; /** 1: a document is not cut into pieces. */ readonly total_chunks: number; /** `full_document`: an agent gets all of it. */ readonly retrieval_mode: string; readonly custom_metadata: { readonly [name: string]: unknown }; /** Empty: documents are not analysed. */ readonly docling_metadata: { readonly [name: string]: unknown }; readonly source_url: string | null; readonly created_at: string; readonly updated_at: string; readonly organization_id: number; /** The user who made it; 0 for a key that belongs to no user. */ readonly created_by: number; /** What was deleted is not listed, so always true. */ readonly is_active: boolean }

export type DocumentList = { readonly documents: ReadonlyArray<Document>; /** How many are in this answer. */ readonly total: number; readonly limit: number; readonly offset: number }

export type User = { readonly id: number; readonly email: string; readonly name: string | null; readonly organization_id: number | null; readonly provider_id: string }

export type Session = { /** For `Authorization: Bearer`, 30 days. */ readonly token: string; readonly user: User }

export type AuthUser = { readonly id: number; readonly is_superuser: false }

export type UserOrganization = { readonly id: number; readonly name: string; readonly role: "viewer" | "member" | "admin" | "owner"; readonly is_selected: boolean }

export type UserOrganizations = { readonly organizations: ReadonlyArray<UserOrganization> }

export type Onboarding = { readonly completed_at: string | null; readonly skipped: boolean; readonly seen_tooltips: ReadonlyArray<string>; readonly completed_actions: ReadonlyArray<string> }

export type OpenSession = { readonly id: string; /** The one that asks. */ readonly is_current: boolean; /** Where it was begun from. */ readonly address: string; readonly created_at: string; readonly last_used_at: string; readonly expires_at: string }

export type SessionList = { readonly sessions: ReadonlyArray<OpenSession> }

export type ApiKey = { readonly id: number; readonly name: string; readonly key_prefix: string; readonly role: "viewer" | "member" | "admin" | "owner"; readonly scopes: ReadonlyArray<"read" | "calls" | "campaigns" | "agents" | "admin"> | null; /** It sets what organizations may use. */ readonly is_operator: boolean; readonly is_active: boolean; readonly created_at: string; readonly last_used_at: string | null; readonly archived_at: string | null; readonly expires_at: string | null }

export type NewApiKey = { readonly id: number; readonly name: string; readonly key_prefix: string; /** Shown only now. */ readonly api_key: string; readonly role: "viewer" | "member" | "admin" | "owner"; readonly scopes: ReadonlyArray<"read" | "calls" | "campaigns" | "agents" | "admin"> | null; readonly created_at: string; readonly expires_at: string | null }

export type Member = { readonly user_id: number; readonly email: string; readonly name: string | null; readonly role: "viewer" | "member" | "admin" | "owner"; readonly created_at: string }

export type MemberList = { readonly members: ReadonlyArray<Member> }

/** There are no managed services here. */
export type ModelServices = { /** `organization_v2`: services are set up, and `/organizations/model-configurations/v2` shows them. `legacy_user_v1`: some are, set at `/user/configurations/user`, but not all that a configuration there needs. `empty`: none is. */ readonly config_source: "organization_v2" | "legacy_user_v1" | "empty"; /** Whether `/organizations/model-configurations/v2` shows a configuration. */ readonly has_model_configuration_v2: boolean; readonly managed_service_version: null; readonly uses_managed_service_v2: false }

export type OrganizationContext = { readonly organization_id: number; readonly organization_provider_id: string | null; readonly model_services: ModelServices }

export type OrganizationPreferences = { readonly test_phone_number: string | null; readonly timezone: string | null; readonly external_pbx_integrations_enabled: boolean }

export type OrganizationSettings = { /** Calls that may be up at once. `0`: none. */ readonly concurrency_limit: number; /** Of these, so many are kept for calls outside of campaigns. */ readonly concurrency_reserve: number; readonly recordings_days: number | null; readonly transcripts_days: number | null; readonly recording_format: "wav" | "opus" | null }

export type Quotas = { /** Calls up at once. Calls that are up when it is lowered go on. */ readonly calls: { /** What holds. */ readonly limit: number; /** What the operator allows. */ readonly allowed: number; readonly own: number | null; readonly used: number | null }; /** Bytes of files kept: lists, recordings, transcripts and documents. */ readonly storage_bytes: { /** What holds. */ readonly limit: number; /** What the operator allows. */ readonly allowed: number; readonly own: number | null; readonly used: number | null }; /** Contacts kept, of all campaigns together. */ readonly rows: { /** What holds. */ readonly limit: number; /** What the operator allows. */ readonly allowed: number; readonly own: number | null; readonly used: number | null }; /** Agents, archived ones too. */ readonly agents: { /** What holds. */ readonly limit: number; /** What the operator allows. */ readonly allowed: number; readonly own: number | null; readonly used: number | null }; /** API keys that are not archived. */ readonly keys: { /** What holds. */ readonly limit: number; /** What the operator allows. */ readonly allowed: number; readonly own: number | null; readonly used: number | null }; /** Connections that follow events. */ readonly followers: { /** What holds. */ readonly limit: number; /** What the operator allows. */ readonly allowed: number; readonly own: number | null; readonly used: number | null }; /** Requests, in the long run. */ readonly requests_per_second: { /** What holds. */ readonly limit: number; /** What the operator allows. */ readonly allowed: number; readonly own: number | null; readonly used: number | null }; /** Requests at once, before the rate counts. */ readonly request_burst: { /** What holds. */ readonly limit: number; /** What the operator allows. */ readonly allowed: number; readonly own: number | null; readonly used: number | null } }

export type Invitation = { readonly id: number; readonly email: string; readonly role: "viewer" | "member" | "admin" | "owner"; readonly status: "pending" | "redeemed" | "revoked" | "expired"; readonly created_at: string; readonly expires_at: string }

export type InvitationList = { readonly invitations: ReadonlyArray<Invitation> }

export type NewInvitation = { readonly id: number; readonly email: string; readonly role: "viewer" | "member" | "admin" | "owner"; readonly status: "pending" | "redeemed" | "revoked" | "expired"; readonly created_at: string; readonly expires_at: string; /** Shown only now: hand it on to whoever is invited. */ readonly token: string }

export type UserConfigurationDefaults = { /** By the provider's name the JSON Schema of what can be set of it. Empty: this engine has none of that kind. */ readonly llm: { readonly [name: string]: { readonly [name: string]: unknown } }; /** By the provider's name the JSON Schema of what can be set of it. Empty: this engine has none of that kind. */ readonly tts: { readonly [name: string]: { readonly [name: string]: unknown } }; /** By the provider's name the JSON Schema of what can be set of it. Empty: this engine has none of that kind. */ readonly stt: { readonly [name: string]: { readonly [name: string]: unknown } }; /** By the provider's name the JSON Schema of what can be set of it. Empty: this engine has none of that kind. */ readonly embeddings: { readonly [name: string]: { readonly [name: string]: unknown } }; /** By the provider's name the JSON Schema of what can be set of it. Empty: this engine has none of that kind. */ readonly realtime: { readonly [name: string]: { readonly [name: string]: unknown } }; readonly default_providers: { readonly [name: string]: string }; /** An agent's settings where nothing was set. Calls go by `max_call_duration`; the others are kept for whoever reads them. */ readonly workflow_configurations: { readonly [name: string]: unknown } }

export type UserConfiguration = { readonly llm: { readonly [name: string]: unknown } | null; readonly tts: { readonly [name: string]: unknown } | null; readonly stt: { readonly [name: string]: unknown } | null; readonly embeddings: { readonly [name: string]: unknown } | null; readonly realtime: { readonly [name: string]: unknown } | null; readonly is_realtime: boolean; readonly test_phone_number: string | null; readonly timezone: string | null; /** Nothing is charged for here. */ readonly organization_pricing: null }

export type ModelStatusEntry = { readonly model: "all" | "llm" | "tts" | "stt" | "embeddings" | "realtime"; readonly message: string }

export type ModelStatus = { readonly status: ReadonlyArray<ModelStatusEntry> }

/** The services that count by the configuration's mode. Whether the engine has them, `/user/configurations/user/validate` says. */
export type EffectiveModelConfiguration = { readonly llm: { readonly [name: string]: unknown } | null; readonly tts: { readonly [name: string]: unknown } | null; readonly stt: { readonly [name: string]: unknown } | null; readonly embeddings: { readonly [name: string]: unknown } | null; readonly realtime: { readonly [name: string]: unknown } | null; readonly is_realtime: boolean; readonly test_phone_number: string | null; readonly timezone: string | null }

export type ModelConfiguration = { readonly configuration: { readonly [name: string]: unknown } | null; readonly effective_configuration: EffectiveModelConfiguration; /** `organization_v2`: services are set up, and `/organizations/model-configurations/v2` shows them. `legacy_user_v1`: some are, set at `/user/configurations/user`, but not all that a configuration there needs. `empty`: none is. */ readonly source: "organization_v2" | "legacy_user_v1" | "empty" }

/** What is stored of what was left out. */
export type HostedModelDefaults = { readonly voice: string; readonly speed: number; readonly language: string }

/** Nothing: no models are hosted here. */
export type HostedModelChoices = { readonly voices: ReadonlyArray<string>; readonly allow_custom_input: false; readonly speeds: ReadonlyArray<number>; readonly languages: ReadonlyArray<string>; readonly multilingual_languages: ReadonlyArray<string>; readonly defaults: HostedModelDefaults }

export type PipelineModelChoices = { /** By the provider's name the JSON Schema of what can be set of it. Empty: this engine has none of that kind. */ readonly llm: { readonly [name: string]: { readonly [name: string]: unknown } }; /** By the provider's name the JSON Schema of what can be set of it. Empty: this engine has none of that kind. */ readonly tts: { readonly [name: string]: { readonly [name: string]: unknown } }; /** By the provider's name the JSON Schema of what can be set of it. Empty: this engine has none of that kind. */ readonly stt: { readonly [name: string]: { readonly [name: string]: unknown } }; /** By the provider's name the JSON Schema of what can be set of it. Empty: this engine has none of that kind. */ readonly embeddings: { readonly [name: string]: { readonly [name: string]: unknown } }; readonly default_providers: { readonly [name: string]: string } }

export type RealtimeModelChoices = { /** By the provider's name the JSON Schema of what can be set of it. Empty: this engine has none of that kind. */ readonly realtime: { readonly [name: string]: { readonly [name: string]: unknown } }; /** By the provider's name the JSON Schema of what can be set of it. Empty: this engine has none of that kind. */ readonly llm: { readonly [name: string]: { readonly [name: string]: unknown } }; /** By the provider's name the JSON Schema of what can be set of it. Empty: this engine has none of that kind. */ readonly embeddings: { readonly [name: string]: { readonly [name: string]: unknown } }; readonly default_providers: { readonly [name: string]: string } }

export type OwnModelChoices = { readonly pipeline: PipelineModelChoices; readonly realtime: RealtimeModelChoices }

export type ModelConfigurationDefaults = { readonly dograh: HostedModelChoices; readonly byok: OwnModelChoices }

/** Nothing is charged for here. */
export type ModelPricing = { readonly platform_usage: null; readonly dograh_model: null }

export type AuditEntry = { readonly id: number; readonly at: string; readonly user_id: number | null; readonly user_email: string | null; readonly api_key_id: number | null; readonly api_key_name: string | null; /** The operation's name in this documentation; `logInRefused` for a wrong password. */ readonly action: string; readonly resource_kind: string; readonly resource_id: string | null; readonly address: string | null }

export type AuditLog = { readonly entries: ReadonlyArray<AuditEntry>; readonly next_before: number | null }

export type Event = { readonly specversion: "1.0"; /** A number that rises from event to event; where to go on from. */ readonly id: string; readonly source: string; /** `events.gap`, whatever types were asked for: what followed the event to go on from is no longer kept, or there is no such event; what happened between `after_id` and `until_id` in `data` has to be looked up. */ readonly type: "campaign.created" | "campaign.started" | "campaign.paused" | "campaign.resumed" | "campaign.completed" | "campaign.failed" | "campaign.redialed" | "run.answered" | "run.completed" | "storage.full" | "webhook.test" | "events.gap"; /** `campaigns/{id}` or `runs/{id}`; `webhook-endpoints/{id}` of a test, `organization` for its storage, `events` for a gap. */ readonly subject: string; readonly time: string; readonly datacontenttype: "application/json"; /** What the event is about, as it was when it happened. Keys may be added. */ readonly data: { readonly [name: string]: unknown } }

export type EventPage = { readonly events: ReadonlyArray<Event>; /** `after_id` of the next page. There is nothing more for now when it stands still. */ readonly next_after_id: number }

export type WebhookEndpointWithSecret = { readonly id: number; readonly url: string; readonly description: string; readonly event_types: ReadonlyArray<"campaign.created" | "campaign.started" | "campaign.paused" | "campaign.resumed" | "campaign.completed" | "campaign.failed" | "campaign.redialed" | "run.answered" | "run.completed" | "storage.full" | "webhook.test">; readonly enabled: boolean; readonly disabled_reason: "gone" | null; readonly created_at: string; readonly updated_at: string; /** Shown only now. */ readonly secret: string }

export type WebhookEndpoint = { readonly id: number; readonly url: string; readonly description: string; readonly event_types: ReadonlyArray<"campaign.created" | "campaign.started" | "campaign.paused" | "campaign.resumed" | "campaign.completed" | "campaign.failed" | "campaign.redialed" | "run.answered" | "run.completed" | "storage.full" | "webhook.test">; readonly enabled: boolean; readonly disabled_reason: "gone" | null; readonly created_at: string; readonly updated_at: string }

export type WebhookEndpointList = { readonly endpoints: ReadonlyArray<WebhookEndpoint> }

export type WebhookEndpointDeleted = { readonly message: string }

export type WebhookDelivery = { readonly id: number; readonly endpoint_id: number; readonly event_id: number; readonly event_type: string; readonly subject: string; readonly state: "pending" | "delivered" | "dead"; readonly attempts: number; readonly next_attempt_at: string | null; readonly last_attempt_at: string | null; readonly last_status: number | null; readonly last_error: string | null; readonly created_at: string }

export type WebhookDeliveryList = { readonly deliveries: ReadonlyArray<WebhookDelivery> }

export type OrganizationQuotas = { readonly id: number; readonly name: string; readonly created_at: string; readonly quotas: Quotas }

export type OrganizationList = { readonly organizations: ReadonlyArray<OrganizationQuotas> }

/** Nothing is charged for here. */
export type BillingCredits = { readonly total_credits_used: 0; readonly remaining_credits: 0; readonly total_quota: 0; readonly account: null; readonly ledger_entries: ReadonlyArray<unknown>; readonly total_count: 0; readonly page: number; readonly limit: number; readonly total_pages: 0 }

export type LangfuseCredentials = { readonly configured: false }

export type Voice = { readonly voice_id: string; readonly name: string }

export type Voices = { readonly provider: string; readonly voices: ReadonlyArray<Voice>; readonly facets: null }

export type Health = { readonly status: "ok"; readonly version: string; readonly backend_api_endpoint: string; readonly deployment_mode: "oss"; readonly auth_provider: "local"; /** Whether anybody may sign up, be it with an invitation. */ readonly signup_enabled: boolean; /** There is no TURN server: calls are by telephone. */ readonly turn_enabled: false; readonly force_turn_relay: false; /** The engine opens no tunnel to itself. */ readonly tunnel_url: null }

export type TrunkCount = { readonly provider: string; readonly up: number; readonly down: number }

export type Ready = { readonly status: "ready"; readonly postgres: "up"; /** An engine is one node, which coordinates in memory. */ readonly redis: "not_used"; readonly trunks: ReadonlyArray<TrunkCount> }

export type Root = { readonly docs: string; readonly health: string; readonly openapi: string }

export type RetryConfigInput = { readonly enabled?: boolean; /** One attempt more than this, at most. */ readonly max_retries?: number; readonly retry_delay_seconds?: number; readonly retry_on_busy?: boolean; readonly retry_on_no_answer?: boolean; readonly retry_on_voicemail?: boolean; /** Calls that ended with the connection to the provider, in conversation or before. Only once the provider, reached again, has no such call any more: one that may still be up is never dialed again. The callee may have heard part of the first call. */ readonly retry_on_trunk_lost?: boolean }

export type ScheduleConfigInput = { readonly enabled?: boolean; /** IANA name, `Europe/Berlin`. */ readonly timezone?: string; readonly slots: ReadonlyArray<TimeSlot> }

export type CircuitBreakerInput = { readonly enabled?: boolean; /** Share of failed calls. */ readonly failure_threshold?: number; readonly window_seconds?: number; readonly min_calls_in_window?: number }

export type CreateCampaign = { readonly name: string; /** The agent that calls. */ readonly workflow_id: number; readonly source_type: string; /** The `file_key` of an uploaded CSV. */ readonly source_id: string; readonly telephony_configuration_id?: number | null; readonly retry_config?: RetryConfigInput | null; readonly rate_limit?: number | null; readonly max_concurrency?: number | null; readonly schedule_config?: ScheduleConfigInput | null; readonly circuit_breaker?: CircuitBreakerInput | null }

/** What is left out stays as it is, and each object is replaced as a whole. Null clears `max_concurrency`, `schedule_config` and `circuit_breaker`, and leaves anything else as it is. */
export type UpdateCampaign = { readonly name?: string | null; readonly retry_config?: RetryConfigInput | null; readonly rate_limit?: number | null; readonly max_concurrency?: number | null; readonly schedule_config?: ScheduleConfigInput | null; readonly circuit_breaker?: CircuitBreakerInput | null }

/** Whom to call again: contacts whose last call came to one of these. */
export type RedialCampaign = { readonly name?: string | null; readonly retry_on_voicemail?: boolean; readonly retry_on_no_answer?: boolean; readonly retry_on_busy?: boolean; /** Contacts whose last call may or may not have been placed: they may have been reached already. */ readonly retry_on_unknown?: boolean; readonly retry_config?: RetryConfigInput | null }

export type MarkContacts = { readonly row_numbers: ReadonlyArray<number>; /** True marks the contacts as completed, false as failed. */ readonly reached: boolean }

export type CreateWorkflow = { readonly name: string; /** The graph: `nodes`, `edges`, and whatever else an editor keeps in it. */ readonly workflow_definition: { readonly [name: string]: unknown }; readonly template_context_variables?: { readonly [name: string]: unknown } | null; readonly workflow_configurations?: { readonly [name: string]: unknown } | null }

/** What is left out, or null, stays as it is. A secret sent as it was shown, masked, stays as it is while the provider beside it does. */
export type UpdateWorkflow = { readonly name?: string | null; readonly workflow_definition?: { readonly [name: string]: unknown } | null; readonly template_context_variables?: { readonly [name: string]: unknown } | null; readonly workflow_configurations?: { readonly [name: string]: unknown } | null }

export type SetWorkflowStatus = { readonly status: "active" | "archived" }

/** Null takes the agent out of its folder. */
export type SetWorkflowFolder = { readonly folder_id?: number | null }

export type UseWorkflowTemplate = { readonly template_id: number; readonly workflow_name: string }

export type DescribeWorkflow = { /** Accepted and ignored: agents of this engine call. */ readonly call_type: "inbound" | "outbound"; readonly use_case: string; /** Becomes part of its prompt. */ readonly activity_description: string }

export type FolderInput = { /** Unique in the organization. Spaces around it are dropped. */ readonly name: string }

export type StartCall = { /** E.164, `+14155550100`; or an extension that the telephony configuration lists. */ readonly phone_number: string; readonly initial_context?: { readonly [name: string]: unknown } | null; readonly telephony_configuration_id?: number | null; readonly from_phone_number_id?: number | null }

export type InitiateCall = { /** The agent that calls; its draft, if it has one. */ readonly workflow_id: number; readonly workflow_run_id?: number | null; readonly phone_number?: string | null; readonly telephony_configuration_id?: number | null; readonly from_phone_number_id?: number | null }

export type TelephonyConfig_ari = { readonly provider: "ari"; /** Base URL of Asterisk's HTTP server, with its prefix if http.conf sets one */ readonly ari_endpoint: string; readonly ari_endpoints?: ReadonlyArray<string> | null; /** Section name of the ARI user in ari.conf */ readonly app_name: string; /** Password of that user */ readonly app_password: string; readonly ws_client_name?: string | null; readonly dial_string?: string | null; readonly allow_extensions?: ReadonlyArray<string> | null; readonly context?: string | null; readonly extension?: string | null; readonly priority?: string | null; readonly channel_variables?: ReadonlyArray<string> | null; readonly account_code?: string | null; readonly sip_headers?: ReadonlyArray<string> | null; readonly caller_name?: string | null; readonly transfer_dial_string?: string | null; readonly transfer_context?: string | null }

export type CreateTelephonyConfig = { readonly name: string; readonly config: TelephonyConfig_ari; readonly is_default_outbound?: boolean; readonly max_concurrent_calls?: number | null }

/** What is left out stays as it is. `config` is replaced as a whole, but a secret that is sent back as it was shown, masked, stays as it is. `max_concurrent_calls` null: no limit. */
export type UpdateTelephonyConfig = { readonly name?: string | null; readonly config?: TelephonyConfig_ari | null; readonly max_concurrent_calls?: number | null }

export type TestTelephonyConfig = { readonly call?: { /** E.164, `+14155550100`; or an extension that the telephony configuration lists. */ readonly phone_number: string; /** The agent that calls; its draft, if it has one. */ readonly workflow_id: number; readonly from_phone_number_id?: number | null } | null }

export type CreatePhoneNumber = { /** A phone number, a SIP address or an extension. */ readonly address: string; readonly country_code?: string | null; readonly label?: string | null; readonly inbound_workflow_id?: number | null; readonly is_active?: boolean; readonly is_default_caller_id?: boolean; readonly max_concurrent?: number | null; readonly extra_metadata?: { readonly [name: string]: unknown } | null }

/** What is left out, or null, stays as it is. The address always does. */
export type UpdatePhoneNumber = { readonly country_code?: string | null; readonly label?: string | null; readonly inbound_workflow_id?: number | null; readonly clear_inbound_workflow?: boolean; readonly is_active?: boolean | null; readonly max_concurrent?: number | null; readonly clear_max_concurrent?: boolean; readonly extra_metadata?: { readonly [name: string]: unknown } | null }

export type RequestUpload = { readonly file_name: string; readonly file_size: number; readonly content_type?: string }

export type ToolParameter = { readonly name: string; readonly type: "string" | "number" | "boolean" | "object" | "array"; /** For the model. */ readonly description: string; readonly required?: boolean }

export type PresetToolParameter = { readonly name: string; readonly type: "string" | "number" | "boolean" | "object" | "array"; /** May have placeholders: `{{initial_context.phone_number}}`. */ readonly value_template: string; /** Whether it must come to something. */ readonly required?: boolean }

export type HttpApiConfig = { readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"; /** May have placeholders. Empty: the tool is not ready yet. */ readonly url: string; readonly headers?: { readonly [name: string]: string } | null; readonly credential_uuid?: string | null; readonly parameters?: ReadonlyArray<ToolParameter> | null; readonly preset_parameters?: ReadonlyArray<PresetToolParameter> | null; readonly timeout_ms?: number | null; readonly customMessage?: string | null; readonly customMessageType?: "text" | "audio" | null; readonly customMessageRecordingId?: string | null; readonly body_template?: unknown | null }

export type HttpApiToolDefinition = { readonly schema_version?: number; readonly type: "http_api"; readonly config: HttpApiConfig }

export type EndCallConfig = { readonly messageType?: "none" | "custom" | "audio"; readonly customMessage?: string | null; readonly audioRecordingId?: string | null; /** Whether the model has to say why. */ readonly endCallReason?: boolean; readonly endCallReasonDescription?: string | null }

export type EndCallToolDefinition = { readonly schema_version?: number; readonly type: "end_call"; readonly config: EndCallConfig }

export type TransferCallConfig = { readonly destination_source?: "static" | "dynamic" | "context_mapping"; /** A phone number or SIP endpoint; may have placeholders. */ readonly destination?: string; readonly messageType?: "none" | "custom" | "audio"; readonly customMessage?: string | null; readonly audioRecordingId?: string | null; /** Seconds until the destination has to answer. */ readonly timeout?: number; readonly resolver?: { readonly [name: string]: unknown } | null; readonly context_mapping?: { readonly [name: string]: unknown } | null }

export type TransferCallToolDefinition = { readonly schema_version?: number; readonly type: "transfer_call"; readonly config: TransferCallConfig }

export type CalculatorToolDefinition = { readonly schema_version?: number; readonly type: "calculator" }

export type McpToolConfig = { readonly transport?: "streamable_http"; readonly url: string; readonly credential_uuid?: string | null; /** Names of the tools to offer; none: all. */ readonly tools_filter?: ReadonlyArray<string>; readonly timeout_secs?: number; readonly sse_read_timeout_secs?: number; readonly discovered_tools?: ReadonlyArray<{ readonly [name: string]: unknown }> }

export type McpToolDefinition = { readonly schema_version?: number; readonly type: "mcp"; readonly config: McpToolConfig }

export type CreateTool = { readonly name: string; readonly description?: string | null; readonly category?: "http_api" | "end_call" | "transfer_call" | "calculator" | "native" | "integration" | "mcp" | null; readonly icon?: string | null; readonly icon_color?: string | null; readonly definition: HttpApiToolDefinition | EndCallToolDefinition | TransferCallToolDefinition | CalculatorToolDefinition | McpToolDefinition }

/** What is left out, or null, stays as it is. The category follows the definition. */
export type UpdateTool = { readonly name?: string | null; readonly description?: string | null; readonly icon?: string | null; readonly icon_color?: string | null; readonly definition?: HttpApiToolDefinition | EndCallToolDefinition | TransferCallToolDefinition | CalculatorToolDefinition | McpToolDefinition | null; readonly status?: "active" | "archived" | "draft" | null }

export type CreateCredential = { readonly name: string; readonly description?: string | null; readonly credential_type: "none" | "api_key" | "bearer_token" | "basic_auth" | "custom_header"; /** `none`: nothing; `api_key`: `header_name`, `api_key`; `bearer_token`: `token`; `basic_auth`: `username`, `password`; `custom_header`: `header_name`, `header_value`. Never read out again. */ readonly credential_data: { readonly [name: string]: unknown }; readonly allowed_hosts?: ReadonlyArray<string> | null }

/** What is left out, or null, stays as it is. Another type needs its data. */
export type UpdateCredential = { readonly name?: string | null; readonly description?: string | null; readonly credential_type?: "none" | "api_key" | "bearer_token" | "basic_auth" | "custom_header" | null; readonly credential_data?: { readonly [name: string]: unknown } | null; readonly allowed_hosts?: ReadonlyArray<string> | null }

export type RequestRecordingUpload = { readonly filename: string; /** Calls play WAV (PCM, float, mu-law, A-law) and MP3, the first five minutes; what it is, the file itself says. */ readonly mime_type?: string; readonly file_size?: number | null; readonly workflow_id?: number | null }

export type RequestRecordingUploads = { readonly files: ReadonlyArray<RequestRecordingUpload> }

export type CreateRecording = { /** How prompts and contacts refer to it. */ readonly recording_id: string; /** As it was given with the upload's address. */ readonly storage_key: string; /** What is said in it. */ readonly transcript: string; readonly workflow_id?: number | null; readonly tts_provider?: string | null; readonly tts_model?: string | null; readonly tts_voice_id?: string | null; readonly metadata?: { readonly [name: string]: unknown } | null }

export type CreateRecordings = { /** All of them are made, or none. */ readonly recordings: ReadonlyArray<CreateRecording> }

/** What is left out, or null, stays as it is. */
export type UpdateRecording = { readonly recording_id?: string | null; readonly transcript?: string | null; readonly workflow_id?: number | null; readonly tts_provider?: string | null; readonly tts_model?: string | null; readonly tts_voice_id?: string | null; readonly metadata?: { readonly [name: string]: unknown } | null }

export type RequestDocumentUpload = { readonly filename: string; readonly mime_type: string; readonly custom_metadata?: { readonly [name: string]: unknown } | null }

export type ProcessDocument = { /** This and the key: as they were given with the upload's address. */ readonly document_uuid: string; readonly s3_key: string }

export type SignUp = { readonly email: string; /** At least 8 characters. */ readonly password: string; readonly name?: string | null; readonly invitation_token?: string | null; readonly setup_code?: string | null }

export type LogIn = { readonly email: string; readonly password: string }

export type SelectOrganization = { readonly organization_id: number }

export type SetOnboarding = { readonly completed_at?: string | null; readonly skipped?: boolean | null; readonly seen_tooltips?: ReadonlyArray<string> | null; readonly completed_actions?: ReadonlyArray<string> | null }

export type ChangePassword = { readonly current_password: string; /** At least 8 characters. */ readonly new_password: string }

/** Left out, `role` is that of the caller, up to `admin`. */
export type CreateApiKey = { readonly name: string; readonly role?: "viewer" | "member" | "admin" | "owner" | null; readonly scopes?: ReadonlyArray<"read" | "calls" | "campaigns" | "agents" | "admin"> | null; readonly expires_at?: string | null }

export type ChangeMember = { readonly role: "viewer" | "member" | "admin" | "owner" }

export type OrganizationPreferencesInput = { readonly test_phone_number?: string | null; readonly timezone?: string | null; readonly external_pbx_integrations_enabled?: boolean }

export type SetOrganizationSettings = { /** Calls that may be up at once. `0`: none. */ readonly concurrency_limit: number; /** Of these, so many are kept for calls outside of campaigns. */ readonly concurrency_reserve: number; readonly recordings_days?: number | null; readonly transcripts_days?: number | null; readonly recording_format?: "wav" | "opus" | null }

/** What is left out stays as it is. Null: as much as the operator allows. */
export type SetOwnQuotas = { readonly calls?: number | null; readonly storage_bytes?: number | null; readonly rows?: number | null; readonly agents?: number | null; readonly keys?: number | null; readonly followers?: number | null }

export type CreateInvitation = { readonly email: string; readonly role: "viewer" | "member" | "admin" | "owner"; readonly expires_in_days?: number }

export type RedeemInvitation = { readonly token: string }

/** What is left out, or null, stays as it is. A service is replaced as a whole; a secret in it that is left out, or sent as it was shown, masked, stays as it is while `provider` does. At most 65536 bytes of JSON for all services together. */
export type SetUserConfiguration = { readonly llm?: { readonly [name: string]: unknown } | null; readonly tts?: { readonly [name: string]: unknown } | null; readonly stt?: { readonly [name: string]: unknown } | null; readonly embeddings?: { readonly [name: string]: unknown } | null; readonly realtime?: { readonly [name: string]: unknown } | null; readonly is_realtime?: boolean | null; readonly test_phone_number?: string | null; readonly timezone?: string | null }

/** Models that the existing product hosts. There are none here: it is kept, and no call uses it. */
export type HostedModels = { readonly api_key: string; readonly voice?: string; readonly speed?: number; readonly language?: string }

/** In mode `pipeline` all but `embeddings` have to be there. */
export type PipelineModels = { readonly llm?: { readonly [name: string]: unknown } | null; readonly tts?: { readonly [name: string]: unknown } | null; readonly stt?: { readonly [name: string]: unknown } | null; readonly embeddings?: { readonly [name: string]: unknown } | null }

/** In mode `realtime` all but `embeddings` have to be there. */
export type RealtimeModels = { readonly realtime?: { readonly [name: string]: unknown } | null; readonly llm?: { readonly [name: string]: unknown } | null; readonly embeddings?: { readonly [name: string]: unknown } | null }

export type OwnModels = { /** Which of the two below counts, and has to be there. */ readonly mode: "pipeline" | "realtime"; readonly pipeline?: PipelineModels | null; readonly realtime?: RealtimeModels | null }

/** Replaces what there is. A secret of a service that is left out, or sent as it was shown, masked, stays as it is while `provider` does. At most 65536 bytes of JSON. */
export type SetModelConfiguration = { readonly version?: 2; /** Which of the two below counts, and has to be there. */ readonly mode: "dograh" | "byok"; readonly dograh?: HostedModels | null; readonly byok?: OwnModels | null }

export type CreateWebhookEndpoint = { /** `https://` or `http://`, at a public address. */ readonly url: string; readonly description?: string; /** Empty: every type. */ readonly event_types?: ReadonlyArray<"campaign.created" | "campaign.started" | "campaign.paused" | "campaign.resumed" | "campaign.completed" | "campaign.failed" | "campaign.redialed" | "run.answered" | "run.completed" | "storage.full">; readonly enabled?: boolean }

export type UpdateWebhookEndpoint = { readonly url?: string | null; readonly description?: string | null; readonly event_types?: ReadonlyArray<"campaign.created" | "campaign.started" | "campaign.paused" | "campaign.resumed" | "campaign.completed" | "campaign.failed" | "campaign.redialed" | "run.answered" | "run.completed" | "storage.full"> | null; readonly enabled?: boolean | null }

/** What is left out stays as it is. Null: the default. */
export type SetQuotas = { readonly calls?: number | null; readonly storage_bytes?: number | null; readonly rows?: number | null; readonly agents?: number | null; readonly keys?: number | null; readonly followers?: number | null; readonly requests_per_second?: number | null; readonly request_burst?: number | null }

export type NewOperatorKey = { readonly name: string }

export interface Operations {
  /** Create a campaign from an uploaded list */
  readonly createCampaign: {
    readonly method: "POST"
    readonly path: "/api/v1/campaign/create"
    readonly params: {  }
    readonly query: {  }
    readonly headers: { /** Of the client's making. For 24 hours the same key and request get the same answer, with `Idempotency-Replayed: true`. */ readonly "Idempotency-Key"?: string }
    readonly body: CreateCampaign
    readonly answer: AdvisedCampaign
    readonly errors: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** List campaigns, newest first */
  readonly listCampaigns: {
    readonly method: "GET"
    readonly path: "/api/v1/campaign/"
    readonly params: {  }
    readonly query: { /** One or more states, separated by commas. */ readonly state?: string; /** A part of the name, in capitals or not. */ readonly name?: string; readonly limit?: number; /** How many to pass over. */ readonly offset?: number; /** The last campaign of the page before. */ readonly after?: number }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: CampaignList
    readonly errors: 401 | 403 | 422 | 429 | 431 | 500 | 503
  }
  /** Read a campaign */
  readonly getCampaign: {
    readonly method: "GET"
    readonly path: "/api/v1/campaign/{campaign_id}"
    readonly params: { readonly campaign_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: Campaign
    readonly errors: 401 | 403 | 404 | 422 | 429 | 431 | 500 | 503
  }
  /** Change a draft or paused campaign */
  readonly updateCampaign: {
    readonly method: "PATCH"
    readonly path: "/api/v1/campaign/{campaign_id}"
    readonly params: { readonly campaign_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: UpdateCampaign
    readonly answer: AdvisedCampaign
    readonly errors: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** Start dialing, or go on after a pause */
  readonly startCampaign: {
    readonly method: "POST"
    readonly path: "/api/v1/campaign/{campaign_id}/start"
    readonly params: { readonly campaign_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: Campaign
    readonly errors: 400 | 401 | 403 | 404 | 409 | 422 | 429 | 431 | 500 | 503
  }
  /** Stop dialing */
  readonly pauseCampaign: {
    readonly method: "POST"
    readonly path: "/api/v1/campaign/{campaign_id}/pause"
    readonly params: { readonly campaign_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: Campaign
    readonly errors: 401 | 403 | 404 | 409 | 422 | 429 | 431 | 500 | 503
  }
  /** Go on after a pause */
  readonly resumeCampaign: {
    readonly method: "POST"
    readonly path: "/api/v1/campaign/{campaign_id}/resume"
    readonly params: { readonly campaign_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: Campaign
    readonly errors: 400 | 401 | 403 | 404 | 409 | 422 | 429 | 431 | 500 | 503
  }
  /** How far a campaign is */
  readonly getCampaignProgress: {
    readonly method: "GET"
    readonly path: "/api/v1/campaign/{campaign_id}/progress"
    readonly params: { readonly campaign_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: CampaignProgress
    readonly errors: 401 | 403 | 404 | 422 | 429 | 431 | 500 | 503
  }
  /** List the calls of a campaign */
  readonly listCampaignRuns: {
    readonly method: "GET"
    readonly path: "/api/v1/campaign/{campaign_id}/runs"
    readonly params: { readonly campaign_id: number }
    readonly query: { readonly page?: number; readonly limit?: number; /** JSON array of `{"attribute", "type", "value"}`; all must match. */ readonly filters?: string; /** `duration`; anything else is the time of creation. */ readonly sort_by?: string; /** `asc`; anything else is descending. Runs without a value come last. */ readonly sort_order?: string }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: WorkflowRunPage
    readonly errors: 400 | 401 | 403 | 404 | 422 | 429 | 431 | 500 | 503
  }
  /** Make a campaign of those whom a completed one did not reach */
  readonly redialCampaign: {
    readonly method: "POST"
    readonly path: "/api/v1/campaign/{campaign_id}/redial"
    readonly params: { readonly campaign_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: RedialCampaign
    readonly answer: Campaign
    readonly errors: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** An address of the uploaded list */
  readonly getCampaignSourceUrl: {
    readonly method: "GET"
    readonly path: "/api/v1/campaign/{campaign_id}/source-download-url"
    readonly params: { readonly campaign_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: SourceDownload
    readonly errors: 401 | 403 | 404 | 422 | 429 | 431 | 500 | 503
  }
  /** What a new campaign may start from */
  readonly getCampaignDefaults: {
    readonly method: "GET"
    readonly path: "/api/v1/organizations/campaign-defaults"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: CampaignDefaults
    readonly errors: 401 | 403 | 429 | 431 | 500 | 503
  }
  /** List the contacts of a campaign */
  readonly listCampaignContacts: {
    readonly method: "GET"
    readonly path: "/api/v1/campaign/{campaign_id}/contacts"
    readonly params: { readonly campaign_id: number }
    readonly query: { readonly state?: "pending" | "dialing" | "in_call" | "retry_wait" | "completed" | "failed" | "cancelled"; readonly outcome?: "error" | "voicemail" | "answered" | "busy" | "no_answer" | "canceled" | "failed" | "unknown"; /** What a person has said; `unsaid`: nobody has said anything. */ readonly reached?: "yes" | "no" | "unsaid"; readonly limit?: number; /** The last row of the previous page. */ readonly after?: number }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: ContactList
    readonly errors: 401 | 403 | 404 | 422 | 429 | 431 | 500 | 503
  }
  /** Mark contacts with an unknown outcome as reached or not */
  readonly markCampaignContacts: {
    readonly method: "POST"
    readonly path: "/api/v1/campaign/{campaign_id}/contacts/mark"
    readonly params: { readonly campaign_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: MarkContacts
    readonly answer: CampaignProgress
    readonly errors: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** Create an agent */
  readonly createWorkflow: {
    readonly method: "POST"
    readonly path: "/api/v1/workflow/create/definition"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: CreateWorkflow
    readonly answer: Workflow
    readonly errors: 400 | 401 | 403 | 408 | 409 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** List agents */
  readonly listWorkflows: {
    readonly method: "GET"
    readonly path: "/api/v1/workflow/fetch"
    readonly params: {  }
    readonly query: { /** `active`, `archived`, or both with a comma between. */ readonly status?: string; readonly limit?: number; /** How many to pass over. */ readonly offset?: number; /** The last agent of the page before. */ readonly after?: number }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: ReadonlyArray<WorkflowListItem>
    readonly errors: 401 | 403 | 422 | 429 | 431 | 500 | 503
  }
  /** Read an agent */
  readonly getWorkflow: {
    readonly method: "GET"
    readonly path: "/api/v1/workflow/fetch/{workflow_id}"
    readonly params: { readonly workflow_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: Workflow
    readonly errors: 401 | 403 | 404 | 422 | 429 | 431 | 500 | 503
  }
  /** Change an agent */
  readonly updateWorkflow: {
    readonly method: "PUT"
    readonly path: "/api/v1/workflow/{workflow_id}"
    readonly params: { readonly workflow_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: UpdateWorkflow
    readonly answer: Workflow
    readonly errors: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** Archive an agent, or make it active again */
  readonly setWorkflowStatus: {
    readonly method: "PUT"
    readonly path: "/api/v1/workflow/{workflow_id}/status"
    readonly params: { readonly workflow_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: SetWorkflowStatus
    readonly answer: Workflow
    readonly errors: 400 | 401 | 403 | 404 | 408 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** List the names of agents */
  readonly listWorkflowNames: {
    readonly method: "GET"
    readonly path: "/api/v1/workflow/summary"
    readonly params: {  }
    readonly query: { /** `active`, `archived`, or both with a comma between. */ readonly status?: string; readonly limit?: number; /** How many to pass over. */ readonly offset?: number; /** The last agent of the page before. */ readonly after?: number }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: ReadonlyArray<WorkflowName>
    readonly errors: 401 | 403 | 422 | 429 | 431 | 500 | 503
  }
  /** Count agents */
  readonly countWorkflows: {
    readonly method: "GET"
    readonly path: "/api/v1/workflow/count"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: WorkflowCount
    readonly errors: 401 | 403 | 429 | 431 | 500 | 503
  }
  /** Copy an agent */
  readonly duplicateWorkflow: {
    readonly method: "POST"
    readonly path: "/api/v1/workflow/{workflow_id}/duplicate"
    readonly params: { readonly workflow_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: Workflow
    readonly errors: 401 | 403 | 404 | 409 | 422 | 429 | 431 | 500 | 503
  }
  /** Put an agent into a folder, or take it out */
  readonly setWorkflowFolder: {
    readonly method: "PUT"
    readonly path: "/api/v1/workflow/{workflow_id}/folder"
    readonly params: { readonly workflow_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: SetWorkflowFolder
    readonly answer: WorkflowListItem
    readonly errors: 400 | 401 | 403 | 404 | 408 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** List agents to begin with */
  readonly listWorkflowTemplates: {
    readonly method: "GET"
    readonly path: "/api/v1/workflow/templates"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: ReadonlyArray<WorkflowTemplate>
    readonly errors: 431 | 500 | 503
  }
  /** Create an agent from a template */
  readonly useWorkflowTemplate: {
    readonly method: "POST"
    readonly path: "/api/v1/workflow/templates/duplicate"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: UseWorkflowTemplate
    readonly answer: Workflow
    readonly errors: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** Create an agent from a description */
  readonly describeWorkflow: {
    readonly method: "POST"
    readonly path: "/api/v1/workflow/create/template"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: DescribeWorkflow
    readonly answer: Workflow
    readonly errors: 400 | 401 | 403 | 408 | 409 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** List the words for what calls come to */
  readonly listDispositionCodes: {
    readonly method: "GET"
    readonly path: "/api/v1/organizations/disposition-codes"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: DispositionCodes
    readonly errors: 401 | 403 | 429 | 431 | 500 | 503
  }
  /** List an agent's versions, newest first */
  readonly listWorkflowVersions: {
    readonly method: "GET"
    readonly path: "/api/v1/workflow/{workflow_id}/versions"
    readonly params: { readonly workflow_id: number }
    readonly query: { /** At most so many, 100 unless it is said. */ readonly limit?: number; /** So many of the newest are left out. */ readonly offset?: number }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: ReadonlyArray<WorkflowVersion>
    readonly errors: 401 | 403 | 404 | 422 | 429 | 431 | 500 | 503
  }
  /** Make a draft of the published version */
  readonly createWorkflowDraft: {
    readonly method: "POST"
    readonly path: "/api/v1/workflow/{workflow_id}/create-draft"
    readonly params: { readonly workflow_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: WorkflowVersion
    readonly errors: 401 | 403 | 404 | 422 | 429 | 431 | 500 | 503
  }
  /** Publish the draft */
  readonly publishWorkflow: {
    readonly method: "POST"
    readonly path: "/api/v1/workflow/{workflow_id}/publish"
    readonly params: { readonly workflow_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: PublishedWorkflowVersion
    readonly errors: 400 | 401 | 403 | 404 | 422 | 429 | 431 | 500 | 503
  }
  /** Check whether an agent could be published */
  readonly validateWorkflow: {
    readonly method: "POST"
    readonly path: "/api/v1/workflow/{workflow_id}/validate"
    readonly params: { readonly workflow_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: WorkflowValid
    readonly errors: 401 | 403 | 404 | 422 | 429 | 431 | 500 | 503
  }
  /** List the types of nodes that agents are built from, by name */
  readonly listNodeTypes: {
    readonly method: "GET"
    readonly path: "/api/v1/node-types"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: NodeTypeList
    readonly errors: 401 | 403 | 429 | 431 | 500 | 503
  }
  /** Read a type of node */
  readonly getNodeType: {
    readonly method: "GET"
    readonly path: "/api/v1/node-types/{name}"
    readonly params: { readonly name: string }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: NodeSpec
    readonly errors: 401 | 403 | 404 | 422 | 429 | 431 | 500 | 503
  }
  /** List folders by name */
  readonly listFolders: {
    readonly method: "GET"
    readonly path: "/api/v1/folder/"
    readonly params: {  }
    readonly query: { readonly limit?: number; /** How many to pass over. */ readonly offset?: number }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: ReadonlyArray<Folder>
    readonly errors: 401 | 403 | 422 | 429 | 431 | 500 | 503
  }
  /** Create a folder */
  readonly createFolder: {
    readonly method: "POST"
    readonly path: "/api/v1/folder/"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: FolderInput
    readonly answer: Folder
    readonly errors: 400 | 401 | 403 | 408 | 409 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** Rename a folder */
  readonly renameFolder: {
    readonly method: "PUT"
    readonly path: "/api/v1/folder/{folder_id}"
    readonly params: { readonly folder_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: FolderInput
    readonly answer: Folder
    readonly errors: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** Delete a folder */
  readonly deleteFolder: {
    readonly method: "DELETE"
    readonly path: "/api/v1/folder/{folder_id}"
    readonly params: { readonly folder_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: FolderDeleted
    readonly errors: 401 | 403 | 404 | 422 | 429 | 431 | 500 | 503
  }
  /** List the calls of an agent */
  readonly listWorkflowRuns: {
    readonly method: "GET"
    readonly path: "/api/v1/workflow/{workflow_id}/runs"
    readonly params: { readonly workflow_id: number }
    readonly query: { readonly page?: number; readonly limit?: number; /** JSON array of `{"attribute", "type", "value"}`; all must match. */ readonly filters?: string; /** `duration`; anything else is the time of creation. */ readonly sort_by?: string; /** `asc`; anything else is descending. Runs without a value come last. */ readonly sort_order?: string }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: WorkflowRunPageOfWorkflow
    readonly errors: 400 | 401 | 403 | 422 | 429 | 431 | 500 | 503
  }
  /** Read the record of a call */
  readonly getRun: {
    readonly method: "GET"
    readonly path: "/api/v1/workflow/{workflow_id}/runs/{run_id}"
    readonly params: { readonly workflow_id: number; readonly run_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: WorkflowRun
    readonly errors: 401 | 403 | 404 | 422 | 429 | 431 | 500 | 503
  }
  /** What was said and typed, with times */
  readonly getRunTranscript: {
    readonly method: "GET"
    readonly path: "/api/v1/workflow/{workflow_id}/runs/{run_id}/transcript"
    readonly params: { readonly workflow_id: number; readonly run_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: string
    readonly errors: 401 | 403 | 404 | 416 | 422 | 429 | 431 | 500 | 503
  }
  /** The recorded call, callee left and agent right */
  readonly getRunRecording: {
    readonly method: "GET"
    readonly path: "/api/v1/workflow/{workflow_id}/runs/{run_id}/recording"
    readonly params: { readonly workflow_id: number; readonly run_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: Blob
    readonly errors: 401 | 403 | 404 | 416 | 422 | 429 | 431 | 500 | 503
  }
  /** Delete the recording and the transcript of a call */
  readonly deleteRunArtifacts: {
    readonly method: "DELETE"
    readonly path: "/api/v1/workflow/{workflow_id}/runs/{run_id}/artifacts"
    readonly params: { readonly workflow_id: number; readonly run_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: Changed
    readonly errors: 401 | 403 | 404 | 409 | 422 | 429 | 431 | 500 | 503
  }
  /** List what the agent's webhook nodes have sent for a call */
  readonly listRunWebhooks: {
    readonly method: "GET"
    readonly path: "/api/v1/workflow/{workflow_id}/runs/{run_id}/webhooks"
    readonly params: { readonly workflow_id: number; readonly run_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: RunWebhookList
    readonly errors: 401 | 403 | 404 | 422 | 429 | 431 | 500 | 503
  }
  /** Send a dead delivery of a call anew */
  readonly replayRunWebhook: {
    readonly method: "POST"
    readonly path: "/api/v1/workflow/{workflow_id}/runs/{run_id}/webhooks/{delivery_id}/replay"
    readonly params: { readonly workflow_id: number; readonly run_id: number; readonly delivery_id: string }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: QueuedDeliveries
    readonly errors: 401 | 403 | 404 | 409 | 422 | 429 | 431 | 500 | 503
  }
  /** The calls of a campaign as CSV */
  readonly getCampaignReport: {
    readonly method: "GET"
    readonly path: "/api/v1/campaign/{campaign_id}/report"
    readonly params: { readonly campaign_id: number }
    readonly query: { /** Runs created then or later. A date alone is that whole day in the organization's time zone; a time without a zone is UTC. */ readonly start_date?: string; /** Runs created then or earlier. A date alone is that whole day in the organization's time zone; a time without a zone is UTC. */ readonly end_date?: string }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: string
    readonly errors: 401 | 403 | 404 | 416 | 422 | 429 | 431 | 500 | 503
  }
  /** The calls of an agent as CSV */
  readonly getWorkflowReport: {
    readonly method: "GET"
    readonly path: "/api/v1/workflow/{workflow_id}/report"
    readonly params: { readonly workflow_id: number }
    readonly query: { /** Runs created then or later. A date alone is that whole day in the organization's time zone; a time without a zone is UTC. */ readonly start_date?: string; /** Runs created then or earlier. A date alone is that whole day in the organization's time zone; a time without a zone is UTC. */ readonly end_date?: string }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: string
    readonly errors: 401 | 403 | 404 | 416 | 422 | 429 | 431 | 500 | 503
  }
  /** The calls of the organization as CSV */
  readonly getUsageReport: {
    readonly method: "GET"
    readonly path: "/api/v1/organizations/usage/runs/report"
    readonly params: {  }
    readonly query: { /** ISO 8601: runs created then or later. A date alone is that whole day in the organization's time zone; a time without a zone is UTC. */ readonly start_date?: string; /** ISO 8601: runs created then or earlier. A date alone is that whole day in the organization's time zone; a time without a zone is UTC. */ readonly end_date?: string; /** JSON array of `{"attribute", "type", "value"}`; all must match. */ readonly filters?: string }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: string
    readonly errors: 400 | 401 | 403 | 416 | 422 | 429 | 431 | 500 | 503
  }
  /** What the calls of a day came to */
  readonly getDailyReport: {
    readonly method: "GET"
    readonly path: "/api/v1/organizations/reports/daily"
    readonly params: {  }
    readonly query: { /** `YYYY-MM-DD` */ readonly date: string; /** An IANA name: where the day begins and ends. */ readonly timezone: string; /** Only runs of this agent. */ readonly workflow_id?: number }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: DailyReport
    readonly errors: 400 | 401 | 403 | 422 | 429 | 431 | 500 | 503
  }
  /** The calls of a day, newest first */
  readonly listDailyRuns: {
    readonly method: "GET"
    readonly path: "/api/v1/organizations/reports/daily/runs"
    readonly params: {  }
    readonly query: { /** `YYYY-MM-DD` */ readonly date: string; /** An IANA name: where the day begins and ends. */ readonly timezone: string; /** Only runs of this agent. */ readonly workflow_id?: number }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: ReadonlyArray<DailyRun>
    readonly errors: 400 | 401 | 403 | 422 | 429 | 431 | 500 | 503
  }
  /** The agents that a report can be narrowed to */
  readonly listReportedWorkflows: {
    readonly method: "GET"
    readonly path: "/api/v1/organizations/reports/workflows"
    readonly params: {  }
    readonly query: { readonly limit?: number; /** How many to pass over. */ readonly offset?: number }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: ReadonlyArray<WorkflowName>
    readonly errors: 401 | 403 | 422 | 429 | 431 | 500 | 503
  }
  /** List the calls of the organization */
  readonly listUsageRuns: {
    readonly method: "GET"
    readonly path: "/api/v1/organizations/usage/runs"
    readonly params: {  }
    readonly query: { /** ISO 8601: runs created then or later. A date alone is that whole day in the organization's time zone; a time without a zone is UTC. */ readonly start_date?: string; /** ISO 8601: runs created then or earlier. A date alone is that whole day in the organization's time zone; a time without a zone is UTC. */ readonly end_date?: string; /** JSON array of `{"attribute", "type", "value"}`; all must match. */ readonly filters?: string; readonly page?: number; readonly limit?: number; /** `duration`; anything else is the time of creation. */ readonly sort_by?: string; /** Runs without a value come last. */ readonly sort_order?: "asc" | "desc" }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: UsagePage
    readonly errors: 400 | 401 | 403 | 422 | 429 | 431 | 500 | 503
  }
  /** How long the calls of this month took */
  readonly getCurrentUsage: {
    readonly method: "GET"
    readonly path: "/api/v1/organizations/usage/current-period"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: CurrentPeriod
    readonly errors: 401 | 403 | 429 | 431 | 500 | 503
  }
  /** Calls and minutes of each of the last days */
  readonly getDailyUsage: {
    readonly method: "GET"
    readonly path: "/api/v1/organizations/usage/daily-breakdown"
    readonly params: {  }
    readonly query: { readonly days?: number }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: DailyUsageBreakdown
    readonly errors: 401 | 403 | 422 | 429 | 431 | 500 | 503
  }
  /** Call somebody */
  readonly startCall: {
    readonly method: "POST"
    readonly path: "/api/v1/public/agent/workflow/{workflow_uuid}"
    readonly params: { readonly workflow_uuid: string }
    readonly query: {  }
    readonly headers: { /** Of the client's making. For 24 hours the same key and request get the same answer, with `Idempotency-Replayed: true`. */ readonly "Idempotency-Key"?: string }
    readonly body: StartCall
    readonly answer: CallStarted
    readonly errors: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** Call somebody with the agent's draft */
  readonly startTestCall: {
    readonly method: "POST"
    readonly path: "/api/v1/public/agent/test/workflow/{workflow_uuid}"
    readonly params: { readonly workflow_uuid: string }
    readonly query: {  }
    readonly headers: { /** Of the client's making. For 24 hours the same key and request get the same answer, with `Idempotency-Replayed: true`. */ readonly "Idempotency-Key"?: string }
    readonly body: StartCall
    readonly answer: CallStarted
    readonly errors: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** Call somebody by an API trigger */
  readonly startTriggeredCall: {
    readonly method: "POST"
    readonly path: "/api/v1/public/agent/{trigger_path}"
    readonly params: { /** Of an API trigger node. */ readonly trigger_path: string }
    readonly query: {  }
    readonly headers: { /** Of the client's making. For 24 hours the same key and request get the same answer, with `Idempotency-Replayed: true`. */ readonly "Idempotency-Key"?: string }
    readonly body: StartCall
    readonly answer: CallStarted
    readonly errors: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** Call somebody by an API trigger, with the agent's draft */
  readonly startTriggeredTestCall: {
    readonly method: "POST"
    readonly path: "/api/v1/public/agent/test/{trigger_path}"
    readonly params: { /** Of an API trigger node. */ readonly trigger_path: string }
    readonly query: {  }
    readonly headers: { /** Of the client's making. For 24 hours the same key and request get the same answer, with `Idempotency-Replayed: true`. */ readonly "Idempotency-Key"?: string }
    readonly body: StartCall
    readonly answer: CallStarted
    readonly errors: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** Try an agent out on the phone */
  readonly initiateCall: {
    readonly method: "POST"
    readonly path: "/api/v1/telephony/initiate-call"
    readonly params: {  }
    readonly query: {  }
    readonly headers: { /** Of the client's making. For 24 hours the same key and request get the same answer, with `Idempotency-Replayed: true`. */ readonly "Idempotency-Key"?: string }
    readonly body: InitiateCall
    readonly answer: CallInitiated
    readonly errors: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** Add a telephony configuration */
  readonly createTelephonyConfig: {
    readonly method: "POST"
    readonly path: "/api/v1/organizations/telephony-configs"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: CreateTelephonyConfig
    readonly answer: TelephonyConfig
    readonly errors: 400 | 401 | 403 | 408 | 409 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** List telephony configurations, oldest first */
  readonly listTelephonyConfigs: {
    readonly method: "GET"
    readonly path: "/api/v1/organizations/telephony-configs"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: TelephonyConfigList
    readonly errors: 401 | 403 | 429 | 431 | 500 | 503
  }
  /** Read a telephony configuration */
  readonly getTelephonyConfig: {
    readonly method: "GET"
    readonly path: "/api/v1/organizations/telephony-configs/{config_id}"
    readonly params: { readonly config_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: TelephonyConfig
    readonly errors: 401 | 403 | 404 | 422 | 429 | 431 | 500 | 503
  }
  /** Change a telephony configuration */
  readonly updateTelephonyConfig: {
    readonly method: "PUT"
    readonly path: "/api/v1/organizations/telephony-configs/{config_id}"
    readonly params: { readonly config_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: UpdateTelephonyConfig
    readonly answer: TelephonyConfig
    readonly errors: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** Delete a telephony configuration and its phone numbers */
  readonly deleteTelephonyConfig: {
    readonly method: "DELETE"
    readonly path: "/api/v1/organizations/telephony-configs/{config_id}"
    readonly params: { readonly config_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: TelephonyConfigDeleted
    readonly errors: 401 | 403 | 404 | 409 | 422 | 429 | 431 | 500 | 503
  }
  /** Make it the configuration that calls go through when none is named */
  readonly setDefaultOutbound: {
    readonly method: "POST"
    readonly path: "/api/v1/organizations/telephony-configs/{config_id}/set-default-outbound"
    readonly params: { readonly config_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: TelephonyConfig
    readonly errors: 401 | 403 | 404 | 422 | 429 | 431 | 500 | 503
  }
  /** Try a telephony configuration out */
  readonly testTelephonyConfig: {
    readonly method: "POST"
    readonly path: "/api/v1/organizations/telephony-configs/{config_id}/test"
    readonly params: { readonly config_id: number }
    readonly query: {  }
    readonly headers: { /** Of the client's making. For 24 hours the same key and request get the same answer, with `Idempotency-Replayed: true`. */ readonly "Idempotency-Key"?: string }
    readonly body: TestTelephonyConfig
    readonly answer: TelephonyTested
    readonly errors: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** Which telephony configurations are connected, and why others are not */
  readonly listTrunks: {
    readonly method: "GET"
    readonly path: "/api/v1/organizations/telephony-trunks"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: TrunkList
    readonly errors: 401 | 403 | 429 | 431 | 500 | 503
  }
  /** What is missing in telephony configurations */
  readonly listTelephonyConfigWarnings: {
    readonly method: "GET"
    readonly path: "/api/v1/organizations/telephony-config-warnings"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: TelephonyConfigWarnings
    readonly errors: 401 | 403 | 429 | 431 | 500 | 503
  }
  /** The providers of this engine, and what their configurations ask for */
  readonly listTelephonyProviders: {
    readonly method: "GET"
    readonly path: "/api/v1/organizations/telephony-providers/metadata"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: ProviderList
    readonly errors: 401 | 403 | 429 | 431 | 500 | 503
  }
  /** List the phone numbers of a telephony configuration, oldest first */
  readonly listPhoneNumbers: {
    readonly method: "GET"
    readonly path: "/api/v1/organizations/telephony-configs/{config_id}/phone-numbers"
    readonly params: { readonly config_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: PhoneNumberList
    readonly errors: 401 | 403 | 404 | 422 | 429 | 431 | 500 | 503
  }
  /** Add a phone number */
  readonly createPhoneNumber: {
    readonly method: "POST"
    readonly path: "/api/v1/organizations/telephony-configs/{config_id}/phone-numbers"
    readonly params: { readonly config_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: CreatePhoneNumber
    readonly answer: PhoneNumber
    readonly errors: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** Read a phone number */
  readonly getPhoneNumber: {
    readonly method: "GET"
    readonly path: "/api/v1/organizations/telephony-configs/{config_id}/phone-numbers/{number_id}"
    readonly params: { readonly config_id: number; readonly number_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: PhoneNumber
    readonly errors: 401 | 403 | 404 | 422 | 429 | 431 | 500 | 503
  }
  /** Change a phone number */
  readonly updatePhoneNumber: {
    readonly method: "PUT"
    readonly path: "/api/v1/organizations/telephony-configs/{config_id}/phone-numbers/{number_id}"
    readonly params: { readonly config_id: number; readonly number_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: UpdatePhoneNumber
    readonly answer: PhoneNumber
    readonly errors: 400 | 401 | 403 | 404 | 408 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** Delete a phone number */
  readonly deletePhoneNumber: {
    readonly method: "DELETE"
    readonly path: "/api/v1/organizations/telephony-configs/{config_id}/phone-numbers/{number_id}"
    readonly params: { readonly config_id: number; readonly number_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: PhoneNumberDeleted
    readonly errors: 401 | 403 | 404 | 422 | 429 | 431 | 500 | 503
  }
  /** Show this number in single calls */
  readonly setDefaultCallerId: {
    readonly method: "POST"
    readonly path: "/api/v1/organizations/telephony-configs/{config_id}/phone-numbers/{number_id}/set-default-caller"
    readonly params: { readonly config_id: number; readonly number_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: PhoneNumber
    readonly errors: 400 | 401 | 403 | 404 | 422 | 429 | 431 | 500 | 503
  }
  /** Ask for an address to upload a list of contacts to */
  readonly requestUpload: {
    readonly method: "POST"
    readonly path: "/api/v1/s3/presigned-upload-url"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: RequestUpload
    readonly answer: UploadAddress
    readonly errors: 400 | 401 | 403 | 408 | 409 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** Upload the bytes of a list */
  readonly putUpload: {
    readonly method: "PUT"
    readonly path: "/api/v1/uploads/{token}"
    readonly params: { readonly token: string }
    readonly query: { readonly key: string }
    readonly headers: {  }
    readonly body: string | Blob
    readonly answer: Uploaded
    readonly errors: 403 | 408 | 409 | 413 | 422 | 431 | 500 | 503
  }
  /** Upload a list as the file of a form */
  readonly postUpload: {
    readonly method: "POST"
    readonly path: "/api/v1/uploads/{token}"
    readonly params: { readonly token: string }
    readonly query: { readonly key: string }
    readonly headers: {  }
    readonly body: { readonly file: Blob }
    readonly answer: Uploaded
    readonly errors: 400 | 403 | 408 | 409 | 413 | 422 | 431 | 500 | 503
  }
  /** An address of a stored file that works without a credential */
  readonly getSignedUrl: {
    readonly method: "GET"
    readonly path: "/api/v1/s3/signed-url"
    readonly params: {  }
    readonly query: { /** As in `transcript_url`, `recording_url` or `source_id`. */ readonly key: string; /** Seconds. */ readonly expires_in?: number; /** To be shown rather than saved. */ readonly inline?: boolean; /** Accepted and ignored. */ readonly storage_backend?: "s3" | "minio" }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: SignedUrl
    readonly errors: 400 | 401 | 403 | 422 | 429 | 431 | 500 | 503
  }
  /** How large a stored file is, and from when */
  readonly getFileMetadata: {
    readonly method: "GET"
    readonly path: "/api/v1/s3/file-metadata"
    readonly params: {  }
    readonly query: { readonly key: string }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: FileMetadata
    readonly errors: 400 | 401 | 403 | 422 | 429 | 431 | 500 | 503
  }
  /** A stored file, under an address that was given out */
  readonly getFile: {
    readonly method: "GET"
    readonly path: "/api/v1/files"
    readonly params: {  }
    readonly query: { readonly key: string; /** Epoch seconds. */ readonly expires: number; readonly inline?: boolean; /** Who made the link: it ends with the maker's membership. */ readonly by?: string; readonly signature: string }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: Blob | string
    readonly errors: 403 | 404 | 416 | 422 | 431 | 500 | 503
  }
  /** Go to a file of a call */
  readonly downloadArtifact: {
    readonly method: "GET"
    readonly path: "/api/v1/public/download/workflow/{token}/{artifact_type}"
    readonly params: { readonly token: string; /** `recording`, `transcript`, `user_recording` or `bot_recording`. */ readonly artifact_type: string }
    readonly query: { /** To be shown rather than saved. */ readonly inline?: boolean }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: unknown
    readonly errors: 400 | 404 | 422 | 431 | 500 | 503
  }
  /** List tools, by name */
  readonly listTools: {
    readonly method: "GET"
    readonly path: "/api/v1/tools/"
    readonly params: {  }
    readonly query: { /** `active`, `archived`, `draft`, or several with commas between. Left out: all but the archived. */ readonly status?: string; /** The type of the definition. */ readonly category?: string; readonly limit?: number; /** How many to pass over. */ readonly offset?: number }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: ReadonlyArray<Tool>
    readonly errors: 400 | 401 | 403 | 422 | 429 | 431 | 500 | 503
  }
  /** Create a tool */
  readonly createTool: {
    readonly method: "POST"
    readonly path: "/api/v1/tools/"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: CreateTool
    readonly answer: Tool
    readonly errors: 400 | 401 | 403 | 404 | 408 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** Read a tool */
  readonly getTool: {
    readonly method: "GET"
    readonly path: "/api/v1/tools/{tool_uuid}"
    readonly params: { readonly tool_uuid: string }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: Tool
    readonly errors: 401 | 403 | 404 | 422 | 429 | 431 | 500 | 503
  }
  /** Change a tool */
  readonly updateTool: {
    readonly method: "PUT"
    readonly path: "/api/v1/tools/{tool_uuid}"
    readonly params: { readonly tool_uuid: string }
    readonly query: {  }
    readonly headers: {  }
    readonly body: UpdateTool
    readonly answer: Tool
    readonly errors: 400 | 401 | 403 | 404 | 408 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** Archive a tool */
  readonly archiveTool: {
    readonly method: "DELETE"
    readonly path: "/api/v1/tools/{tool_uuid}"
    readonly params: { readonly tool_uuid: string }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: ToolArchived
    readonly errors: 401 | 403 | 404 | 422 | 429 | 431 | 500 | 503
  }
  /** Make an archived tool active again */
  readonly unarchiveTool: {
    readonly method: "POST"
    readonly path: "/api/v1/tools/{tool_uuid}/unarchive"
    readonly params: { readonly tool_uuid: string }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: Tool
    readonly errors: 401 | 403 | 404 | 422 | 429 | 431 | 500 | 503
  }
  /** List credentials, by name */
  readonly listCredentials: {
    readonly method: "GET"
    readonly path: "/api/v1/credentials/"
    readonly params: {  }
    readonly query: { readonly limit?: number; /** How many to pass over. */ readonly offset?: number }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: ReadonlyArray<Credential>
    readonly errors: 401 | 403 | 422 | 429 | 431 | 500 | 503
  }
  /** Create a credential */
  readonly createCredential: {
    readonly method: "POST"
    readonly path: "/api/v1/credentials/"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: CreateCredential
    readonly answer: Credential
    readonly errors: 400 | 401 | 403 | 408 | 409 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** Read what a credential is called */
  readonly getCredential: {
    readonly method: "GET"
    readonly path: "/api/v1/credentials/{credential_uuid}"
    readonly params: { readonly credential_uuid: string }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: Credential
    readonly errors: 401 | 403 | 404 | 422 | 429 | 431 | 500 | 503
  }
  /** Change a credential */
  readonly updateCredential: {
    readonly method: "PUT"
    readonly path: "/api/v1/credentials/{credential_uuid}"
    readonly params: { readonly credential_uuid: string }
    readonly query: {  }
    readonly headers: {  }
    readonly body: UpdateCredential
    readonly answer: Credential
    readonly errors: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** Delete a credential */
  readonly deleteCredential: {
    readonly method: "DELETE"
    readonly path: "/api/v1/credentials/{credential_uuid}"
    readonly params: { readonly credential_uuid: string }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: CredentialDeleted
    readonly errors: 401 | 403 | 404 | 422 | 429 | 431 | 500 | 503
  }
  /** List recordings, newest first */
  readonly listRecordings: {
    readonly method: "GET"
    readonly path: "/api/v1/workflow-recordings/"
    readonly params: {  }
    readonly query: { /** The agent that it was made for. */ readonly workflow_id?: number; readonly tts_provider?: string; readonly tts_model?: string; readonly tts_voice_id?: string; readonly limit?: number; /** How many to pass over. */ readonly offset?: number }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: RecordingList
    readonly errors: 401 | 403 | 422 | 429 | 431 | 500 | 503
  }
  /** Make a recording of what was uploaded */
  readonly createRecording: {
    readonly method: "POST"
    readonly path: "/api/v1/workflow-recordings/"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: CreateRecording | CreateRecordings
    readonly answer: Recording | RecordingsMade
    readonly errors: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** Ask for an address to upload a recording to */
  readonly requestRecordingUpload: {
    readonly method: "POST"
    readonly path: "/api/v1/workflow-recordings/upload-url"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: RequestRecordingUpload | RequestRecordingUploads
    readonly answer: RecordingUpload | RecordingUploads
    readonly errors: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** Change what is known of a recording */
  readonly updateRecording: {
    readonly method: "PATCH"
    readonly path: "/api/v1/workflow-recordings/{recording_id}"
    readonly params: { /** Its `id` or its `recording_id`. */ readonly recording_id: string }
    readonly query: {  }
    readonly headers: {  }
    readonly body: UpdateRecording
    readonly answer: Recording
    readonly errors: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** Delete a recording and its file */
  readonly deleteRecording: {
    readonly method: "DELETE"
    readonly path: "/api/v1/workflow-recordings/{recording_id}"
    readonly params: { /** Its `id` or its `recording_id`. */ readonly recording_id: string }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: ResourceDeleted
    readonly errors: 401 | 403 | 404 | 422 | 429 | 431 | 500 | 503
  }
  /** Ask for an address to upload a document to */
  readonly requestDocumentUpload: {
    readonly method: "POST"
    readonly path: "/api/v1/knowledge-base/upload-url"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: RequestDocumentUpload
    readonly answer: DocumentUpload
    readonly errors: 400 | 401 | 403 | 408 | 409 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** Make a document of what was uploaded */
  readonly processDocument: {
    readonly method: "POST"
    readonly path: "/api/v1/knowledge-base/process-document"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: ProcessDocument
    readonly answer: Document
    readonly errors: 400 | 401 | 403 | 404 | 408 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** List documents, newest first */
  readonly listDocuments: {
    readonly method: "GET"
    readonly path: "/api/v1/knowledge-base/documents"
    readonly params: {  }
    readonly query: { /** Documents are `completed` from the beginning. */ readonly status?: "pending" | "processing" | "completed" | "failed"; readonly limit?: number; readonly offset?: number }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: DocumentList
    readonly errors: 401 | 403 | 422 | 429 | 431 | 500 | 503
  }
  /** Read what is known of a document */
  readonly getDocument: {
    readonly method: "GET"
    readonly path: "/api/v1/knowledge-base/documents/{document_uuid}"
    readonly params: { readonly document_uuid: string }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: Document
    readonly errors: 401 | 403 | 404 | 422 | 429 | 431 | 500 | 503
  }
  /** Delete a document and its file */
  readonly deleteDocument: {
    readonly method: "DELETE"
    readonly path: "/api/v1/knowledge-base/documents/{document_uuid}"
    readonly params: { readonly document_uuid: string }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: ResourceDeleted
    readonly errors: 401 | 403 | 404 | 422 | 429 | 431 | 500 | 503
  }
  /** Upload the bytes of a recording or a document */
  readonly putResourceUpload: {
    readonly method: "PUT"
    readonly path: "/api/v1/resource-uploads/{token}"
    readonly params: { readonly token: string }
    readonly query: { readonly key: string }
    readonly headers: {  }
    readonly body: Blob | string
    readonly answer: Uploaded
    readonly errors: 403 | 408 | 409 | 413 | 422 | 431 | 500 | 503
  }
  /** Sign up */
  readonly signUp: {
    readonly method: "POST"
    readonly path: "/api/v1/auth/signup"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: SignUp
    readonly answer: Session
    readonly errors: 400 | 403 | 408 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** Log in */
  readonly logIn: {
    readonly method: "POST"
    readonly path: "/api/v1/auth/login"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: LogIn
    readonly answer: Session
    readonly errors: 400 | 401 | 408 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** Who asks */
  readonly getMe: {
    readonly method: "GET"
    readonly path: "/api/v1/auth/me"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: User
    readonly errors: 401 | 403 | 404 | 429 | 431 | 500 | 503
  }
  /** The id of who asks */
  readonly getAuthUser: {
    readonly method: "GET"
    readonly path: "/api/v1/user/auth/user"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: AuthUser
    readonly errors: 401 | 403 | 429 | 431 | 500 | 503
  }
  /** The organizations of who asks, first joined first */
  readonly listUserOrganizations: {
    readonly method: "GET"
    readonly path: "/api/v1/user/organizations"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: UserOrganizations
    readonly errors: 401 | 403 | 429 | 431 | 500 | 503
  }
  /** Work for another organization from now on */
  readonly selectOrganization: {
    readonly method: "PUT"
    readonly path: "/api/v1/user/organization"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: SelectOrganization
    readonly answer: UserOrganizations
    readonly errors: 400 | 401 | 403 | 404 | 408 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** How far who asks has got with the user interface */
  readonly getOnboardingState: {
    readonly method: "GET"
    readonly path: "/api/v1/user/onboarding-state"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: Onboarding
    readonly errors: 401 | 403 | 404 | 429 | 431 | 500 | 503
  }
  /** Get further with the user interface */
  readonly setOnboardingState: {
    readonly method: "PUT"
    readonly path: "/api/v1/user/onboarding-state"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: SetOnboarding
    readonly answer: Onboarding
    readonly errors: 400 | 401 | 403 | 404 | 408 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** List where who asks is logged in, newest first */
  readonly listSessions: {
    readonly method: "GET"
    readonly path: "/api/v1/user/sessions"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: SessionList
    readonly errors: 401 | 403 | 429 | 431 | 500 | 503
  }
  /** End a log-in of who asks */
  readonly endSession: {
    readonly method: "DELETE"
    readonly path: "/api/v1/user/sessions/{session_id}"
    readonly params: { readonly session_id: string }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: Changed
    readonly errors: 401 | 403 | 404 | 422 | 429 | 431 | 500 | 503
  }
  /** Log out */
  readonly logOut: {
    readonly method: "POST"
    readonly path: "/api/v1/auth/logout"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: Changed
    readonly errors: 401 | 403 | 404 | 429 | 431 | 500 | 503
  }
  /** End all log-ins of who asks, this one too */
  readonly logOutEverywhere: {
    readonly method: "POST"
    readonly path: "/api/v1/auth/logout-everywhere"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: Changed
    readonly errors: 401 | 403 | 429 | 431 | 500 | 503
  }
  /** Change the password of who asks */
  readonly changePassword: {
    readonly method: "PUT"
    readonly path: "/api/v1/user/password"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: ChangePassword
    readonly answer: Changed
    readonly errors: 400 | 401 | 403 | 404 | 408 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** List API keys, oldest first */
  readonly listApiKeys: {
    readonly method: "GET"
    readonly path: "/api/v1/user/api-keys"
    readonly params: {  }
    readonly query: { readonly include_archived?: boolean }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: ReadonlyArray<ApiKey>
    readonly errors: 401 | 403 | 422 | 429 | 431 | 500 | 503
  }
  /** Make an API key */
  readonly createApiKey: {
    readonly method: "POST"
    readonly path: "/api/v1/user/api-keys"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: CreateApiKey
    readonly answer: NewApiKey
    readonly errors: 400 | 401 | 403 | 408 | 409 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** Archive an API key: it is refused from now on */
  readonly archiveApiKey: {
    readonly method: "DELETE"
    readonly path: "/api/v1/user/api-keys/{api_key_id}"
    readonly params: { readonly api_key_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: Changed
    readonly errors: 401 | 403 | 404 | 422 | 429 | 431 | 500 | 503
  }
  /** Accept an archived API key again */
  readonly reactivateApiKey: {
    readonly method: "PUT"
    readonly path: "/api/v1/user/api-keys/{api_key_id}/reactivate"
    readonly params: { readonly api_key_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: Changed
    readonly errors: 401 | 403 | 404 | 409 | 422 | 429 | 431 | 500 | 503
  }
  /** List members, first joined first */
  readonly listMembers: {
    readonly method: "GET"
    readonly path: "/api/v1/organizations/members"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: MemberList
    readonly errors: 401 | 403 | 429 | 431 | 500 | 503
  }
  /** Give a member another role */
  readonly changeMember: {
    readonly method: "PATCH"
    readonly path: "/api/v1/organizations/members/{user_id}"
    readonly params: { readonly user_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: ChangeMember
    readonly answer: Member
    readonly errors: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** Remove a member, whose API keys are refused from now on */
  readonly removeMember: {
    readonly method: "DELETE"
    readonly path: "/api/v1/organizations/members/{user_id}"
    readonly params: { readonly user_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: Changed
    readonly errors: 401 | 403 | 404 | 409 | 422 | 429 | 431 | 500 | 503
  }
  /** For which organization who asks works */
  readonly getOrganizationContext: {
    readonly method: "GET"
    readonly path: "/api/v1/organizations/context"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: OrganizationContext
    readonly errors: 401 | 403 | 429 | 431 | 500 | 503
  }
  /** Read the organization's preferences */
  readonly getOrganizationPreferences: {
    readonly method: "GET"
    readonly path: "/api/v1/organizations/preferences"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: OrganizationPreferences
    readonly errors: 401 | 403 | 429 | 431 | 500 | 503
  }
  /** Replace the organization's preferences */
  readonly setOrganizationPreferences: {
    readonly method: "PUT"
    readonly path: "/api/v1/organizations/preferences"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: OrganizationPreferencesInput
    readonly answer: OrganizationPreferences
    readonly errors: 400 | 401 | 403 | 408 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** How many calls the organization may have up, and how long it keeps what they leave behind */
  readonly getOrganizationSettings: {
    readonly method: "GET"
    readonly path: "/api/v1/organizations/settings"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: OrganizationSettings
    readonly errors: 401 | 403 | 429 | 431 | 500 | 503
  }
  /** Set how many calls the organization may have up, and how long it keeps what they leave behind */
  readonly setOrganizationSettings: {
    readonly method: "PUT"
    readonly path: "/api/v1/organizations/settings"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: SetOrganizationSettings
    readonly answer: OrganizationSettings
    readonly errors: 400 | 401 | 403 | 408 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** What the organization may use, and what it does */
  readonly getQuotas: {
    readonly method: "GET"
    readonly path: "/api/v1/organizations/quotas"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: Quotas
    readonly errors: 401 | 403 | 429 | 431 | 500 | 503
  }
  /** Lower what the organization may use */
  readonly setQuotas: {
    readonly method: "PUT"
    readonly path: "/api/v1/organizations/quotas"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: SetOwnQuotas
    readonly answer: Quotas
    readonly errors: 400 | 401 | 403 | 408 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** List invitations, newest first */
  readonly listInvitations: {
    readonly method: "GET"
    readonly path: "/api/v1/organizations/invitations"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: InvitationList
    readonly errors: 401 | 403 | 429 | 431 | 500 | 503
  }
  /** Invite somebody */
  readonly createInvitation: {
    readonly method: "POST"
    readonly path: "/api/v1/organizations/invitations"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: CreateInvitation
    readonly answer: NewInvitation
    readonly errors: 400 | 401 | 403 | 408 | 409 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** Revoke an invitation */
  readonly revokeInvitation: {
    readonly method: "DELETE"
    readonly path: "/api/v1/organizations/invitations/{invitation_id}"
    readonly params: { readonly invitation_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: Changed
    readonly errors: 401 | 403 | 404 | 422 | 429 | 431 | 500 | 503
  }
  /** Join the organization that has invited who asks, and work for it from now on */
  readonly redeemInvitation: {
    readonly method: "POST"
    readonly path: "/api/v1/user/invitations/redeem"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: RedeemInvitation
    readonly answer: UserOrganizations
    readonly errors: 400 | 401 | 403 | 404 | 408 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** Which speech and language services there are, and what an agent's settings are by default */
  readonly getUserConfigurationDefaults: {
    readonly method: "GET"
    readonly path: "/api/v1/user/configurations/defaults"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: UserConfigurationDefaults
    readonly errors: 431 | 500 | 503
  }
  /** Read what the organization has set up */
  readonly getUserConfiguration: {
    readonly method: "GET"
    readonly path: "/api/v1/user/configurations/user"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: UserConfiguration
    readonly errors: 401 | 403 | 429 | 431 | 500 | 503
  }
  /** Change what the organization has set up */
  readonly setUserConfiguration: {
    readonly method: "PUT"
    readonly path: "/api/v1/user/configurations/user"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: SetUserConfiguration
    readonly answer: UserConfiguration
    readonly errors: 400 | 401 | 403 | 408 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** Whether this engine has what the organization has set up */
  readonly validateUserConfiguration: {
    readonly method: "GET"
    readonly path: "/api/v1/user/configurations/user/validate"
    readonly params: {  }
    readonly query: { /** Changes nothing: each request is checked. */ readonly validity_ttl_seconds?: number }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: ModelStatus
    readonly errors: 401 | 403 | 422 | 429 | 431 | 500 | 503
  }
  /** Read what the organization has set up, as one document */
  readonly getModelConfiguration: {
    readonly method: "GET"
    readonly path: "/api/v1/organizations/model-configurations/v2"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: ModelConfiguration
    readonly errors: 401 | 403 | 429 | 431 | 500 | 503
  }
  /** Replace what the organization has set up */
  readonly setModelConfiguration: {
    readonly method: "PUT"
    readonly path: "/api/v1/organizations/model-configurations/v2"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: SetModelConfiguration
    readonly answer: ModelConfiguration
    readonly errors: 400 | 401 | 403 | 408 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** Which speech and language services there are to choose from */
  readonly getModelConfigurationDefaults: {
    readonly method: "GET"
    readonly path: "/api/v1/organizations/model-configurations/v2/defaults"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: ModelConfigurationDefaults
    readonly errors: 401 | 403 | 429 | 431 | 500 | 503
  }
  /** What calls cost by what is set up */
  readonly getModelPricing: {
    readonly method: "GET"
    readonly path: "/api/v1/organizations/model-configurations/v2/pricing"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: ModelPricing
    readonly errors: 401 | 403 | 429 | 431 | 500 | 503
  }
  /** Who changed what, newest first */
  readonly listAuditLog: {
    readonly method: "GET"
    readonly path: "/api/v1/organizations/audit-log"
    readonly params: {  }
    readonly query: { /** Only entries older than this one: `next_before` of the page before. */ readonly before?: number; readonly limit?: number }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: AuditLog
    readonly errors: 401 | 403 | 422 | 429 | 431 | 500 | 503
  }
  /** List what happened to campaigns and runs, oldest first */
  readonly listEvents: {
    readonly method: "GET"
    readonly path: "/api/v1/events"
    readonly params: {  }
    readonly query: { /** The id of the last event that is known already, or `next_after_id` of the page before. */ readonly after_id?: number; readonly limit?: number; /** Only these, with commas between. */ readonly types?: string }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: EventPage
    readonly errors: 401 | 403 | 422 | 429 | 431 | 500 | 503
  }
  /** Follow events as they happen (server-sent events) */
  readonly followEvents: {
    readonly method: "GET"
    readonly path: "/api/v1/events/stream"
    readonly params: {  }
    readonly query: { /** Begin with what happened after this event. Without it: with what happens from now on. */ readonly last_event_id?: number; /** Only these, with commas between. */ readonly types?: string }
    readonly headers: { /** Begin with what happened after this event. Without it: with what happens from now on. */ readonly "Last-Event-ID"?: number }
    readonly body: undefined
    readonly answer: string
    readonly errors: 401 | 403 | 416 | 422 | 429 | 431 | 500 | 503
  }
  /** Follow events as they happen (websocket) */
  readonly followEventsBySocket: {
    readonly method: "GET"
    readonly path: "/api/v1/events/ws"
    readonly params: {  }
    readonly query: { /** Begin with what happened after this event. Without it: with what happens from now on. */ readonly last_event_id?: number; /** Only these, with commas between. */ readonly types?: string; /** For clients that cannot send headers. */ readonly api_key?: string }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: Event
    readonly errors: 401 | 403 | 422 | 426 | 429 | 431 | 500 | 503
  }
  /** Have events sent to an address */
  readonly createWebhookEndpoint: {
    readonly method: "POST"
    readonly path: "/api/v1/organizations/webhook-endpoints"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: CreateWebhookEndpoint
    readonly answer: WebhookEndpointWithSecret
    readonly errors: 400 | 401 | 403 | 408 | 409 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** List webhook endpoints, oldest first */
  readonly listWebhookEndpoints: {
    readonly method: "GET"
    readonly path: "/api/v1/organizations/webhook-endpoints"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: WebhookEndpointList
    readonly errors: 401 | 403 | 429 | 431 | 500 | 503
  }
  /** Read a webhook endpoint */
  readonly getWebhookEndpoint: {
    readonly method: "GET"
    readonly path: "/api/v1/organizations/webhook-endpoints/{endpoint_id}"
    readonly params: { readonly endpoint_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: WebhookEndpoint
    readonly errors: 401 | 403 | 404 | 422 | 429 | 431 | 500 | 503
  }
  /** Change a webhook endpoint */
  readonly updateWebhookEndpoint: {
    readonly method: "PATCH"
    readonly path: "/api/v1/organizations/webhook-endpoints/{endpoint_id}"
    readonly params: { readonly endpoint_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: UpdateWebhookEndpoint
    readonly answer: WebhookEndpoint
    readonly errors: 400 | 401 | 403 | 404 | 408 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** Delete a webhook endpoint with its deliveries */
  readonly deleteWebhookEndpoint: {
    readonly method: "DELETE"
    readonly path: "/api/v1/organizations/webhook-endpoints/{endpoint_id}"
    readonly params: { readonly endpoint_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: WebhookEndpointDeleted
    readonly errors: 401 | 403 | 404 | 422 | 429 | 431 | 500 | 503
  }
  /** Make a new secret */
  readonly rotateWebhookSecret: {
    readonly method: "POST"
    readonly path: "/api/v1/organizations/webhook-endpoints/{endpoint_id}/rotate-secret"
    readonly params: { readonly endpoint_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: WebhookEndpointWithSecret
    readonly errors: 401 | 403 | 404 | 422 | 429 | 431 | 500 | 503
  }
  /** Send a `webhook.test` event to an endpoint */
  readonly testWebhookEndpoint: {
    readonly method: "POST"
    readonly path: "/api/v1/organizations/webhook-endpoints/{endpoint_id}/test"
    readonly params: { readonly endpoint_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: QueuedDeliveries
    readonly errors: 401 | 403 | 404 | 409 | 422 | 429 | 431 | 500 | 503
  }
  /** List what became of an endpoint's events, newest first */
  readonly listWebhookDeliveries: {
    readonly method: "GET"
    readonly path: "/api/v1/organizations/webhook-endpoints/{endpoint_id}/deliveries"
    readonly params: { readonly endpoint_id: number }
    readonly query: { readonly state?: "pending" | "delivered" | "dead"; /** Only deliveries older than this one. */ readonly before_id?: number; readonly limit?: number }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: WebhookDeliveryList
    readonly errors: 401 | 403 | 404 | 422 | 429 | 431 | 500 | 503
  }
  /** Send a dead delivery anew */
  readonly replayWebhookDelivery: {
    readonly method: "POST"
    readonly path: "/api/v1/organizations/webhook-endpoints/{endpoint_id}/deliveries/{delivery_id}/replay"
    readonly params: { readonly endpoint_id: number; readonly delivery_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: QueuedDeliveries
    readonly errors: 401 | 403 | 404 | 409 | 422 | 429 | 431 | 500 | 503
  }
  /** Send all dead deliveries anew */
  readonly replayDeadWebhookDeliveries: {
    readonly method: "POST"
    readonly path: "/api/v1/organizations/webhook-endpoints/{endpoint_id}/replay"
    readonly params: { readonly endpoint_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: QueuedDeliveries
    readonly errors: 401 | 403 | 404 | 422 | 429 | 431 | 500 | 503
  }
  /** List all organizations, with what they may use and what they do */
  readonly listOrganizationQuotas: {
    readonly method: "GET"
    readonly path: "/api/v1/operator/organizations"
    readonly params: {  }
    readonly query: { readonly limit?: number; /** The last organization of the page before. */ readonly after?: number }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: OrganizationList
    readonly errors: 401 | 403 | 422 | 429 | 431 | 500 | 503
  }
  /** Read what an organization may use, and what it does */
  readonly getOrganizationQuotas: {
    readonly method: "GET"
    readonly path: "/api/v1/operator/organizations/{organization_id}/quotas"
    readonly params: { readonly organization_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: OrganizationQuotas
    readonly errors: 401 | 403 | 404 | 422 | 429 | 431 | 500 | 503
  }
  /** Set what an organization may use */
  readonly setOrganizationQuotas: {
    readonly method: "PUT"
    readonly path: "/api/v1/operator/organizations/{organization_id}/quotas"
    readonly params: { readonly organization_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: SetQuotas
    readonly answer: OrganizationQuotas
    readonly errors: 400 | 401 | 403 | 404 | 408 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** List the operator's keys, revoked ones too, oldest first */
  readonly listOperatorKeys: {
    readonly method: "GET"
    readonly path: "/api/v1/operator/keys"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: ReadonlyArray<ApiKey>
    readonly errors: 401 | 403 | 429 | 431 | 500 | 503
  }
  /** Make another operator's key */
  readonly createOperatorKey: {
    readonly method: "POST"
    readonly path: "/api/v1/operator/keys"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: NewOperatorKey
    readonly answer: NewApiKey
    readonly errors: 400 | 401 | 403 | 408 | 409 | 413 | 422 | 429 | 431 | 500 | 503
  }
  /** Revoke an operator's key: it is refused from now on */
  readonly revokeOperatorKey: {
    readonly method: "DELETE"
    readonly path: "/api/v1/operator/keys/{api_key_id}"
    readonly params: { readonly api_key_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: Changed
    readonly errors: 401 | 403 | 404 | 409 | 422 | 429 | 431 | 500 | 503
  }
  /** No credits: nothing is charged for here */
  readonly getBillingCredits: {
    readonly method: "GET"
    readonly path: "/api/v1/organizations/billing/credits"
    readonly params: {  }
    readonly query: { readonly page?: number; readonly limit?: number }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: BillingCredits
    readonly errors: 401 | 403 | 422 | 429 | 431 | 500 | 503
  }
  /** No keys of a managed service: there is none */
  readonly listServiceKeys: {
    readonly method: "GET"
    readonly path: "/api/v1/user/service-keys"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: ReadonlyArray<unknown>
    readonly errors: 401 | 403 | 429 | 431 | 500 | 503
  }
  /** No tracing service: none can be set up */
  readonly getLangfuseCredentials: {
    readonly method: "GET"
    readonly path: "/api/v1/organizations/langfuse-credentials"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: LangfuseCredentials
    readonly errors: 401 | 403 | 429 | 431 | 500 | 503
  }
  /** No token of a widget: conversations are by telephone */
  readonly getEmbedToken: {
    readonly method: "GET"
    readonly path: "/api/v1/workflow/{workflow_id}/embed-token"
    readonly params: { readonly workflow_id: number }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: null
    readonly errors: 401 | 403 | 404 | 422 | 429 | 431 | 500 | 503
  }
  /** List the voices of a speech service */
  readonly listVoices: {
    readonly method: "GET"
    readonly path: "/api/v1/user/configurations/voices/{provider}"
    readonly params: { readonly provider: string }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: Voices
    readonly errors: 401 | 403 | 422 | 429 | 431 | 500 | 503
  }
  /** What answers here */
  readonly getHealth: {
    readonly method: "GET"
    readonly path: "/api/v1/health"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: Health
    readonly errors: 431 | 500 | 503
  }
  /** Whether it can do its work */
  readonly getReadiness: {
    readonly method: "GET"
    readonly path: "/api/v1/health/ready"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: Ready
    readonly errors: 431 | 500 | 503
  }
  /** Metrics of this node for Prometheus */
  readonly getMetrics: {
    readonly method: "GET"
    readonly path: "/metrics"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: string
    readonly errors: 404 | 416 | 431 | 500 | 503
  }
  /** This document */
  readonly getOpenApi: {
    readonly method: "GET"
    readonly path: "/api/v1/openapi.json"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: unknown
    readonly errors: 416 | 431 | 500 | 503
  }
  /** This document as a page */
  readonly getDocs: {
    readonly method: "GET"
    readonly path: "/docs"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: string
    readonly errors: 404 | 416 | 431 | 500 | 503
  }
  /** What that page is made of */
  readonly getDocsFile: {
    readonly method: "GET"
    readonly path: "/docs/{file}"
    readonly params: { readonly file: string }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: string
    readonly errors: 404 | 416 | 422 | 431 | 500 | 503
  }
  /** Where to begin */
  readonly getRoot: {
    readonly method: "GET"
    readonly path: "/"
    readonly params: {  }
    readonly query: {  }
    readonly headers: { readonly Accept?: string }
    readonly body: undefined
    readonly answer: Root
    readonly errors: 422 | 431 | 500 | 503
  }
  /** This document in a line for each operation */
  readonly getLlmsText: {
    readonly method: "GET"
    readonly path: "/llms.txt"
    readonly params: {  }
    readonly query: {  }
    readonly headers: {  }
    readonly body: undefined
    readonly answer: string
    readonly errors: 416 | 431 | 500 | 503
  }
}
