import { edge, extracted, graph, node } from "./parts.ts"

export const leadQualification = {
  id: 2,
  name: "Lead qualification",
  description:
    "Calls somebody who asked for information, learns need, time frame and budget, and arranges that a person calls back. Contacts bring first_name, company and product.",
  createdAt: "2026-08-01T00:00:00.000Z",
  sampleContext: { first_name: "Ada", company: "Acme", product: "our alarm system" },
  definition: graph(
    [
      node("global", "globalNode", [-1, 0], {
        name: "Persona",
        prompt:
          "You call for {{company}} about {{product}}. You are curious and relaxed, never pushy. Speak in short sentences and ask one question at " +
          "a time. If you are asked whether you are a machine, say yes. Name no prices and make no promises: a colleague does that."
      }),
      node("start", "startCall", [2, 0], {
        name: "Open",
        greeting_type: "text",
        greeting: "Hi {{first_name}}, this is the assistant of {{company}}. You had asked us about {{product}}. Do you have two minutes?",
        prompt:
          "Find out whether it is a good time. If not, ask when it would be better. If the callee never asked for anything, apologize and do " +
          'not go on. If you have to ask again, say: "Do you have two minutes?"',
        allow_interrupt: true,
        add_global_prompt: true
      }),
      node("need", "agentNode", [1, 1], {
        name: "Learn the need",
        prompt:
          "Learn, in a conversation and not as a questionnaire: what {{product}} is to be used for, how it is done today, by when it is needed, " +
          'and whether there is a budget. Two questions back at most; then go on. Say: "What would you use {{product}} for, and by when do you need it?"',
        allow_interrupt: true,
        add_global_prompt: true,
        ...extracted(
          "What the callee said about the need. Leave out what was not said.",
          { name: "use_case", type: "string", prompt: "What it is to be used for." },
          { name: "time_frame", type: "string", prompt: "By when it is needed." },
          { name: "has_budget", type: "boolean", prompt: "Whether there is a budget for it." },
          { name: "team_size", type: "number", prompt: "How many people would use it." }
        )
      }),
      node("arrange", "agentNode", [0, 2], {
        name: "Arrange a call",
        prompt:
          "Offer that a colleague who knows {{product}} well calls back. Ask for a day and a time of day, and repeat them. It is now " +
          '{{current_time}}. Say: "On which day and at what time may a colleague call you?"',
        allow_interrupt: true,
        add_global_prompt: true,
        ...extracted("When to call back.", { name: "callback_time", type: "string", prompt: "The day and time that were agreed on." })
      }),
      node("agreed", "endCall", [0, 3], {
        name: "Call arranged",
        prompt: 'Repeat when the colleague will call. Say: "Thank you for your time. A colleague will call you then. Goodbye."',
        add_global_prompt: true
      }),
      node("later", "endCall", [3, 1], {
        name: "Another time",
        prompt: 'Say: "All right, I will try again another time. Goodbye."',
        add_global_prompt: true,
        ...extracted("When to try again.", { name: "better_time", type: "string", prompt: "When it would be better, if it was said." })
      }),
      node("declined", "endCall", [2.2, 3], {
        name: "Not interested",
        prompt: 'Accept it at once, and do not try to persuade. Say: "I understand. Thank you for your time. Goodbye."',
        add_global_prompt: true
      })
    ],
    [
      edge("start", "need", "Has time", "The callee agrees to talk now."),
      edge("start", "later", "No time", "The callee has no time now but may be called again."),
      edge("start", "declined", "Not interested", "The callee is not interested, or asks not to be called."),
      edge("need", "arrange", "Need is clear", "Need and time frame are known, and the product may fit."),
      edge("need", "declined", "Does not fit", "The callee has no need for it, or does not want to go on."),
      edge("arrange", "agreed", "Time named", "A day or a time was named."),
      edge("arrange", "declined", "No call wanted", "The callee declines.")
    ]
  )
}
