/** Agents to start from: finished graphs that a client copies and changes. */
import type { JsonObject } from "#core/Json.ts"
import { appointmentReminder } from "./appointmentReminder.ts"
import { leadQualification } from "./leadQualification.ts"
import { satisfactionSurvey } from "./satisfactionSurvey.ts"

export interface AgentTemplate {
  /** An id is never reused for another template. */
  readonly id: number
  readonly name: string
  readonly description: string
  readonly definition: JsonObject
  /** What its chats and test calls know in place of a contact's columns, so that its first words have no gaps. */
  readonly sampleContext: JsonObject
  /** When the template was written, in ISO 8601. */
  readonly createdAt: string
}

export const agentTemplates: ReadonlyArray<AgentTemplate> = [appointmentReminder, leadQualification, satisfactionSurvey]
