import { run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';
import { readCycle } from '../read-cycle.js';
import type { CycleReport, Figures } from '../schema.js';
import { figuresStatement } from './figures.sql.js';

const NOTHING: Figures = {
  committed: 0,
  added: 0,
  completed: 0,
  carried_over: 0,
  points: { committed: 0, completed: 0 },
  days: [],
};

/** Reads figures and burn-down of a started cycle. `areStaysClosed`: it is being completed. */
export async function readFigures({ db }: Pick<Context, 'db'>, cycleId: string, areStaysClosed: boolean): Promise<Figures> {
  const [row] = await run<{ figures: Figures }>(db, figuresStatement, [cycleId, areStaysClosed]);
  return row?.figures ?? NOTHING;
}

/**
 * Returns the figures of a cycle with its burn-down: those of now while it is active, those of its completion afterwards.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED not a member
 */
export async function getReport(ctx: Context, cycleId: string): Promise<CycleReport> {
  const cycle = await readCycle(ctx, 'cycle.read', cycleId);
  if (cycle.status === 'planned') return { cycle, ...NOTHING };
  return { cycle, ...(cycle.snapshot ?? (await readFigures(ctx, cycleId, false))) };
}
