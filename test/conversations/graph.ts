/**
 * The agent of the conversations: it arranges the delivery, collection or cancellation of an order. It asks who is on the phone, for a customer number
 * and for a choice, and collects digits, dates, times and numbers; every path has at least three nodes with several edges.
 */
import { edge, extracted, graph, node } from "#core/agent/templates/parts.ts"
import type { JsonObject } from "#core/Json.ts"

const asks = (id: string, at: readonly [number, number], name: string, line: string, more: JsonObject = {}): JsonObject =>
  node(id, "agentNode", at, { name, prompt: `Say: "${line}"`, allow_interrupt: true, add_global_prompt: false, ...more })
const ends = (id: string, at: readonly [number, number], name: string, line: string): JsonObject =>
  node(id, "endCall", at, { name, prompt: `Say: "${line}"`, add_global_prompt: false })

const greeting = "Hello, this is Acme about your order. Am I speaking with {{first_name}}?"

export const orderAgent: JsonObject = graph(
  [
    node("start", "startCall", [0, 0], {
      name: "Reach the contact",
      greeting_type: "text",
      greeting,
      prompt: 'Say: "Am I speaking with {{first_name}}?"',
      allow_interrupt: true,
      add_global_prompt: false
    }),
    asks("number", [1, 0], "Customer number", "What is your customer number?", {
      ...extracted("The number.", { name: "customer_number", type: "string", prompt: "The customer number, as digits." })
    }),
    asks("choice", [2, 0], "What is wanted", "Shall we deliver the order, will you collect it, or do you want to cancel it?"),
    asks("date", [3, 0], "Delivery date", "On which day shall we deliver?", {
      ...extracted("The day.", { name: "delivery_date", type: "string", prompt: "The day of the delivery." })
    }),
    asks("boxes", [4, 0], "Boxes", "How many empty boxes shall we take back?", {
      ...extracted("The boxes.", { name: "boxes", type: "number", prompt: "How many empty boxes are taken back." })
    }),
    asks("doorbell", [5, 0], "Doorbell", "May we ring the doorbell?"),
    asks("time", [3, 1], "Collection time", "At what time will you collect it?", {
      ...extracted("The time.", { name: "collection_time", type: "string", prompt: "The time of the collection." })
    }),
    asks("parking", [4, 1], "Parking", "Do you need a parking space?"),
    asks("again", [3, 2], "Another offer", "The order is cancelled. May we send you our next offer?"),
    ends("rings", [6, 0], "Delivered with a ring", "We will ring the doorbell. Goodbye."),
    ends("quiet", [6, 1], "Delivered quietly", "We will not ring the doorbell. Goodbye."),
    ends("parked", [5, 1], "Collected by car", "A parking space is reserved. Goodbye."),
    ends("walked", [5, 2], "Collected on foot", "Then we see you at the counter. Goodbye."),
    ends("offered", [4, 2], "Cancelled with an offer", "You will get our next offer. Goodbye."),
    ends("left", [4, 3], "Cancelled for good", "Then we wish you all the best. Goodbye."),
    ends("elsewhere", [1, 3], "Somebody else", "Sorry for the trouble. Goodbye.")
  ],
  [
    edge("start", "number", "Right person", "The contact is on the phone."),
    edge("start", "elsewhere", "Wrong person", "It is somebody else."),
    edge("number", "choice", "Number told", "The callee has told the number."),
    edge("choice", "date", "Deliver", 'The callee says "deliver".'),
    edge("choice", "time", "Collect", 'The callee says "collect".'),
    edge("choice", "again", "Cancel the order", 'The callee says "cancel".'),
    edge("date", "boxes", "Day named", "The callee has named a day."),
    edge("boxes", "doorbell", "Boxes told", "The callee has told how many."),
    edge("doorbell", "rings", "Yes", "The callee agrees."),
    edge("doorbell", "quiet", "No", "The callee says no."),
    edge("time", "parking", "Time named", "The callee has named a time."),
    edge("parking", "parked", "Yes", "The callee agrees."),
    edge("parking", "walked", "No", "The callee says no."),
    edge("again", "offered", "Yes", "The callee agrees."),
    edge("again", "left", "No", "The callee says no.")
  ]
)
