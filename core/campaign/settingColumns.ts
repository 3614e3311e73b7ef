/** The SQL of a campaign's settings, from their declarations. Statements with these fragments call the campaign `c` where they read it. */
import type { SqlClient, Statement } from "effect/sql"
import { campaignSettings, type OfferedSetting, type SettingName, settingNames, type StoredChanges } from "./CampaignSettings.ts"

type Sql = SqlClient.SqlClient

/** For a select list: each setting under its own name. */
export const read = (sql: Sql, names: ReadonlyArray<SettingName> = settingNames) =>
  sql.literal(names.map((name) => `c.${campaignSettings[name].column} AS "${name}"`).join(", "))

/** One JSON object of these settings, under their own names. */
export const readObject = (sql: Sql, names: ReadonlyArray<OfferedSetting>) =>
  sql.literal(`jsonb_build_object(${names.map((name) => `'${name}', c.${campaignSettings[name].column}`).join(", ")})`)

/** For an insert: the columns, in the order of `inserted` and `copied`. */
export const columns = (sql: Sql) => sql.literal(settingNames.map((name) => campaignSettings[name].column).join(", "))

/** For the values of an insert. A setting that was not given gets the column's default. */
export const inserted = (sql: Sql, settings: StoredChanges) =>
  sql.csv(settingNames.map((name) => (settings[name] === undefined ? sql.literal("DEFAULT") : bound(sql, name, settings))))

/** For an insert that copies a campaign: its settings, except for those that are replaced. */
export const copied = (sql: Sql, replaced: { readonly [Name in SettingName]?: Statement.Fragment }) =>
  sql.csv(settingNames.map((name) => replaced[name] ?? sql.literal(`c.${campaignSettings[name].column}`)))

/** For an update: a setting that was not given stays as it is. */
export const changed = (sql: Sql, changes: StoredChanges) =>
  sql.csv(
    settingNames.map((name) => {
      const column = sql.literal(campaignSettings[name].column)
      return sql`${column} = CASE WHEN ${changes[name] !== undefined}::bool THEN ${bound(sql, name, changes)} ELSE c.${column} END`
    })
  )

/** The value of one setting as its column takes it; NULL for one that was cleared or not given. */
export const bound = (sql: Sql, name: SettingName, settings: StoredChanges): Statement.Fragment => {
  const value = settings[name] ?? null
  switch (campaignSettings[name].type) {
    case "text":
      return sql`${value}::text`
    case "int":
      return sql`${value}::int`
    case "jsonb":
      return sql`${value === null ? null : JSON.stringify(value)}::text::jsonb`
  }
}
