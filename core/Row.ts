/** A row that is to become an `A`: what Postgres has as null, we have as undefined. */
export type Row<A> = { readonly [Key in keyof A]: undefined extends A[Key] ? Exclude<A[Key], undefined> | null : A[Key] }
