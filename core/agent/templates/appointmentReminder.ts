import { edge, extracted, graph, node } from "./parts.ts"

export const appointmentReminder = {
  id: 1,
  name: "Appointment reminder",
  description:
    "Reminds of an appointment, and has it confirmed, moved or cancelled. Contacts bring first_name, company, appointment_date and appointment_time.",
  createdAt: "2026-08-01T00:00:00.000Z",
  definition: graph(
    [
      node("global", "globalNode", [0, 1], {
        name: "Persona",
        prompt:
          "You call for {{company}}. You are warm, clear and brief: at most two short sentences at a time, one question at a time. You know " +
          "only what these instructions say. You give no medical, legal or financial advice; for anything else, say that the office calls back."
      }),
      node("start", "startCall", [1, 0], {
        name: "Remind",
        greeting_type: "text",
        greeting: "Hello, this is the assistant of {{company}}. Am I speaking with {{first_name}}?",
        prompt:
          "First make sure that you are speaking with {{first_name}}. Tell nobody else about the appointment: if it is somebody else, only ask " +
          "when {{first_name}} can be reached. Otherwise remind of the appointment on {{appointment_date}} at {{appointment_time}}, and ask " +
          "whether it still suits.",
        allow_interrupt: true,
        add_global_prompt: true,
        ...extracted("Whom the call reached.", {
          name: "reached_contact",
          type: "boolean",
          prompt: "Whether the person on the phone is {{first_name}}."
        })
      }),
      node("move", "agentNode", [1, 1], {
        name: "Find another time",
        prompt:
          "Ask which days and times of the next two weeks would suit better, and repeat what you heard. Do not promise a time: say that the " +
          "office confirms the new one.",
        allow_interrupt: true,
        add_global_prompt: true,
        ...extracted("What the callee wishes instead.", {
          name: "wished_times",
          type: "string",
          prompt: "The days and times that would suit, in the callee's words."
        })
      }),
      node("confirmed", "endCall", [2, 0], {
        name: "Confirmed",
        prompt: "Repeat date and time once, say that {{company}} looks forward to it, and say goodbye.",
        add_global_prompt: true,
        ...extracted("How the call ended.", { name: "appointment_confirmed", type: "boolean", prompt: "True: it was confirmed." })
      }),
      node("moved", "endCall", [2, 1], {
        name: "To be moved",
        prompt: "Say that the office will confirm a new time soon, thank the callee and say goodbye.",
        add_global_prompt: true
      }),
      node("cancelled", "endCall", [2, 2], {
        name: "Cancelled",
        prompt: "Say that the appointment is cancelled and that a new one can be made at any time. Say goodbye.",
        add_global_prompt: true
      }),
      node("elsewhere", "endCall", [2, 3], {
        name: "Somebody else",
        prompt: "Thank for the help and say goodbye. Say nothing about why you called.",
        add_global_prompt: true
      })
    ],
    [
      edge("start", "confirmed", "Confirmed", "The callee says that the appointment suits."),
      edge("start", "move", "Wants another time", "The callee cannot come at that time but wants an appointment."),
      edge("start", "cancelled", "Cancels", "The callee does not want the appointment any more."),
      edge("start", "elsewhere", "Wrong person", "It is somebody else, or the contact cannot come to the phone."),
      edge("move", "moved", "Times noted", "The callee has named times that suit, or has none to name."),
      edge("move", "confirmed", "Keeps it", "The callee decides to keep the appointment as it is.")
    ]
  )
}
