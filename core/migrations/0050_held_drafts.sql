-- A graph that could not be published is kept as a draft, without anybody having begun one: such a draft is held, and the next graph that is
-- finished is published in its place.
ALTER TABLE agent_definitions ADD COLUMN is_held boolean NOT NULL DEFAULT false;
