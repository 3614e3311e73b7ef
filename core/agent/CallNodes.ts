/** The nodes that a conversation passes through, and the global node, whose prompt precedes theirs. */
import { flag, isolated, nameOf, type NodeType, type Property, property } from "./NodeType.ts"

const prompt = (description: string): Property =>
  property("mention_textarea", "prompt", {
    displayName: "Prompt",
    description,
    required: true,
    editor: "textarea",
    placeholder: "Say who you are and ask whether it is a good time to talk."
  })

const interruptible = (isOn: boolean): Property =>
  flag("allow_interrupt", isOn, { displayName: "Allow Interruption", description: "Whether the callee may interrupt the agent." })

const withGlobalPrompt = (isOn: boolean): Property =>
  flag("add_global_prompt", isOn, {
    displayName: "Add Global Prompt",
    description: "Whether the prompt of the Global Node, if there is one, precedes this node's own."
  })

const extraction: ReadonlyArray<Property> = [
  flag("extraction_enabled", false, {
    displayName: "Extract Variables",
    description: "Whether variables are extracted from what was said in this node."
  }),
  property("string", "extraction_prompt", {
    displayName: "Extraction Prompt",
    description: "Instructions for extracting the variables.",
    editor: "textarea",
    shownWhen: { extraction_enabled: [true] }
  }),
  property("fixed_collection", "extraction_variables", {
    displayName: "Variables",
    description: "The variables to extract: name, type and what to look for.",
    shownWhen: { extraction_enabled: [true] },
    properties: [
      property("string", "name", {
        displayName: "Name",
        description: "The variable's name in the run's gathered context.",
        required: true,
        placeholder: "callback_time"
      }),
      property("options", "type", {
        displayName: "Type",
        description: "The type of the value.",
        required: true,
        default: "string",
        options: [
          { value: "string", label: "Text" },
          { value: "number", label: "Number" },
          { value: "boolean", label: "Yes or no" }
        ]
      }),
      property("string", "prompt", { displayName: "Prompt", description: "What to look for.", editor: "textarea" })
    ]
  })
]

const references: ReadonlyArray<Property> = [
  property("tool_refs", "tool_uuids", {
    displayName: "Tools",
    description: "The tools that the agent may use in this node.",
    hint: "A list of tool UUIDs, as the list of tools shows them."
  }),
  property("document_refs", "document_uuids", {
    displayName: "Documents",
    description: "The documents that the agent may look things up in.",
    hint: "A list of document UUIDs, as the list of documents shows them."
  })
]

const greeting: ReadonlyArray<Property> = [
  property("options", "greeting_type", {
    displayName: "Greeting Type",
    description: "Whether the greeting is spoken from text or played from a recording.",
    default: "text",
    options: [
      { value: "text", label: "Text" },
      { value: "audio", label: "Recording" }
    ]
  }),
  property("string", "greeting", {
    displayName: "Greeting",
    description: "What the agent says first, with {{variables}}. Without it the agent begins from its prompt.",
    editor: "textarea",
    placeholder: "Hello {{first_name}}, this is Ada from Acme.",
    shownWhen: { greeting_type: ["text"] }
  }),
  property("recording_ref", "greeting_recording_id", {
    displayName: "Greeting Recording",
    description: "The recording that is played first.",
    hint: "A recording_id, as the list of recordings shows it.",
    shownWhen: { greeting_type: ["audio"] }
  })
]

const delay: ReadonlyArray<Property> = [
  flag("delayed_start", false, {
    displayName: "Delayed Start",
    description: "Whether the agent waits after the callee has answered."
  }),
  property("number", "delayed_start_duration", {
    displayName: "Delay",
    description: "How many seconds the agent waits before it speaks.",
    default: 2,
    min: 0.1,
    max: 10,
    shownWhen: { delayed_start: [true] }
  })
]

const fetchedWhen = { pre_call_fetch_mode: ["always", "inbound", "outbound"] }
const preCallFetch: ReadonlyArray<Property> = [
  property("options", "pre_call_fetch_mode", {
    displayName: "Fetch Before the Call",
    description: "For which calls variables are fetched from a URL of yours before the conversation begins.",
    default: "disabled",
    options: [
      { value: "disabled", label: "No calls" },
      { value: "always", label: "All calls" },
      { value: "inbound", label: "Inbound calls" },
      { value: "outbound", label: "Outbound calls" }
    ]
  }),
  property("url", "pre_call_fetch_url", {
    displayName: "Address",
    description: "The URL that they are fetched from.",
    placeholder: "https://crm.example.com/contacts",
    shownWhen: fetchedWhen
  }),
  property("credential_ref", "pre_call_fetch_credential_uuid", {
    displayName: "Credential",
    description: "The credential that the request carries.",
    hint: "A credential's UUID, as the list of credentials shows it.",
    shownWhen: fetchedWhen
  })
]

const startCall: NodeType = {
  name: "startCall",
  displayName: "Start Call",
  description: "Where each conversation begins: the greeting and the first exchange.",
  hint: "Each agent has exactly one. No edge leads to it.",
  category: "call_node",
  icon: "Play",
  promptedAs: "start",
  properties: [
    nameOf("Start Call", "The node's name in the editor and in the log of a call."),
    ...greeting,
    prompt("What the agent does first, with {{variables}}."),
    interruptible(false),
    withGlobalPrompt(true),
    ...delay,
    ...extraction,
    ...references,
    ...preCallFetch
  ],
  examples: [
    {
      name: "Appointment reminder",
      description: "Greets by name and asks one question.",
      data: {
        name: "Start Call",
        greeting_type: "text",
        greeting: "Hello {{first_name | there}}, this is Ada from the clinic.",
        prompt: "Remind the callee of the appointment on {{appointment_date}} and ask whether it still suits."
      }
    }
  ],
  limits: { maxIncoming: 0, minInstances: 1, maxInstances: 1 }
}

const agentNode: NodeType = {
  name: "agentNode",
  displayName: "Agent Node",
  description: "One step of the conversation, with its own prompt, tools and documents.",
  hint: "The edges that leave it decide when the conversation moves on, and where.",
  category: "call_node",
  icon: "Headset",
  promptedAs: "agent",
  properties: [
    nameOf("Agent", "The step's name in the editor and in the log of a call."),
    prompt("What the agent does in this step, with {{variables}}."),
    interruptible(true),
    withGlobalPrompt(true),
    ...extraction,
    ...references
  ],
  examples: [
    {
      name: "Find another date",
      data: {
        name: "Find another date",
        prompt: "Offer a date in the next two weeks and repeat the one that the callee chooses.",
        allow_interrupt: true,
        extraction_enabled: true,
        extraction_variables: [{ name: "new_date", type: "string", prompt: "The date that was agreed on." }]
      }
    }
  ],
  limits: { minIncoming: 1 }
}

const endCall: NodeType = {
  name: "endCall",
  displayName: "End Call",
  description: "Says goodbye and hangs up.",
  hint: "An agent may have several, one for each way to end.",
  category: "call_node",
  icon: "OctagonX",
  promptedAs: "end",
  properties: [
    nameOf("End Call", "The ending's name in the editor and in the log of a call."),
    prompt("How the agent says goodbye, with {{variables}}."),
    withGlobalPrompt(false),
    ...extraction
  ],
  examples: [{ name: "Thanks", data: { name: "Thanks", prompt: "Thank the callee in one sentence and say goodbye." } }],
  limits: { minIncoming: 1, maxOutgoing: 0 }
}

const persona =
  "You are a friendly assistant on the phone. Speak in short sentences, one thought at a time, and ask one question at a time. " +
  "Say numbers and dates the way people say them. If you do not know something, say so; never make anything up."

const globalNode: NodeType = {
  name: "globalNode",
  displayName: "Global Node",
  description: "Who the agent is and how it speaks, for all nodes that add the global prompt.",
  hint: "At most one, not joined to other nodes.",
  category: "global_node",
  icon: "Globe",
  promptedAs: "global",
  properties: [
    nameOf("Global Node", "The node's name in the editor."),
    { ...prompt("The text that precedes the prompts of the other nodes, with {{variables}}."), default: persona }
  ],
  examples: [{ name: "Persona", data: { name: "Global Node", prompt: persona } }],
  limits: { ...isolated, maxInstances: 1 }
}

export const callNodes: ReadonlyArray<NodeType> = [startCall, agentNode, endCall, globalNode]
