import { edge, extracted, graph, node } from "./parts.ts"

export const appointmentReminder = {
  id: 1,
  name: "Appointment reminder",
  description:
    "Reminds of an appointment, and has it confirmed, moved or cancelled. Contacts bring first_name, company, appointment_date and appointment_time.",
  createdAt: "2026-08-01T00:00:00.000Z",
  sampleContext: { first_name: "Ada", company: "Acme", appointment_date: "Monday", appointment_time: "ten o'clock" },
  definition: graph(
    [
      node("global", "globalNode", [-1, 0], {
        name: "Persona",
        prompt:
          "You call for {{company}}. You are warm, clear and brief: at most two short sentences at a time, one question at a time. You know " +
          "only what these instructions say. You give no medical, legal or financial advice; for anything else, say that the office calls back."
      }),
      node("start", "startCall", [1, 0], {
        name: "Reach the contact",
        greeting_type: "text",
        greeting: "Hello, this is the assistant of {{company}}. Am I speaking with {{first_name}}?",
        prompt:
          "First make sure that you are speaking with {{first_name}}. Tell nobody else about the appointment: if it is somebody else, only ask " +
          'when {{first_name}} can be reached. If you have to ask again, say: "Am I speaking with {{first_name}}?"',
        allow_interrupt: true,
        add_global_prompt: true,
        ...extracted("Whom the call reached.", {
          name: "reached_contact",
          type: "boolean",
          prompt: "Whether the person on the phone is {{first_name}}."
        })
      }),
      node("remind", "agentNode", [0.5, 1], {
        name: "Remind",
        prompt:
          'Remind of the appointment, and ask whether it still suits. Say: "You have an appointment on {{appointment_date}} at ' +
          '{{appointment_time}}. Does that still suit you?"',
        allow_interrupt: true,
        add_global_prompt: true
      }),
      node("move", "agentNode", [1, 2], {
        name: "Find another time",
        prompt:
          "Ask which day and time of the next two weeks would suit better, and repeat what you heard. Do not promise a time: the office " +
          'confirms the new one. Say: "Which day and time would suit you better?"',
        allow_interrupt: true,
        add_global_prompt: true,
        ...extracted("What the callee wishes instead.", {
          name: "wished_times",
          type: "string",
          prompt: "The day and time that would suit, in the callee's words."
        })
      }),
      node("confirmed", "endCall", [0, 3], {
        name: "Confirmed",
        prompt:
          'Repeat date and time once, and say goodbye. Say: "Thank you. {{company}} looks forward to seeing you on {{appointment_date}} at ' +
          '{{appointment_time}}. Goodbye."',
        add_global_prompt: true,
        ...extracted("How the call ended.", { name: "appointment_confirmed", type: "boolean", prompt: "True: it was confirmed." })
      }),
      node("moved", "endCall", [1, 3], {
        name: "To be moved",
        prompt: 'Thank the callee and say goodbye. Say: "Thank you. The office will confirm a new time soon. Goodbye."',
        add_global_prompt: true
      }),
      node("cancelled", "endCall", [2, 2], {
        name: "Cancelled",
        prompt: 'Say: "The appointment is cancelled. You can make a new one at any time. Goodbye."',
        add_global_prompt: true
      }),
      node("elsewhere", "endCall", [1.75, 1], {
        name: "Somebody else",
        prompt:
          'Thank for the help and say goodbye. Say nothing about why you called. Say: "Thank you, and sorry for the trouble. Goodbye."',
        add_global_prompt: true
      })
    ],
    [
      edge("start", "remind", "Right person", "The contact is on the phone."),
      edge("start", "elsewhere", "Wrong person", "It is somebody else, or the contact does not come to the phone."),
      edge("remind", "confirmed", "Confirmed", "The callee says that the appointment suits."),
      edge("remind", "move", "Wants another time", "The callee cannot come at that time but wants an appointment."),
      edge("remind", "cancelled", "Cancel the appointment", "The callee calls the appointment off altogether."),
      edge("move", "moved", "Times noted", "The callee has named a day or a time, or has none to name."),
      edge("move", "confirmed", "Keeps it", 'The callee would rather leave the appointment: "keep it", "leave it as it is".')
    ]
  )
}
