-- From where something was done. Null in entries from before.
ALTER TABLE audit_log ADD COLUMN address text;
