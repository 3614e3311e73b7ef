import { Schema } from "effect"

/** Why the server ends the websocket of a page. */
export class PageEnded extends Schema.TaggedError<PageEnded>()("PageEnded", { code: Schema.Int, reason: Schema.String }) {}
