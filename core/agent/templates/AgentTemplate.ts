/** Agents to begin with: finished graphs that a client copies and changes. */
import type { JsonObject } from "#core/Json.ts"
import { appointmentReminder } from "./appointmentReminder.ts"
import { leadQualification } from "./leadQualification.ts"
import { satisfactionSurvey } from "./satisfactionSurvey.ts"

export interface AgentTemplate {
  /** Never given to another template. */
  readonly id: number
  readonly name: string
  readonly description: string
  readonly definition: JsonObject
  /** When it was written, ISO 8601. */
  readonly createdAt: string
}

export const agentTemplates: ReadonlyArray<AgentTemplate> = [appointmentReminder, leadQualification, satisfactionSurvey]
