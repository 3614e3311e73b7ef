-- One engine per database and schema. The lock itself is a session's advisory lock, which Postgres releases when the session ends; this row
-- tells whose it is, and its beat tells a live holder from a session that a vanished host left open at the server.
CREATE TABLE engine_lock (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  -- Raised by each engine that takes the lock: whoever finds another one than its own has been replaced.
  epoch int NOT NULL,
  node text NOT NULL,
  host text NOT NULL,
  pid int NOT NULL,
  -- Names one process of one boot of one machine; see runtime/lock/Process.ts.
  process text NOT NULL,
  -- The server process behind the session that holds the lock.
  backend int NOT NULL,
  since timestamptz NOT NULL DEFAULT clock_timestamp(),
  beat int NOT NULL DEFAULT 0,
  beat_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- The holder ended in order, and nothing of it can dial any more.
  released boolean NOT NULL DEFAULT false
);

DO $$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'trunkline_tenant') THEN
    REVOKE ALL ON engine_lock FROM trunkline_tenant;
  END IF;
END $$;
