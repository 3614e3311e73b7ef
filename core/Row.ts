/** The row of an `A`: what is undefined in our types is null in Postgres. */
export type Row<A> = { readonly [Key in keyof A]: undefined extends A[Key] ? Exclude<A[Key], undefined> | null : A[Key] }
