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
  /** When the template was written, in ISO 8601. */
  readonly createdAt: string
}

export const agentTemplates: ReadonlyArray<AgentTemplate> = [appointmentReminder, leadQualification, satisfactionSurvey]
