import { Cycle as CycleRow } from '../../../../db/models/cycle.js';
import { defineStatement, run } from '../../../../db/statement.js';
import { normaliseDate } from '../../../platform/dates.js';
import { notFound } from '../../../platform/errors.js';
import { freezePastFigures } from '../../../work/cycles/completion/freeze-past-figures.js';
import { createCycle } from '../../../work/cycles/create-cycle.js';
import { lockCycle } from '../../../work/cycles/read-cycle.js';
import { recordCycleChange } from '../../../work/cycles/record-cycle-change.js';
import { startCycle } from '../../../work/cycles/start-cycle.js';
import { updateCycle } from '../../../work/cycles/update-cycle.js';
import { UpdateCycle } from '../../../work/cycles/schema.js';
import type { Context } from '../../../platform/context.js';
import type { RecordOf } from '../records/schemas.js';
import type { Row, Write } from './batch.js';
import { shown } from '../importers/foreign.js';
import { createdByJob } from './created-by-job.js';
import { given } from './given.js';
import { knownRecords } from './known-ids.js';
import { writeOneByOne } from './one-by-one.js';
import { placesOfProjects } from './projects-of-team.js';
import { Refusal, withSavepoint } from './savepoint.js';

/** Writes cycles as planned ones; `setCycleStates` starts and completes them when their tasks are in. */
export const writeCycles: Write = async (batch, rows) => {
  const { refs } = batch;
  const projects = rows.map(({ record }) => record['project_id'] as string | null | undefined);
  await refs.load(['project'], projects);
  const live = await placesOfProjects({ ...batch, project_id: null }, projects);
  return writeOneByOne(batch, rows, {
    kind: 'cycle',
    name: 'cycle',
    getRef: ({ cycle_id }) => cycle_id,
    getType: () => 'cycle',
    find: (ids) => knownRecords(batch.ctx, 'cycle', batch.team_id, ids),
    async create(ctx, { record }, id) {
      const { cycle_id: _ref, project_id: ref, ...cycle } = record;
      const project_id = ref == null ? null : refs.getId(['project'], ref);
      if (project_id !== null && !live.has(project_id)) throw notFound('Project');
      await createCycle(ctx, { ...cycle, team_id: batch.team_id, project_id }, id);
      return { id, isNew: true };
    },
    async update(ctx, { record }, id) {
      const before = await CycleRow.query(ctx.db).findById(id);
      const { team_id: _team, project_id: _project, ...fields } = given(UpdateCycle, record);
      await updateCycle(ctx, id, fields);
      const after = await CycleRow.query(ctx.db).findById(id);
      return before?.updated_at.getTime() !== after?.updated_at.getTime();
    },
  });
};

/** $1 = cycle id, $2 = snapshot (jsonb), $3 = start, $4 = completion. */
const completeStatement = defineStatement({
  name: 'complete_imported_cycle',
  text: /* sql */ `
    update cycles set status = 'completed', snapshot = $2::jsonb, started_at = $3::timestamptz, completed_at = $4::timestamptz,
      updated_at = now() where cycle_id = $1`,
});

/** Returns a time of the file; the other one if it has none that is valid. */
const toMoment = (text: string | null | undefined, otherwise: string): string => normaliseDate(text ?? '') ?? otherwise;

/** Completes a planned cycle with the figures of the file, else with those of its tasks, which stay as they are. */
async function complete(
  ctx: Context,
  cycleId: string,
  { snapshot, started_at, completed_at }: RecordOf<'cycle_state'>,
): Promise<void> {
  const cycle = await lockCycle(ctx, cycleId);
  if (cycle.status !== 'planned') return;
  const completed = toMoment(completed_at, new Date().toISOString());
  const started = toMoment(started_at, completed);
  await run(ctx.db, completeStatement, [cycleId, JSON.stringify(snapshot ?? {}), started, completed]);
  if (snapshot == null) await freezePastFigures(ctx, cycleId);
  await recordCycleChange(ctx, cycle, 'complete', {
    summary: 'completed the cycle',
    details: { imported: true },
  });
}

/** Starts or completes cycles that this import has created. */
export const setCycleStates: Write = async (batch, rows) => {
  const { ctx, refs, result, isForeign } = batch;
  const typed = rows as unknown as Row<'cycle_state'>[];
  await refs.load(
    ['cycle'],
    typed.map(({ record }) => record.cycle_id),
  );
  const ids = typed.map(({ record }) => refs.getId(['cycle'], record.cycle_id));
  const created = await createdByJob(batch, 'cycle', ids);
  const past: Row<'cycle_state'>[] = [];
  for (const [at, row] of typed.entries()) {
    const id = ids[at] as string;
    if (!created.has(id)) continue;
    const { record } = row;
    const set = await withSavepoint(ctx, async (ctx) => {
      if (record.status === 'active') return startCycle(ctx, id);
      return complete(ctx, id, record);
    });
    if (set instanceof Refusal) result.noted(row, `The cycle stays planned: ${set.message}`);
    else if (set && isForeign) result.noted(row, `The cycle ${shown(set.name)} was started: its dates include today`);
    else if (isForeign) past.push(row);
  }
  const [first] = past;
  if (!first) return;
  const what = past.length === 1 ? '1 cycle was' : `${past.length.toLocaleString('en-US')} cycles were`;
  result.noted(first, `${what} completed, with the tasks in it: the dates are past`);
};
