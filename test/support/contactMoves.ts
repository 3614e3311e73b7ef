/** Records every change of a contact's state in the database, to be compared with what `Contact.ts` allows. */
import { contactMoves, type ContactState } from "#core/contact/Contact.ts"
import type { Witness } from "./engine.ts"

export const noteContactMoves = async (sql: Witness): Promise<void> => {
  await sql.unsafe(`
    CREATE TABLE noted_moves (before text, after text, PRIMARY KEY (before, after));
    CREATE FUNCTION note_move() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
      BEGIN INSERT INTO noted_moves VALUES (OLD.state, NEW.state) ON CONFLICT DO NOTHING; RETURN NULL; END $$;
    CREATE TRIGGER note_move AFTER UPDATE OF state ON contacts FOR EACH ROW WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION note_move()`)
}

export const strayMoves = async (sql: Witness): Promise<ReadonlyArray<string>> => {
  const moves = await sql<Array<{ before: ContactState; after: ContactState }>>`SELECT before, after FROM noted_moves`
  return moves.filter(({ after, before }) => !contactMoves[before].includes(after)).map(({ after, before }) => `${before} -> ${after}`)
}
