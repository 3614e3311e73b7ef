-- Numbers that an organization does not dial any more, because the callee or the organization has said so.
CREATE TABLE opt_outs (
  id              int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id int NOT NULL REFERENCES organizations ON DELETE CASCADE,
  -- As it would be dialed: E.164, or an extension that was called.
  phone_number    text NOT NULL CHECK (length(phone_number) BETWEEN 1 AND 64),
  -- Where it was said: in a call, or by a client of the API.
  source          text NOT NULL CHECK (source IN ('call', 'api')),
  -- The run of the call in which it was heard.
  run_id          int,
  created_at      timestamptz NOT NULL DEFAULT now(),
  -- Claims look numbers up here. No other index may begin with the organization: the planner could take it for as good, and read all of it.
  CONSTRAINT opt_outs_number UNIQUE (organization_id, phone_number)
);
ALTER TABLE opt_outs ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON opt_outs USING (organization_id = (SELECT nullif(current_setting('trunkline.organization', true), '')::int));

-- Claims ask for each contact. The planner keeps a plan for as long as it takes the table for small: without this setting, claims would read
-- through a long list for a minute after it was added.
CREATE FUNCTION has_opted_out(organization int, number text) RETURNS boolean LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
BEGIN
  RETURN EXISTS (SELECT FROM opt_outs o WHERE o.organization_id = organization AND o.phone_number = number);
END $$;

CREATE FUNCTION contacts_opted_out() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM add_event(organization_id, 'contact.opted_out', 'opt-outs/' || id, jsonb_build_object(
      'opt_out_id', id, 'phone_number', phone_number, 'source', source, 'run_id', run_id))
    FROM (SELECT * FROM added ORDER BY id) AS ordered;
  RETURN NULL;
END $$;
CREATE TRIGGER opt_outs_added AFTER INSERT ON opt_outs REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION contacts_opted_out();

-- Why a contact was not dialed, or not dialed again, although its campaign would have: `opted_out`.
ALTER TABLE contacts ADD COLUMN stop_reason text;
