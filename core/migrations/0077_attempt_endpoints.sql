-- A call belongs to the endpoint of its provider that it left through, for ever: only there it is looked for and hung up. Null: not known, as for
-- all attempts of before.
ALTER TABLE attempts ADD COLUMN endpoint text;
