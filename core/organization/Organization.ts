/** Settings that apply to a whole organization. */

export interface Preferences {
  readonly testPhoneNumber: string | null
  /** An IANA name. */
  readonly timezone: string | null
  readonly externalPbxIntegrationsEnabled: boolean
}

export interface Concurrency {
  /** How many calls may be live at once. Lowering it does not end live calls. */
  readonly limit: number
  /** How many of these slots campaigns must leave free. */
  readonly reserve: number
}
