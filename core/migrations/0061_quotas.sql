-- What each organization may use, and how much of what is kept it uses. No row, or null: the default, which the engine knows.
CREATE TABLE quotas (
  organization_id int NOT NULL REFERENCES organizations ON DELETE CASCADE,
  name            text NOT NULL CHECK (name IN
                  ('calls', 'storage_bytes', 'rows', 'agents', 'keys', 'followers', 'requests_per_second', 'request_burst')),
  -- Set by the operator.
  allowed         bigint CHECK (allowed >= 0),
  -- Set by the organization itself; what is above `allowed` does not count.
  own             bigint CHECK (own >= 0),
  -- Of what is kept in tables; written by triggers alone, in the transaction that adds or takes away.
  used            bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (organization_id, name)
) WITH (fillfactor = 50);
-- Requests may look, and not touch.
CREATE POLICY of_tenant ON quotas FOR SELECT USING (organization_id = (SELECT nullif(current_setting('trunkline.organization', true), '')::int));
ALTER TABLE quotas ENABLE ROW LEVEL SECURITY;

CREATE FUNCTION use_quota(organization int, quota text, change bigint) RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$
  INSERT INTO quotas AS q (organization_id, name, used) SELECT organization, quota, change WHERE change <> 0
  ON CONFLICT (organization_id, name) DO UPDATE SET used = q.used + excluded.used
$$;
-- It writes for whichever organization it is told.
REVOKE EXECUTE ON FUNCTION use_quota(int, text, bigint) FROM PUBLIC;

-- A new organization may have as many calls up as it begins with. In those that are there, what is in force stays, and cannot be raised.
CREATE FUNCTION organization_begun() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO quotas (organization_id, name, allowed) VALUES (NEW.id, 'calls', NEW.concurrency_limit);
  RETURN NULL;
END $$;
CREATE TRIGGER organizations_begun AFTER INSERT ON organizations FOR EACH ROW EXECUTE FUNCTION organization_begun();
INSERT INTO quotas (organization_id, name, allowed) SELECT id, 'calls', concurrency_limit FROM organizations;

-- Once for each statement: one that adds thousands of rows counts them once.
CREATE FUNCTION agents_added() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM use_quota(organization_id, 'agents', count(*)) FROM added GROUP BY organization_id ORDER BY organization_id;
  RETURN NULL;
END $$;
CREATE FUNCTION agents_removed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM use_quota(organization_id, 'agents', -count(*)) FROM removed GROUP BY organization_id ORDER BY organization_id;
  RETURN NULL;
END $$;
CREATE TRIGGER agents_added AFTER INSERT ON agents REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION agents_added();
CREATE TRIGGER agents_removed AFTER DELETE ON agents REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION agents_removed();

-- An archived key is no key. It is counted again when it is brought back.
CREATE FUNCTION keys_added() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM use_quota(organization_id, 'keys', count(*)) FROM added WHERE archived_at IS NULL GROUP BY organization_id ORDER BY organization_id;
  RETURN NULL;
END $$;
CREATE FUNCTION keys_removed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM use_quota(organization_id, 'keys', -count(*)) FROM removed WHERE archived_at IS NULL GROUP BY organization_id ORDER BY organization_id;
  RETURN NULL;
END $$;
CREATE FUNCTION key_changed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM use_quota(NEW.organization_id, 'keys', CASE WHEN NEW.archived_at IS NULL THEN 1 ELSE -1 END);
  RETURN NULL;
END $$;
CREATE TRIGGER keys_added AFTER INSERT ON api_keys REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION keys_added();
CREATE TRIGGER keys_removed AFTER DELETE ON api_keys REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION keys_removed();
CREATE TRIGGER keys_changed AFTER UPDATE OF archived_at ON api_keys FOR EACH ROW
  WHEN ((OLD.archived_at IS NULL) <> (NEW.archived_at IS NULL)) EXECUTE FUNCTION key_changed();

-- A campaign says how many contacts it has: to count each of them would cost an import a tenth of its time.
CREATE FUNCTION contacts_changed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM use_quota(coalesce(NEW.organization_id, OLD.organization_id), 'rows', coalesce(NEW.total_rows, 0) - coalesce(OLD.total_rows, 0));
  RETURN NULL;
END $$;
CREATE TRIGGER contacts_counted AFTER INSERT OR DELETE OR UPDATE OF total_rows ON campaigns FOR EACH ROW EXECUTE FUNCTION contacts_changed();

INSERT INTO quotas AS q (organization_id, name, used)
  SELECT organization_id, 'agents', count(*) FROM agents GROUP BY organization_id
  UNION ALL SELECT organization_id, 'keys', count(*) FROM api_keys WHERE archived_at IS NULL GROUP BY organization_id
  UNION ALL SELECT organization_id, 'rows', sum(total_rows) FROM campaigns GROUP BY organization_id;
