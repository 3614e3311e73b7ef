-- Each process keeps a journal on its own disk of the requests that really left. An attempt names the journal of the one process that may send
-- it: only that journal can prove, after a crash, that the attempt was marked `sent` and never left.
ALTER TABLE attempts ADD COLUMN journal uuid;

-- Journals of several databases may lie in one folder.
CREATE TABLE installation (
  only_row bool PRIMARY KEY DEFAULT true CHECK (only_row),
  id       uuid NOT NULL DEFAULT gen_random_uuid()
);
INSERT INTO installation DEFAULT VALUES;
DO $$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'trunkline_tenant') THEN
    REVOKE ALL ON installation FROM trunkline_tenant;
  END IF;
END $$;
