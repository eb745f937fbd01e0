import { isDeepStrictEqual } from 'node:util';
import { defineStatement, run } from '../../../db/statement.js';
import type { Differences } from '../../platform/changes/record-change.js';
import { type Context, requireUser } from '../../platform/context.js';
import type { ItemVersion } from './changes-of-version.js';

interface Entry extends Record<string, unknown> {
  action: string;
  user_id: string | null;
  /** Null of an entry that is no update. */
  version: number | null;
  changes: Differences | null;
}

/** $1 = id, $2 = type, $3 = caller id. The newest changes of an item, if the caller is a member of its team. */
const statement = defineStatement({
  name: 'newest_changes',
  text: /* sql */ `
    select a.action, a.user_id, (a.details::jsonb->>'version')::int as version, a.details::jsonb->'changes' as changes
    from audit_entries a
    where a.team_id = (
        select p.team_id from item_place p join memberships m on m.team_id = p.team_id and m.user_id = $3::uuid where p.item_id = $1
      )
      and a.entity_id = $1 and a.entity_type = $2 and a.action in ('update', 'delete', 'restore') and a.feature <> 'custom_fields'
    order by a.timestamp desc, a.audit_id desc limit 60`,
});

/** It follows from the status, with another time at each change. */
const FOLLOWS = 'completed_at';

/** Returns whether several changes, oldest first, leave every field as it was. */
function areNothing(changes: readonly Differences[]): boolean {
  const net = new Map<string, { from: unknown; to: unknown }>();
  for (const [field, change] of changes.flatMap((each) => Object.entries(each))) {
    if (field === FOLLOWS) continue;
    if (!('from' in change)) return false;
    net.set(field, { from: net.has(field) ? net.get(field)?.from : change.from, to: change.to });
  }
  return [...net.values()].every(({ from, to }) => isDeepStrictEqual(from, to));
}

/**
 * Returns whether an item is as it was at a version: all changes between that and the present one have been undone. False if they are too many, or not all
 * known, or if another user changed what the version had changed: they decided twice, and left it so. Going to the trash and coming back count as nothing.
 */
export async function isAsAtVersion(ctx: Context, { type, id, version }: ItemVersion, present: number): Promise<boolean> {
  const me = requireUser(ctx);
  const entries = await run<Entry>(ctx.db, statement, [id, type, me]);
  const start = entries.findIndex((entry) => entry.version !== null && entry.version <= version);
  const since = start < 0 ? entries : entries.slice(0, start);
  if (since.length !== present - version) return false;
  const changed = Object.keys(entries[start]?.changes ?? {});
  const isDecided = ({ user_id, changes }: Entry): boolean => user_id !== me && changed.some((field) => field in (changes ?? {}));
  if (since.some(isDecided)) return false;
  return areNothing(since.flatMap(({ changes }) => (changes === null ? [] : [changes])).toReversed());
}
