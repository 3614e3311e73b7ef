-- Expands. Engines that carry calls which another one dispatches are registered like those that are leaving: an older release that dials leaves
-- their calls to them as well, and settles them once they are silent.
ALTER TABLE leaving_engines ADD COLUMN schema_version int;
COMMENT ON COLUMN leaving_engines.schema_version IS
  'The newest migration that the program knows, if it takes calls: only an engine of the same schema dispatches calls to it. Null: it is leaving.';
