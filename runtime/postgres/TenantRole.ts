/**
 * The role that requests run as: one for each database and schema. It logs in by itself, so no session of requests can turn back into the
 * engine's; it sees tables with a policy alone, and no column that holds the hash of a password, key or token.
 */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto"

const hexDigits = 16
/** One role for all installations of a server, until 2026-11. */
const shared = "trunkline_tenant"
const iterations = 4096
const saltBytes = 16
const hashBytes = 32
/** Hashes of files and requests; every other column of that name is the hash of a credential. */
const harmlessHashes = ["source_hash", "file_hash", "request_hash"]
/** Any constant does: those who grant at once wait for each other. */
const advisoryLock = 7_265_873

export const roleNameOf = (database: string, schema: string): string =>
  `trunkline_${createHash("sha256").update(`${database}\0${schema}`).digest("hex").slice(0, hexDigits)}`

/** What Postgres keeps of a password: sent instead of it, so that no log of statements shows it. https://www.rfc-editor.org/rfc/rfc5803 */
const verifierOf = (password: string): string => {
  const salt = randomBytes(saltBytes)
  const salted = pbkdf2Sync(password, salt, iterations, hashBytes, "sha256")
  const keyed = (text: string) => createHmac("sha256", salted).update(text).digest()
  const stored = createHash("sha256").update(keyed("Client Key")).digest("base64")
  return `SCRAM-SHA-256$${iterations}:${salt.toString("base64")}$${stored}:${keyed("Server Key").toString("base64")}`
}

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** Of a role of ours: it exists, logs in with this password, and may do nothing besides. */
const made = (password: string): string => `
  IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = tenant) THEN
    EXECUTE format('CREATE ROLE %I', tenant);
  END IF;
  -- Roles are made without these. Whoever names them has to have them himself, since Postgres 16.
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = tenant AND (rolcreatedb OR rolcreaterole)) THEN
    EXECUTE format('ALTER ROLE %I NOCREATEDB NOCREATEROLE', tenant);
  END IF;
  EXECUTE format('ALTER ROLE %I LOGIN NOINHERIT PASSWORD %L', tenant, ${literal(verifierOf(password))});
  BEGIN
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), tenant);
    -- For servers that let nobody else log in: then the sessions of requests begin as the engine's.
    EXECUTE format('GRANT %I TO %I', tenant, current_user);
  EXCEPTION WHEN insufficient_privilege OR invalid_grant_operation THEN
    NULL;
  END;`

/** What is granted, looked through at every start: tables and columns may have been added. `password`: undefined where the role is the operator's. */
export const preparation = (role: string, password: string | undefined): string => `
DO $prepare$
DECLARE
  tenant CONSTANT text := ${literal(role)};
  one record;
BEGIN
  PERFORM pg_advisory_xact_lock(${advisoryLock});
  ${password === undefined ? "" : made(password)}
  EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', current_schema(), tenant);
  EXECUTE format('GRANT USAGE ON ALL SEQUENCES IN SCHEMA %I TO %I', current_schema(), tenant);
  FOR one IN
    SELECT c.relname AS name, c.relrowsecurity AS has_policy, bool_or(a.is_secret) AS has_secret,
      string_agg(quote_ident(a.attname), ', ') FILTER (WHERE NOT a.is_secret) AS shown
    FROM pg_class c CROSS JOIN LATERAL (
      SELECT attnum, attname, attname ~ '_hash$' AND attname <> ALL (ARRAY[${harmlessHashes.map(literal).join(", ")}]) AS is_secret
      FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped
    ) AS a
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
    GROUP BY c.oid, c.relname, c.relrowsecurity
    -- Only where something differs from what is to be granted: to grant everything anew takes as long as all the rest of a start.
    HAVING CASE WHEN c.relrowsecurity THEN
        bool_or(has_column_privilege(tenant, c.oid, a.attnum, 'SELECT') = a.is_secret
          OR has_column_privilege(tenant, c.oid, a.attnum, 'UPDATE') = a.is_secret)
        OR NOT has_table_privilege(tenant, c.oid, 'INSERT') OR NOT has_table_privilege(tenant, c.oid, 'DELETE')
      ELSE has_table_privilege(tenant, c.oid, 'INSERT, DELETE, TRUNCATE, REFERENCES, TRIGGER')
        OR has_any_column_privilege(tenant, c.oid, 'SELECT, INSERT, UPDATE, REFERENCES') END
  LOOP
    EXECUTE format('REVOKE ALL ON %I FROM %I', one.name, tenant);
    IF one.has_policy AND one.has_secret THEN
      EXECUTE format('GRANT SELECT (%s), UPDATE (%s), INSERT, DELETE ON %I TO %I', one.shown, one.shown, one.name, tenant);
    ELSIF one.has_policy THEN
      EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO %I', one.name, tenant);
    END IF;
  END LOOP;
  -- It writes for whichever organization it is told.
  REVOKE EXECUTE ON FUNCTION add_event(int, text, text, jsonb) FROM PUBLIC;
  IF tenant <> ${literal(shared)} AND EXISTS (
    SELECT 1 FROM pg_roles r WHERE rolname = ${literal(shared)}
      AND EXISTS (SELECT 1 FROM pg_class c, aclexplode(c.relacl) AS granted
        WHERE c.relnamespace = current_schema()::regnamespace AND granted.grantee = r.oid)
  ) THEN
    EXECUTE format('ALTER DEFAULT PRIVILEGES IN SCHEMA %I REVOKE ALL ON TABLES FROM ${shared}', current_schema());
    EXECUTE format('ALTER DEFAULT PRIVILEGES IN SCHEMA %I REVOKE ALL ON SEQUENCES FROM ${shared}', current_schema());
    EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA %I FROM ${shared}', current_schema());
    EXECUTE format('REVOKE ALL ON ALL SEQUENCES IN SCHEMA %I FROM ${shared}', current_schema());
    EXECUTE format('REVOKE ALL ON SCHEMA %I FROM ${shared}', current_schema());
  END IF;
END $prepare$`

/** Where the engine itself is; the path as its sessions need it. */
export const whereSql = `
  SELECT current_database() AS database, current_schema() AS schema, quote_ident(current_schema()) AS path, to_regclass('campaigns') IS NOT NULL AS is_there`

/** Whether the role is apart from the engine's: undefined rows where it does not exist. */
export const apartSql = `
  SELECT NOT (rolsuper OR rolbypassrls OR rolname = current_user OR pg_has_role(rolname, current_user, 'MEMBER')) AS is_apart
  FROM pg_roles WHERE rolname = $1`

/** On a session of the role: whose it is, and whether it may see anything. */
export const probeSql = `
  SELECT current_user = $1 AS is_role, session_user = $1 AS is_own, set_config('search_path', $2, false),
    has_table_privilege($1, 'campaigns', 'INSERT') AS granted`
