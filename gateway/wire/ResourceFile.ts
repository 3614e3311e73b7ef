/** What recordings and documents have in common: their file is uploaded to a URL first. */
import Type from "typebox"
import type { ResourceTicket } from "#core/file/ResourceUploads.ts"

export const fileName = Type.String({ minLength: 1, maxLength: 255 })
export const mediaType = { minLength: 1, maxLength: 255 }

export const uploadUrl = Type.String({ description: "PUT the bytes here, without a credential." })
export const uploadUrlOf = (siteUrl: string, { key, token }: ResourceTicket): string =>
  `${siteUrl}/api/v1/resource-uploads/${encodeURIComponent(token)}?${new URLSearchParams({ key })}`

const nobody = 0
export const creator = Type.Integer({ description: `The user who created it; ${nobody} for a key that belongs to no user.` })
/** 0 instead of null, because clients of this API require a number. */
export const creatorOf = (userId: number | null): number => userId ?? nobody

export const Deleted = Type.Object({ success: Type.Literal(true), message: Type.String() }, { title: "ResourceDeleted" })
