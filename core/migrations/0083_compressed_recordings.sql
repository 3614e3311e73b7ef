-- Recordings that are compressed after the call. Null: in the operator's format.
ALTER TABLE retention ADD COLUMN recording_format text CHECK (recording_format IN ('wav', 'opus'));

-- Of a WAV that is to be compressed, decided as it is counted: recordings from before stay as they are. Only whoever has taken the file away
-- may take away a row that is marked, so that a process that is killed in between leaves no sound behind that nobody knows of.
ALTER TABLE stored_files ADD COLUMN to_compress boolean NOT NULL DEFAULT false;
CREATE INDEX stored_files_to_compress ON stored_files (key) WHERE to_compress;

CREATE OR REPLACE FUNCTION artifacts_removed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  IF NEW.recording_key IS NULL THEN
    DELETE FROM stored_files WHERE key = OLD.recording_key AND NOT to_compress;
  END IF;
  IF NEW.transcript_key IS NULL THEN
    DELETE FROM stored_files WHERE key = OLD.transcript_key;
  END IF;
  RETURN NULL;
END $$;
