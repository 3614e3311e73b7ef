import { edge, extracted, graph, node } from "./parts.ts"

export const satisfactionSurvey = {
  id: 3,
  name: "Satisfaction survey",
  description:
    "Three questions after a service: a score, the reason for it, and one thing to do better. Contacts bring first_name, company and service.",
  createdAt: "2026-08-01T00:00:00.000Z",
  sampleContext: { first_name: "Ada", company: "Acme", service: "your repair" },
  definition: graph(
    [
      node("global", "globalNode", [-1, 0], {
        name: "Persona",
        prompt:
          "You call for {{company}}. You are friendly and neutral: you neither defend the company nor judge the answer. Speak in short sentences. " +
          "Never suggest an answer."
      }),
      node("start", "startCall", [1, 0], {
        name: "Ask for two minutes",
        greeting_type: "text",
        greeting:
          "Hello {{first_name}}, this is the assistant of {{company}} with three short questions about {{service}}. Is now a good time?",
        prompt:
          "Learn whether the callee wants to answer three questions. It takes two minutes; taking part is voluntary. If you have to ask again, " +
          'say: "Is now a good time for three short questions?"',
        allow_interrupt: true,
        add_global_prompt: true
      }),
      node("score", "agentNode", [0, 1], {
        name: "Score",
        prompt:
          'If the answer is no number, ask once for a number. Say: "On a scale from zero to ten, how likely is it that you would recommend ' +
          '{{company}} to a friend?"',
        allow_interrupt: true,
        add_global_prompt: true,
        ...extracted("The score.", { name: "score", type: "number", prompt: "From 0 to 10; leave it out if no number was said." })
      }),
      node("reason", "agentNode", [0, 2], {
        name: "Reason",
        prompt:
          "Ask what the main reason for this score is, and let the callee finish. Then ask what {{company}} should do better, one thing only. " +
          'If the callee is upset or reports a problem that is not solved, offer that somebody calls back. Say: "What is the main reason for your ' +
          'score?"',
        allow_interrupt: true,
        add_global_prompt: true,
        ...extracted(
          "What the callee said, in the callee's own words.",
          { name: "reason", type: "string", prompt: "The main reason for the score." },
          { name: "improvement", type: "string", prompt: "The one thing to do better." },
          { name: "wants_callback", type: "boolean", prompt: "Whether the callee wants to be called back." }
        )
      }),
      node("done", "endCall", [0, 3], {
        name: "Done",
        prompt:
          'Say that the answers are read, and say goodbye. If a call back was wanted, confirm it. Say: "Thank you for your answers. Goodbye."',
        add_global_prompt: true
      }),
      node("declined", "endCall", [1.25, 2], {
        name: "No time",
        prompt: 'Say: "That is no problem. Have a good day. Goodbye."',
        add_global_prompt: true
      })
    ],
    [
      edge("start", "score", "Takes part", "The callee agrees to answer."),
      edge("start", "declined", "Does not take part", "The callee has no time or does not want to answer."),
      edge("score", "reason", "Score given", "A score was given, or the callee goes on without one."),
      edge("score", "declined", "Breaks off", "The callee does not want to go on."),
      edge("reason", "done", "Answered", "Both questions were asked, or the callee has nothing more to say.")
    ]
  )
}
