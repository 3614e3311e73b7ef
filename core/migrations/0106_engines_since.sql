-- Expands. Organizations see which engines there are, and since when.
ALTER TABLE leaving_engines ADD COLUMN since timestamptz NOT NULL DEFAULT clock_timestamp();
