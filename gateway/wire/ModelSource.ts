/** Whether an organization has set up its speech and language services, and whether they make a complete configuration. */
import Type, { type Static } from "typebox"
import { isComplete, type ModelDocument } from "#core/model/ModelDocument.ts"

export const ModelSource = Type.Enum(["organization_v2", "legacy_user_v1", "empty"], {
  description:
    "`organization_v2`: services are set up, and `/organizations/model-configurations/v2` shows them. `legacy_user_v1`: some were set up at " +
    "`/user/configurations/user`, but not all that a configuration needs to be shown there. `empty`: none is set up."
})

export const sourceOf = (document: ModelDocument | undefined): Static<typeof ModelSource> => {
  if (document === undefined) return "empty"
  return isComplete(document) ? "organization_v2" : "legacy_user_v1"
}
