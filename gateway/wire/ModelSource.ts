/** How far what an organization has set up of speech and language services can be shown. */
import Type, { type Static } from "typebox"
import { isComplete, type ModelDocument } from "#core/model/ModelDocument.ts"

export const ModelSource = Type.Enum(["organization_v2", "legacy_user_v1", "empty"], {
  description:
    "`organization_v2`: services are set up, and `/organizations/model-configurations/v2` shows them. `legacy_user_v1`: some are, set at " +
    "`/user/configurations/user`, but not all that a configuration there needs. `empty`: none is."
})

export const sourceOf = (document: ModelDocument | undefined): Static<typeof ModelSource> => {
  if (document === undefined) return "empty"
  return isComplete(document) ? "organization_v2" : "legacy_user_v1"
}
