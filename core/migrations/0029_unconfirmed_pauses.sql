-- Whoever was told that a pause is not confirmed yet asks again, also after a restart of the engine.

ALTER TABLE campaigns ADD COLUMN pause_unconfirmed boolean NOT NULL DEFAULT false;
