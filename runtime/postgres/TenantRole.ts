/**
 * The role that requests run as: one for each database and schema. It logs in itself, so that no request session can switch back to the engine's
 * role. It can access only tables with a row-level policy, and no column that holds the hash of a password, key or token.
 */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto"

const hexDigits = 16
/** Earlier versions used this one role for all installations on a server. */
const shared = "trunkline_tenant"
const iterations = 4096
const saltBytes = 16
const hashBytes = 32
/** Hashes of files and requests. Any other column named `..._hash` holds the hash of a credential. */
const harmlessHashes = ["source_hash", "file_hash", "request_hash"]
/** An arbitrary advisory lock key: engines that grant at the same time wait for each other. */
const advisoryLock = 7_265_873

export const roleNameOf = (database: string, schema: string): string =>
  `trunkline_${createHash("sha256").update(`${database}\0${schema}`).digest("hex").slice(0, hexDigits)}`

/**
 * The verifier that Postgres stores for a password. It is sent in place of the password, so that no statement log shows that.
 * https://www.rfc-editor.org/rfc/rfc5803
 */
const verifierOf = (password: string): string => {
  const salt = randomBytes(saltBytes)
  const salted = pbkdf2Sync(password, salt, iterations, hashBytes, "sha256")
  const keyed = (text: string) => createHmac("sha256", salted).update(text).digest()
  const stored = createHash("sha256").update(keyed("Client Key")).digest("base64")
  return `SCRAM-SHA-256$${iterations}:${salt.toString("base64")}$${stored}:${keyed("Server Key").toString("base64")}`
}

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** Creates or updates our own role: it logs in with this password and has no other role privileges. */
const made = (password: string): string => `
  IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = tenant) THEN
    EXECUTE format('CREATE ROLE %I', tenant);
  END IF;
  -- Roles are created without these. Since Postgres 16, only a role that has them may name them.
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = tenant AND (rolcreatedb OR rolcreaterole)) THEN
    EXECUTE format('ALTER ROLE %I NOCREATEDB NOCREATEROLE', tenant);
  END IF;
  EXECUTE format('ALTER ROLE %I LOGIN NOINHERIT PASSWORD %L', tenant, ${literal(verifierOf(password))});
  BEGIN
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), tenant);
    -- For servers that let no other role log in: there, the sessions of requests begin as the engine's.
    EXECUTE format('GRANT %I TO %I', tenant, current_user);
  EXCEPTION WHEN insufficient_privilege OR invalid_grant_operation THEN
    NULL;
  END;`

/**
 * Checks and completes the grants. Runs at every start, because tables and columns may be new. `password` is undefined for the operator's role.
 */
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
    -- Only tables whose grants differ: to grant everything again takes as long as the rest of a start.
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
  -- This function writes for any organization that it is given.
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

/** Asks for the database and schema of the engine; `path` is quoted for `search_path`. */
export const whereSql = `
  SELECT current_database() AS database, current_schema() AS schema, quote_ident(current_schema()) AS path, to_regclass('campaigns') IS NOT NULL AS is_there`

/** Asks whether the role is separate from the engine's. Returns no row if the role does not exist. */
export const apartSql = `
  SELECT NOT (rolsuper OR rolbypassrls OR rolname = current_user OR pg_has_role(rolname, current_user, 'MEMBER')) AS is_apart
  FROM pg_roles WHERE rolname = $1`

/** On a session of the role, asks which role it runs as and logged in as, and whether the tables are granted to it. */
export const probeSql = `
  SELECT current_user = $1 AS is_role, session_user = $1 AS is_own, set_config('search_path', $2, false),
    has_table_privilege($1, 'campaigns', 'INSERT') AS granted`
