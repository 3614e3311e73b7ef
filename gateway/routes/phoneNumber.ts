/** /api/v1/organizations/telephony-configs/{config_id}/phone-numbers */
import { Effect } from "effect"
import { PhoneNumbers } from "#core/telephony/PhoneNumbers.ts"
import { route, tagged } from "#gateway/request/Route.ts"
import {
  CreatePhoneNumber,
  newPhoneNumberOf,
  phoneNumberChangesOf,
  PhoneNumberDeleted,
  PhoneNumberList,
  PhoneNumberPath,
  PhoneNumberWire,
  phoneNumberWire,
  UpdatePhoneNumber
} from "#gateway/wire/PhoneNumber.ts"
import { TelephonyConfigPath } from "#gateway/wire/Telephony.ts"
import { configNotFound, telephonyTag } from "./telephony.ts"

const collection = "/api/v1/organizations/telephony-configs/:config_id/phone-numbers"
const single = `${collection}/:number_id`

export const phoneNumberRoutes = tagged(telephonyTag, [
  route({
    method: "get",
    path: collection,
    name: "listPhoneNumbers",
    summary: "List the phone numbers of a telephony configuration, oldest first",
    description: "The numbers that calls of this configuration may show to callees. 404 if the organization has no such configuration.",
    params: TelephonyConfigPath,
    success: PhoneNumberList,
    errors: ["NotFound"],
    handle: ({ caller, params }) =>
      PhoneNumbers.use((_) => _.list(caller.organizationId, params.config_id)).pipe(
        Effect.mapError(configNotFound),
        Effect.map((numbers) => ({ phone_numbers: numbers.map(phoneNumberWire) }))
      )
  }),
  route({
    method: "post",
    path: collection,
    name: "createPhoneNumber",
    summary: "Add a phone number",
    description:
      "A single call shows the configuration's default caller ID, or otherwise one of its active numbers: always the same one to the same callee. Campaigns rotate through all active numbers, and retries show a contact the same number again.",
    needs: "admin",
    params: TelephonyConfigPath,
    body: CreatePhoneNumber,
    success: PhoneNumberWire,
    errors: ["NotFound", "AgentNotFound", "CallerIdRefused", "PhoneAddressRefused", "PhoneNumbersFull", "PhoneNumberTaken"],
    handle: ({ body, caller, params }) =>
      PhoneNumbers.use((_) => _.create(caller.organizationId, params.config_id, newPhoneNumberOf(body))).pipe(
        Effect.mapError(configNotFound),
        Effect.map(phoneNumberWire)
      )
  }),
  route({
    method: "get",
    path: single,
    name: "getPhoneNumber",
    summary: "Read a phone number",
    description: "Its label, whether it is in use, and the agent that answers it. 404 unless it belongs to this configuration.",
    params: PhoneNumberPath,
    success: PhoneNumberWire,
    errors: ["PhoneNumberNotFound"],
    handle: ({ caller, params }) =>
      PhoneNumbers.use((_) => _.get(caller.organizationId, params.config_id, params.number_id)).pipe(Effect.map(phoneNumberWire))
  }),
  route({
    method: "put",
    path: single,
    name: "updatePhoneNumber",
    summary: "Change a phone number",
    description:
      "Members that are left out stay as they are; the number itself cannot be changed. An inactive number is not called from. 404 if there is no such number, or no such agent for inbound calls.",
    needs: "admin",
    params: PhoneNumberPath,
    body: UpdatePhoneNumber,
    success: PhoneNumberWire,
    errors: ["PhoneNumberNotFound", "AgentNotFound"],
    handle: ({ body, caller, params }) =>
      PhoneNumbers.use((_) => _.update(caller.organizationId, params.config_id, params.number_id, phoneNumberChangesOf(body))).pipe(
        Effect.map(phoneNumberWire)
      )
  }),
  route({
    method: "post",
    path: `${single}/set-default-caller`,
    name: "setDefaultCallerId",
    summary: "Make this number the default caller ID of single calls",
    description:
      "It is shown where a call names no number to call from. 400 if it is not a number, such as a SIP address; 404 unless it belongs to this configuration.",
    needs: "admin",
    params: PhoneNumberPath,
    success: PhoneNumberWire,
    errors: ["PhoneNumberNotFound", "CallerIdRefused"],
    handle: ({ caller, params }) =>
      PhoneNumbers.use((_) => _.setDefaultCaller(caller.organizationId, params.config_id, params.number_id)).pipe(
        Effect.map(phoneNumberWire)
      )
  }),
  route({
    method: "delete",
    path: single,
    name: "deletePhoneNumber",
    summary: "Delete a phone number",
    description:
      "Only here: the carrier keeps it. Calls in progress go on, and no later one is placed from it. 404 unless it belongs to this configuration.",
    needs: "admin",
    params: PhoneNumberPath,
    success: PhoneNumberDeleted,
    errors: ["PhoneNumberNotFound"],
    handle: ({ caller, params }) =>
      PhoneNumbers.use((_) => _.remove(caller.organizationId, params.config_id, params.number_id)).pipe(
        Effect.as({ message: "Phone number deleted", provider_sync: null })
      )
  })
])
