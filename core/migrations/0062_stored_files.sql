-- How large the files are that are kept for an organization, whatever names them, and so how much of its quota they take. A row comes with
-- the file; it goes with the last name of the file, in the same transaction.
CREATE TABLE stored_files (
  key             text PRIMARY KEY,
  organization_id int NOT NULL REFERENCES organizations ON DELETE CASCADE,
  bytes           bigint NOT NULL
);
CREATE POLICY of_tenant ON stored_files USING (organization_id = (SELECT nullif(current_setting('trunkline.organization', true), '')::int));
ALTER TABLE stored_files ENABLE ROW LEVEL SECURITY;

CREATE FUNCTION files_added() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM use_quota(organization_id, 'storage_bytes', sum(bytes)::bigint) FROM added GROUP BY organization_id ORDER BY organization_id;
  RETURN NULL;
END $$;
CREATE FUNCTION files_removed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM use_quota(organization_id, 'storage_bytes', -sum(bytes)::bigint) FROM removed GROUP BY organization_id ORDER BY organization_id;
  RETURN NULL;
END $$;
CREATE TRIGGER files_added AFTER INSERT ON stored_files REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION files_added();
CREATE TRIGGER files_removed AFTER DELETE ON stored_files REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION files_removed();

CREATE FUNCTION resource_removed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM stored_files WHERE key = OLD.storage_key;
  RETURN NULL;
END $$;
CREATE TRIGGER recordings_freed AFTER DELETE ON recordings FOR EACH ROW EXECUTE FUNCTION resource_removed();
CREATE TRIGGER documents_freed AFTER DELETE ON documents FOR EACH ROW EXECUTE FUNCTION resource_removed();

-- One that is given up. (One of which a recording or a document is made goes without this: the file stays.)
CREATE FUNCTION upload_removed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM stored_files WHERE key = OLD.key;
  RETURN NULL;
END $$;
CREATE TRIGGER uploads_freed AFTER UPDATE OF received_at ON uploads FOR EACH ROW
  WHEN (OLD.received_at IS NOT NULL AND NEW.received_at IS NULL) EXECUTE FUNCTION upload_removed();

-- Every call that ends writes its run: the condition is all that it costs.
CREATE FUNCTION artifacts_removed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  IF NEW.recording_key IS NULL THEN
    DELETE FROM stored_files WHERE key = OLD.recording_key;
  END IF;
  IF NEW.transcript_key IS NULL THEN
    DELETE FROM stored_files WHERE key = OLD.transcript_key;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER runs_freed AFTER UPDATE OF recording_key, transcript_key ON runs FOR EACH ROW
  WHEN (OLD.recording_key IS NOT NULL AND NEW.recording_key IS NULL OR OLD.transcript_key IS NOT NULL AND NEW.transcript_key IS NULL)
  EXECUTE FUNCTION artifacts_removed();

-- What is known of the files that are there already; the engine looks at the others after its start.
INSERT INTO stored_files (key, organization_id, bytes)
  SELECT key, organization_id, size_bytes FROM uploads WHERE received_at IS NOT NULL AND size_bytes IS NOT NULL
  UNION ALL SELECT storage_key, organization_id, size_bytes FROM documents WHERE size_bytes IS NOT NULL
ON CONFLICT (key) DO NOTHING;
