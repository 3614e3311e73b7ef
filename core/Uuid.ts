/** How resources are named from outside. A text of another form is the name of nothing, and never reaches the database. */
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export const isUuid = (text: string): boolean => uuid.test(text)
