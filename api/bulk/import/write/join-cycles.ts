import { Id } from '../../../platform/fields.js';
import { lockCycles } from '../../../work/cycles/read-cycle.js';
import { mayHold } from '../../../work/cycles/rules.js';
import { moveTasks } from '../../../work/cycles/tasks/move-tasks.js';
import { defineStatement, run } from '../../../../db/statement.js';
import type { Batch, Row } from './batch.js';
import { Refusal, withSavepoint } from './savepoint.js';

interface Member {
  row: Row<'task'>;
  id: string;
}

/** $1 = task ids, $2 = team id. In id order; they are new, or were locked by their update. */
const projectsStatement = defineStatement({
  name: 'projects_of_imported_tasks',
  text: /* sql */ `
    select t.task_id, t.project_id from tasks t where t.task_id = any($1::text[]) and t.team_id = $2 and t.deleted_at is null
    order by t.task_id for no key update`,
});

/** Puts tasks into their cycles. A cycle that cannot take one is a note: the task is there. */
export async function joinCycles({ ctx, refs, result, team_id }: Batch, tasks: readonly Member[]): Promise<void> {
  const byCycle = new Map<string, Member[]>();
  for (const task of tasks) {
    const { cycle_id: ref } = task.row.record;
    if (ref == null) continue;
    const id = Id.parse(refs.getId(['cycle'], ref));
    byCycle.set(id, [...(byCycle.get(id) ?? []), task]);
  }
  if (byCycle.size === 0) return;
  // The lock waits for the cycles of other teams, so those are not asked for.
  const own = await cyclesOfTeam(ctx.db, team_id, [...byCycle.keys()]);
  const cycles = await lockCycles(ctx, own.toSorted());
  const ids = [...byCycle.values()].flat().map(({ id }) => id);
  const rows = await run<{ task_id: string; project_id: string }>(ctx.db, projectsStatement, [ids, team_id]);
  const projects = new Map(rows.map(({ task_id, project_id }) => [task_id, project_id]));
  for (const [cycleId, members] of [...byCycle].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const cycle = cycles.get(cycleId);
    const fitting = members.filter(({ row, id }) => {
      const project_id = projects.get(id);
      if (!cycle) result.noted(row, 'The cycle was not found; the task is in none');
      else if (cycle.status === 'completed') result.noted(row, 'The cycle is completed; the task is in none');
      else if (project_id !== undefined && mayHold(cycle, { team_id, project_id })) return true;
      else result.noted(row, 'The cycle belongs to another project; the task is in none');
      return false;
    });
    const moved = await withSavepoint(ctx, (ctx) =>
      moveTasks(
        ctx,
        fitting.map(({ id }) => id),
        { team_id, to: cycleId },
      ),
    );
    if (moved instanceof Refusal) for (const { row } of fitting) result.noted(row, `${moved.message}; the task is in none`);
  }
}

/** $1 = cycle ids, $2 = team id. */
const ownStatement = defineStatement({
  name: 'cycles_of_import',
  text: 'select c.cycle_id from cycles c where c.cycle_id = any($1::uuid[]) and c.team_id = $2',
});

async function cyclesOfTeam(db: Parameters<typeof run>[0], teamId: string, ids: string[]): Promise<string[]> {
  return (await run<{ cycle_id: string }>(db, ownStatement, [ids, teamId])).map(({ cycle_id }) => cycle_id);
}
