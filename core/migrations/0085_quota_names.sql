-- Quotas are declared in core/organization/Quota.ts, whose type every name that the engine writes has, besides the literals of the counting
-- triggers. A second list here would only make a migration of every new quota.
ALTER TABLE quotas DROP CONSTRAINT quotas_name_check;
