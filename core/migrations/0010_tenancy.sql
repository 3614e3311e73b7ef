-- The second wall between organizations: requests run as a role that row-level security shows the rows of their own organization alone. The
-- engine's own work spans organizations, and runs as the owner of the tables, whom policies do not concern.

-- Roles belong to the whole server: another of its databases may have made this one, even at this moment. Where we may make none, and nobody
-- has made it for us, the engine says so at its start and serves without this wall.
DO $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'trunkline_tenant') THEN
    CREATE ROLE trunkline_tenant NOLOGIN;
  END IF;
EXCEPTION WHEN duplicate_object OR unique_violation OR insufficient_privilege THEN
  NULL;
END $$;

-- A superuser may become anybody.
DO $$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'trunkline_tenant')
    AND NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = current_user AND rolsuper) THEN
    EXECUTE format('GRANT trunkline_tenant TO %I', current_user);
  END IF;
EXCEPTION WHEN insufficient_privilege OR internal_error THEN
  NULL;
END $$;

DO $$
DECLARE
  -- Null, and so nobody's, in a session that was not told. A subquery, so that it is read once for each statement and not for each row.
  tenant CONSTANT text := $q$(SELECT nullif(current_setting('trunkline.organization', true), '')::int)$q$;
  one record;
BEGIN
  FOR one IN
    SELECT t.table_name AS name
    FROM information_schema.tables t
    JOIN information_schema.columns c USING (table_schema, table_name)
    WHERE t.table_schema = current_schema() AND t.table_type = 'BASE TABLE' AND c.column_name = 'organization_id'
  LOOP
    EXECUTE format('CREATE POLICY of_tenant ON %I USING (organization_id = %s)', one.name, tenant);
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', one.name);
  END LOOP;
  EXECUTE format('CREATE POLICY of_tenant ON organizations USING (id = %s)', tenant);
END $$;
ALTER TABLE organizations ENABLE ROW LEVEL SECURITY;

-- The subquery is itself confined to the tenant's campaigns.
CREATE POLICY of_tenant ON campaign_dials USING (EXISTS (SELECT 1 FROM campaigns WHERE campaigns.id = campaign_id));
ALTER TABLE campaign_dials ENABLE ROW LEVEL SECURITY;

-- What is made later is granted as well; a table that holds rows of organizations brings its own policy.
DO $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'trunkline_tenant') THEN
    RETURN;
  END IF;
  EXECUTE format('GRANT USAGE ON SCHEMA %I TO trunkline_tenant', current_schema());
  EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %I TO trunkline_tenant', current_schema());
  EXECUTE format('GRANT USAGE ON ALL SEQUENCES IN SCHEMA %I TO trunkline_tenant', current_schema());
  EXECUTE format('ALTER DEFAULT PRIVILEGES IN SCHEMA %I GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO trunkline_tenant', current_schema());
  EXECUTE format('ALTER DEFAULT PRIVILEGES IN SCHEMA %I GRANT USAGE ON SEQUENCES TO trunkline_tenant', current_schema());
  REVOKE ALL ON schema_migrations, installation_secrets FROM trunkline_tenant;
END $$;
