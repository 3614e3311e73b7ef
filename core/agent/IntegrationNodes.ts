/** The nodes that connect an agent to other systems: the one that starts calls, and those that run after a call. */
import { flag, isolated, nameOf, type NodeType, type Property, property } from "./NodeType.ts"

/** The form of a trigger's path, here and in the URL. */
export const triggerPathPattern = "^[A-Za-z0-9_-]+$"
export const longestTriggerPath = 36

const trigger: NodeType = {
  name: "trigger",
  displayName: "API Trigger",
  description: "A URL of its own through which calls of this agent are requested.",
  hint:
    "POST /api/v1/public/agent/{trigger_path} calls with the published version, /api/v1/public/agent/test/{trigger_path} with the draft. " +
    "Both take an API key in X-API-Key and a body with phone_number and, if wanted, initial_context and telephony_configuration_id.",
  category: "trigger",
  icon: "Webhook",
  properties: [
    nameOf("API Trigger", "The node's name in the editor."),
    flag("enabled", true, { displayName: "Enabled", description: "Whether calls can be requested at this URL." }),
    property("string", "trigger_path", {
      displayName: "Path",
      description: "The last part of the URL. If left empty, it becomes a UUID.",
      maxLength: longestTriggerPath,
      pattern: triggerPathPattern,
      placeholder: "spring-reminder"
    })
  ],
  examples: [{ name: "Own path", data: { name: "API Trigger", enabled: true, trigger_path: "spring-reminder" } }],
  limits: { maxIncoming: 0, maxInstances: 1 }
}

const webhook: NodeType = {
  name: "webhook",
  displayName: "Webhook",
  description: "A request to a URL of yours after the call.",
  hint: "Not joined to other nodes; an agent may have several, of which the first hundred are sent.",
  category: "integration",
  icon: "Link2",
  properties: [
    nameOf("Webhook", "The node's name in the editor."),
    flag("enabled", true, { displayName: "Enabled", description: "Whether the request is sent." }),
    property("options", "http_method", {
      displayName: "Method",
      description: "The request's method.",
      default: "POST",
      options: ["GET", "POST", "PUT", "PATCH", "DELETE"].map((value) => ({ value, label: value }))
    }),
    property("url", "endpoint_url", {
      displayName: "Address",
      description: "Where the request goes.",
      placeholder: "https://crm.example.com/calls"
    }),
    property("credential_ref", "credential_uuid", {
      displayName: "Credential",
      description: "The credential that the request carries.",
      hint: "A credential's UUID, as the list of credentials shows it."
    }),
    property("fixed_collection", "custom_headers", {
      displayName: "Headers",
      description: "Additional headers of the request. A header with a name like a secret's is not sent: use a credential instead.",
      properties: [
        property("string", "key", { displayName: "Name", description: "The header's name.", required: true, placeholder: "X-Source" }),
        property("string", "value", { displayName: "Value", description: "The header's value, with {{variables}}.", required: true })
      ]
    }),
    property("json", "payload_template", {
      displayName: "Body",
      description: "The request's body, with {{variables}} in its texts.",
      default: {
        run_id: "{{workflow_run_id}}",
        disposition: "{{gathered_context.call_disposition}}",
        phone_number: "{{initial_context.phone_number}}"
      },
      editor: "json"
    })
  ],
  examples: [
    {
      name: "Notify the CRM",
      data: {
        name: "CRM",
        enabled: true,
        http_method: "POST",
        endpoint_url: "https://crm.example.com/calls",
        payload_template: { disposition: "{{gathered_context.call_disposition}}" }
      }
    }
  ],
  limits: isolated
}

const qaPrompt =
  "You review phone calls of a voice agent. Read the part of the transcript below and judge only what is in it. Say in two sentences how " +
  "the agent did, give a score from 1 (poor) to 10 (excellent), name the overall sentiment of the callee as positive, neutral or negative, " +
  "and list tags for what went wrong: did_not_follow_prompt, made_something_up, talked_over_callee, repeated_itself, ended_too_early. " +
  "An empty list is a good sign."

const ownModel = { qa_use_workflow_llm: [false] }
const qa: NodeType = {
  name: "qa",
  displayName: "QA Analysis",
  description: "A language model's review of the transcript after the call.",
  hint: "Not joined to other nodes; an agent may have several.",
  category: "integration",
  icon: "ClipboardCheck",
  switch: "qa_enabled",
  properties: [
    nameOf("QA Analysis", "The review's name in the editor and in the run's annotations."),
    flag("qa_enabled", true, { displayName: "Enabled", description: "Whether calls are reviewed." }),
    property("string", "qa_system_prompt", {
      displayName: "Instructions",
      description: "What the review focuses on.",
      default: qaPrompt,
      editor: "textarea"
    }),
    property("number", "qa_min_call_duration", {
      displayName: "Shortest Call",
      description: "Calls shorter than this many seconds are not reviewed.",
      default: 15,
      min: 0
    }),
    flag("qa_voicemail_calls", false, { displayName: "Voicemail", description: "Whether calls that reached a voicemail are reviewed." }),
    property("number", "qa_sample_rate", {
      displayName: "Sample",
      description: "The percentage of calls that are reviewed.",
      default: 100,
      min: 1,
      max: 100
    }),
    flag("qa_use_workflow_llm", true, {
      displayName: "The Agent's Model",
      description: "Whether the agent's own language model does the review."
    }),
    property("options", "qa_provider", {
      displayName: "Provider",
      description: "The provider whose language model does the review.",
      shownWhen: ownModel,
      options: [
        { value: "openai", label: "OpenAI" },
        { value: "azure", label: "Azure OpenAI" },
        { value: "openrouter", label: "OpenRouter" },
        { value: "anthropic", label: "Anthropic" }
      ]
    }),
    property("string", "qa_model", {
      displayName: "Model",
      description: "The model's name with its provider.",
      default: "default",
      shownWhen: ownModel
    }),
    property("string", "qa_api_key", {
      displayName: "API Key",
      description: "The key at the provider. Shown only by its last four characters.",
      shownWhen: ownModel
    }),
    property("url", "qa_endpoint", {
      displayName: "Endpoint",
      description: "The address of an Azure OpenAI resource.",
      shownWhen: { qa_use_workflow_llm: [false], qa_provider: ["azure"] }
    })
  ],
  examples: [{ name: "One call in ten", data: { name: "QA Analysis", qa_enabled: true, qa_sample_rate: 10 } }],
  limits: isolated
}

/** A third-party integration: its data is stored for the vendor's own software, and the engine does not use it. */
const vendor = (name: string, displayName: string, icon: string, properties: ReadonlyArray<Property>): NodeType => ({
  name,
  displayName,
  description: `Settings for ${displayName}. They are stored for it; the engine sends nothing to it.`,
  hint: "Not joined to other nodes; at most one.",
  category: "integration",
  icon,
  switch: `${name}_enabled`,
  properties: [
    nameOf(displayName, "The node's name in the editor."),
    flag(`${name}_enabled`, true, { displayName: "Enabled", description: "Whether the integration is used." }),
    property("string", `${name}_api_key`, {
      displayName: "API Key",
      description: `The key at ${displayName}. Shown only by its last four characters.`,
      required: true
    }),
    ...properties
  ],
  examples: [],
  limits: { ...isolated, maxInstances: 1 }
})

const required = (name: string, displayName: string, description: string): Property =>
  property("string", name, { displayName, description, required: true })
const rate = (name: string, displayName: string, unit: string, max: number): Property =>
  property("number", name, {
    displayName,
    description: `US dollars per ${unit}.`,
    min: 0,
    max,
    shownWhen: { cost_calculation_enabled: [true] }
  })

const tuner = vendor("tuner", "Tuner", "Gauge", [
  required("tuner_agent_id", "Agent ID", "The agent's id at Tuner."),
  property("number", "tuner_workspace_id", {
    displayName: "Workspace ID",
    description: "The workspace's number at Tuner.",
    required: true,
    min: 1
  }),
  flag("cost_calculation_enabled", false, { displayName: "Costs", description: "Whether the costs of a call are calculated." }),
  rate("cost_llm_input_rate", "Model Input", "million tokens", 1000),
  rate("cost_llm_cached_input_rate", "Cached Model Input", "million tokens", 1000),
  rate("cost_llm_output_rate", "Model Output", "million tokens", 1000),
  rate("cost_tts_rate", "Speech", "thousand characters", 100),
  rate("cost_stt_rate", "Recognition", "minute", 100),
  rate("cost_telephony_rate", "Telephony", "minute", 100)
])

const noveum = vendor("noveum", "Noveum", "Activity", [
  required("noveum_project", "Project", "The project's name at Noveum."),
  property("string", "noveum_environment", { displayName: "Environment", description: "The environment's name at Noveum." }),
  property("boolean", "noveum_record_audio", { displayName: "Audio", description: "Whether recordings are sent." })
])

const paygent = vendor("paygent", "Paygent", "Wallet", [
  required("paygent_agent_id", "Agent ID", "The agent's id at Paygent."),
  required("paygent_customer_id", "Customer ID", "The customer's id at Paygent."),
  property("string", "paygent_indicator", {
    displayName: "Indicator",
    description: "What is counted at Paygent.",
    default: "per-minute-call"
  })
])

export const integrationNodes: ReadonlyArray<NodeType> = [trigger, webhook, qa, tuner, noveum, paygent]
