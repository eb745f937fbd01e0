import { run } from '../../db/statement.js';
import { authorize, isAllowed } from '../platform/access/access.js';
import { type Context, requireUser } from '../platform/context.js';
import { invalid } from '../platform/errors.js';
import { findSeat } from '../platform/access/seats.js';
import type { DecisionFigures, ReadFigures } from './schema.js';
import { figuresStatement } from './figures.sql.js';

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;
const MAX_DAYS = 366;

/**
 * Returns how many decisions ended in a span of time, and how long they waited, by what asked or by who decided. Each user sees their own decisions; those
 * of others are for managers.
 * @throws PERMISSION_DENIED no member of the team | INVALID_REQUEST a span that is empty or longer than a year
 */
export async function readFigures(ctx: Context, { team_id, from, to, by }: ReadFigures): Promise<DecisionFigures> {
  const seat = team_id === undefined ? null : await findSeat(ctx, team_id);
  if (team_id !== undefined) authorize('automation.read', seat);
  const end = to === undefined ? Date.now() : Date.parse(to);
  const start = from === undefined ? end - DEFAULT_DAYS * DAY_MS : Date.parse(from);
  if (start >= end || end - start > MAX_DAYS * DAY_MS) throw invalid(`from must be before to, by at most ${MAX_DAYS} days`);
  const span = [new Date(start).toISOString(), new Date(end).toISOString()];
  const all = isAllowed('automation.manage', seat);
  const rows = await run<DecisionFigures['figures'][number] & Record<string, unknown>>(ctx.db, figuresStatement, [
    team_id ?? null,
    requireUser(ctx),
    ...span,
    by,
    all,
  ]);
  return { from: span[0] as string, to: span[1] as string, by, figures: rows };
}
