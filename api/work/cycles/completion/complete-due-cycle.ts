import type { CycleView } from '../../../../workflows/contracts/cycle-contract.js';
import { run } from '../../../../db/statement.js';
import { type Context, inTransaction, type Services, serviceContext } from '../../../platform/context.js';
import { DomainError } from '../../../platform/errors.js';
import { beginCycle, hasActive } from '../begin-cycle.js';
import { lockTeam, planNext } from '../plan-cycle.js';
import { findNextCycle, findRecord, type LockedCycle, lockCycles } from '../read-cycle.js';
import { lockTasksOfCycleStatement } from '../tasks/tasks-of-cycle.sql.js';
import { closeCycle } from './close-cycle.js';
import { viewCycleStatement } from './due-cycles.sql.js';

interface Row extends Record<string, unknown> {
  number: number;
  status: 'planned' | 'active' | 'completed';
  completed_at: Date | null;
  carried_over: number | null;
  due_at: Date | null;
  ms_left: number | null;
  is_trashed: boolean;
  tasks: number;
  done: number;
  repeats: boolean;
  team_id: string;
  project_id: string | null;
  cause_user_ids: string[];
  correlation_id: string;
}

async function readRow({ db }: Pick<Services, 'db'>, cycleId: string): Promise<Row | undefined> {
  const [row] = await run<Row>(db, viewCycleStatement, [cycleId]);
  return row;
}

const isDue = (row: Row | undefined): row is Row => row?.due_at != null && row.ms_left === 0 && !row.is_trashed;

/**
 * Context of the service, which stands for nobody. Who planned, started or dated the cycle caused what follows from its completion
 * (docs/decisions/work.md#cycle-clocks).
 */
function clockContext(services: Services, { cause_user_ids, correlation_id }: Row): Context {
  const ctx = serviceContext(services, 'cycles', correlation_id);
  return { ...ctx, actor: { type: 'system', name: 'cycles', causeUserIds: cause_user_ids } };
}

/** Returns the id of the cycle that follows one that repeats, planned now if need be; null if nothing follows. */
async function planFollower(ctx: Context, cycleId: string, { team_id, cause_user_ids }: Row): Promise<string | null> {
  if (!(await lockTeam(ctx, team_id))) return null;
  return planNext(ctx, { ...(await findRecord(ctx, cycleId)), cause_user_ids });
}

/** Starts the cycle that follows one that repeats, unless its first day is later. */
async function beginNext(ctx: Context, next: LockedCycle | undefined): Promise<void> {
  if (next?.status !== 'planned' || (next.start_date ?? '') > new Date().toISOString().slice(0, 10)) return;
  if (!(await hasActive(ctx, next))) await beginCycle(ctx, next, []);
}

/** The row of a cycle is another one than what its completion began with: nothing of that is kept. */
class Changed extends Error {}

/**
 * Completes a due cycle in one transaction. @throws Changed its row has changed before the lock. `toNext`: open tasks go to the next cycle, if there is one. If it
 * repeats, the next cycle begins.
 */
function completeIfDue(ctx: Context, cycleId: string, row: Row, toNext: boolean): Promise<void> {
  return inTransaction(ctx, async (ctx) => {
    const next = row.repeats ? await planFollower(ctx, cycleId, row) : await findNextCycle(ctx, row);
    const locked = await lockCycles(ctx, next === null ? [cycleId] : [cycleId, next]);
    const cycle = locked.get(cycleId);
    const now = await readRow(ctx, cycleId);
    if (!cycle || !isDue(now) || now.repeats !== row.repeats) throw new Changed();
    const target = toNext && next !== null && locked.get(next)?.status === 'planned' ? next : null;
    await run(ctx.db, lockTasksOfCycleStatement, [cycleId]);
    await closeCycle(ctx, cycle, { target, includeParents: false });
    if (row.repeats && next !== null) await beginNext(ctx, locked.get(next));
  });
}

const NOTHING = { number: 0, dueAt: null, msLeft: 0, tasks: 0, done: 0, carriedOver: null, completedAt: null };

function toView(row: Row | undefined): CycleView {
  if (!row) return { ...NOTHING, state: 'gone' };
  const { number, tasks, done, due_at, ms_left, completed_at } = row;
  const counts = { number, tasks, done, carriedOver: row.carried_over, completedAt: completed_at?.toISOString() ?? null };
  if (due_at === null) return { ...NOTHING, ...counts, state: row.status === 'completed' ? 'completed' : 'off' };
  const dueAt = due_at.toISOString();
  return { ...counts, dueAt, msLeft: ms_left ?? 0, state: row.is_trashed ? 'resting' : 'waiting' };
}

/**
 * Completes a cycle whose last day is over, and returns its state. Open tasks go to the next cycle, else to the backlog, also if the next
 * one has no room for them. May be repeated.
 */
export async function completeDueCycle(services: Services, cycleId: string): Promise<CycleView> {
  const row = await readRow(services, cycleId);
  if (!isDue(row)) return toView(row);
  const ctx = clockContext(services, row);
  await completeIfDue(ctx, cycleId, row, true)
    .catch((error: unknown) => {
      if (!(error instanceof DomainError && error.code === 'RESOURCE_CONFLICT')) throw error;
      return completeIfDue(ctx, cycleId, row, false);
    })
    .catch((error: unknown) => {
      if (!(error instanceof Changed)) throw error;
    });
  return toView(await readRow(services, cycleId));
}
