-- A phone is never rung by two calls of an organization at once, whatever asks for them. The attempt itself is the lock: it begins to hold
-- its number in the statement that writes it, and stops in the one that ends it.

ALTER TABLE attempts
  -- The number that is called, and the one that the callee is shown. Null in attempts that were over before there were these columns.
  ADD COLUMN phone_number  text,
  ADD COLUMN caller_number text,
  -- No other attempt of the organization may call the number: this one is live, or it was written off and its call could still appear.
  ADD COLUMN holds_number  boolean NOT NULL DEFAULT false,
  -- Campaigns with a contact that waits until the number is free.
  ADD COLUMN awaited_by    int[];

-- What is live now, and what was written off a moment ago. Where two attempts for a number are live, the newer one holds it.
UPDATE attempts a SET phone_number = live.phone_number, holds_number = live.holds_number,
  caller_number = CASE WHEN a.campaign_id IS NULL THEN live.caller_number END
FROM (
  SELECT a.id, n.phone_number, r.initial_context ->> 'caller_number' AS caller_number, n.phone_number IS NOT NULL
    AND row_number() OVER (PARTITION BY a.organization_id, n.phone_number ORDER BY a.state = 'ended', a.created_at DESC, a.id) = 1 AS holds_number
  FROM attempts a LEFT JOIN contacts c ON c.campaign_id = a.campaign_id AND c.row_no = a.row_no LEFT JOIN runs r ON r.attempt_id = a.id
  CROSS JOIN LATERAL (
    SELECT coalesce(c.phone_number, r.initial_context ->> 'called_number', r.initial_context ->> 'phone_number') AS phone_number
  ) n
  WHERE a.state IN ('intent', 'sent', 'answered')
    OR (a.state = 'ended' AND a.outcome = 'unknown' AND a.sent_at > now() - interval '10 minutes')
) live
WHERE a.id = live.id;

CREATE UNIQUE INDEX attempts_one_per_number ON attempts (organization_id, phone_number) WHERE holds_number;

-- A contact that waits for its number is passed over by claims, and so must not be in their indexes: a campaign may have thousands of them.
ALTER TABLE contacts ADD COLUMN awaits_number boolean NOT NULL DEFAULT false;
DROP INDEX contacts_fresh, contacts_waiting;
CREATE INDEX contacts_fresh ON contacts (campaign_id, row_no) WHERE state = 'pending' AND NOT awaits_number;
CREATE INDEX contacts_waiting ON contacts (campaign_id, due_at, row_no) WHERE state = 'retry_wait' AND NOT awaits_number;
CREATE INDEX contacts_awaiting ON contacts (campaign_id, row_no) WHERE awaits_number;
