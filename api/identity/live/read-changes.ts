import type { Knex } from 'knex';
import { run } from '../../../db/statement.js';
import type { Seat } from '../../platform/access/access.js';
import { DomainError } from '../../platform/errors.js';
import { timeOfId } from '../../platform/ids.js';
import { readChangesStatement } from './changes.sql.js';
import { BEFORE_ALL, type Cursor, encodeCursor, hashHistory, type Position } from './cursor.js';
import { type About, mayRead, nameChange, passesTypes, type Subject } from './readers.js';
import type { LiveEvent } from './schema.js';

/** Time for which a cursor is valid, ms. Changes are stored for a day or two longer. */
const VALID_MS = 30 * 24 * 3_600_000;

/** A row of `live_changes`. */
export interface ChangeRow {
  change_id: string;
  xid: string;
  owner_id: string;
  team_id: string | null;
  project_id: string | null;
  event_type: string | null;
  entity_type: string;
  action: string;
  entity_id: string | null;
  parent_id: string | null;
  actor_id: string | null;
  actor_type: string | null;
  correlation_id: string | null;
}

/** What every row of a statement repeats, and a change, if there is one. */
export type FoundRow<Extra = unknown> = { xmin: string; history: string } & Extra & (ChangeRow | { change_id: null });

export const placeOf = ({ xid, change_id }: ChangeRow): Position => ({ xid: BigInt(xid), id: change_id });

/** Whom and what a reader follows. */
export interface Filter {
  userId: string;
  subject: Subject;
  teamId: string | null;
  types: ReadonlySet<string>;
}

/** Some changes in their order, and the place after all that were looked at. */
export interface Changes {
  rows: (ChangeRow & { role: Seat | null })[];
  /** All older transactions have ended. */
  xmin: bigint;
  history: number;
  /** The user and the teams whose changes were read. */
  owners: string[];
  /** Whether nothing older than `xmin` is left. */
  isWhole: boolean;
  last: Position;
}

const isChange = <Extra>(row: FoundRow<Extra>): row is FoundRow<Extra> & ChangeRow => row.change_id !== null;

/** Returns the changes among rows, with the place after the last one: below `xmin` nothing is left if there are fewer than `limit`. */
export function takeChanges<Extra>(found: FoundRow<Extra>[], limit: number) {
  const rows = found.filter(isChange);
  const xmin = BigInt(found[0]?.xmin ?? 0);
  const isWhole = rows.length < limit;
  const history = hashHistory(found[0]?.history ?? '');
  const last: Position = isWhole ? { xid: xmin, id: BEFORE_ALL } : placeOf(rows.at(-1) as ChangeRow);
  return { rows, xmin, isWhole, history, last };
}

/** Reads the changes of a user and their teams after a place; `ms`: when that was given out. Without a place none, but the present one. */
export async function readChanges(
  db: Knex,
  { userId, teamId }: Pick<Filter, 'userId' | 'teamId'>,
  { after, ms, limit }: { after: Position | null; ms: number; limit: number },
): Promise<Changes> {
  const values = [userId, teamId, after?.xid.toString() ?? '0', after?.id ?? BEFORE_ALL, new Date(ms), after ? limit : 0];
  type Row = FoundRow<{ owners: string[]; role: Seat | null }>;
  const found = await run<Row>(db, readChangesStatement, values);
  const changes = takeChanges(found, after ? limit : 1);
  return { ...changes, owners: found[0]?.owners ?? [] };
}

/** @throws CURSOR_EXPIRED the cursor is older than 30 days, or belongs to another history of the database */
export function checkCursor({ history, ms }: Cursor, present: Changes): void {
  if (history === present.history && ms > Date.now() - VALID_MS) return;
  throw new DomainError('CURSOR_EXPIRED', 'The cursor has expired', {
    detail: 'Read what you follow again, and go on from the cursor of a request without `after`.',
  });
}

/** What a row is about, for the rights of the caller. */
const aboutOf = (row: ChangeRow, userId: string): About => ({
  entity_type: row.entity_type,
  entity_id: row.entity_id,
  isOwn: row.owner_id === userId,
});

/** Returns whether a reader is given a change: by their rights now, and by what they follow. */
export const isGiven = (filter: Filter, row: ChangeRow, role: Seat | null): boolean =>
  passesTypes(filter.types, nameChange(row), row.entity_type) && mayRead(filter.subject, aboutOf(row, filter.userId), role);

/** Converts a row to the event that clients get. */
export function presentChange(history: number, row: ChangeRow): LiveEvent {
  const { entity_type, entity_id, parent_id, team_id, project_id, actor_id, actor_type, correlation_id } = row;
  return {
    id: encodeCursor(history, placeOf(row)),
    type: nameChange(row),
    entity_type,
    entity_id,
    parent_id,
    team_id,
    project_id,
    user_id: actor_id,
    actor_type: actor_type === 'pat' ? 'user' : actor_type,
    correlation_id,
    timestamp: new Date(timeOfId(row.change_id)).toISOString(),
  };
}
