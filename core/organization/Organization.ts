/** What an organization has set for all that it does. */

export interface Preferences {
  readonly testPhoneNumber: string | null
  /** IANA name. */
  readonly timezone: string | null
  readonly externalPbxIntegrationsEnabled: boolean
}

export interface Concurrency {
  /** Calls that may be up at once. Calls that are up when it is lowered go on. */
  readonly limit: number
  /** Of these, so many are kept from campaigns. */
  readonly reserve: number
}
