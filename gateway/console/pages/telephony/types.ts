/** What the API tells of telephony. */
import type { Static } from "typebox"
import type { CarrierNumberList, NumbersImported } from "#gateway/wire/CarrierNumber.ts"
import type { TrunkList } from "#gateway/wire/Health.ts"
import type { PhoneNumberList } from "#gateway/wire/PhoneNumber.ts"
import type { ProviderList, TelephonyConfigList, TelephonyConfigWarnings, TelephonyConfigWire } from "#gateway/wire/Telephony.ts"
import type { TelephonyTested, TelephonyTestWire } from "#gateway/wire/TelephonyTest.ts"

export type Config = Static<typeof TelephonyConfigWire>
export type Configs = Static<typeof TelephonyConfigList>
export type Providers = Static<typeof ProviderList>
export type Provider = Providers["providers"][number]
export type Warnings = Static<typeof TelephonyConfigWarnings>
export type Trunk = Static<typeof TrunkList>["trunks"][number]
export type Tested = Static<typeof TelephonyTested>
export type TestResult = Static<typeof TelephonyTestWire>
export type Numbers = Static<typeof PhoneNumberList>
export type CarrierNumbers = Static<typeof CarrierNumberList>
export type Imported = Static<typeof NumbersImported>
