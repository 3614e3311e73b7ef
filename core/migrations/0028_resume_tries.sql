-- A campaign that was paused because its owner kept failing resumes by itself when the cause is gone.

-- How often the engine has tried so far. Null: nothing of the kind, or a person has acted since; it stays paused until a person resumes it.
ALTER TABLE campaigns ADD COLUMN resume_tries int CHECK (resume_tries >= 0);
