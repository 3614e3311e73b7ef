-- Expands. Engines that were asked to end while calls were up: another one dials already, and leaves these calls to them.
CREATE TABLE leaving_engines (
  -- The local journal of the process: its attempts name it.
  journal uuid PRIMARY KEY,
  node text NOT NULL,
  host text NOT NULL,
  -- Names one process of one boot of one machine; see runtime/process/ProcessName.ts.
  process text NOT NULL,
  -- Where the engine that dials passes on what carriers say of its calls, as host:port.
  address text NOT NULL,
  beat int NOT NULL DEFAULT 0,
  beat_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

DO $$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'trunkline_tenant') THEN
    REVOKE ALL ON leaving_engines FROM trunkline_tenant;
  END IF;
END $$;
