import { run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import { isUuid } from '../../platform/ids.js';
import type { Names } from '../../gate/staging/present.js';
import { namesOfTeamsStatement } from './names-at.sql.js';

/** Ids that a decision names, and where: the team of a run, or the user of a personal one. */
export interface Wanted {
  place: string;
  items: readonly string[];
  users: readonly string[];
}

interface NameRow extends Record<string, unknown> {
  place: string;
  id: string;
  name: string;
}

/** Returns the names of items and users for each place, from the database: an event may say anything. Only what the place may read has one. */
export async function namesAt(ctx: Pick<Context, 'db'>, wanted: readonly Wanted[]): Promise<Names[]> {
  const pairs = (listIds: (one: Wanted) => readonly string[]): [string[], string[]] => {
    const all = wanted.flatMap((one) => listIds(one).map((id): [string, string] => [one.place, id]));
    return [all.map(([place]) => place), all.map(([, id]) => id)];
  };
  const values = [...pairs(({ items }) => items), ...pairs(({ users }) => users.filter(isUuid))];
  if (values.every((list) => list.length === 0)) return wanted.map(() => ({}));
  const rows = await run<NameRow>(ctx.db, namesOfTeamsStatement, values);
  // Not by assignment: an id may be `__proto__`.
  return wanted.map(({ place }) =>
    Object.fromEntries(rows.filter((row) => row.place === place).map(({ id, name }) => [id, name])),
  );
}
