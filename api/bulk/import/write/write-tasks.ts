import { DomainError } from '../../../platform/errors.js';
import { newId } from '../../../platform/ids.js';
import { findStages } from '../../../work/tasks/stages/find-stages.js';
import { expectAssignees } from '../../../work/tasks/write/expect-assignee.js';
import { byTaskId, type Draft, type NewTask, writeNewTasks } from '../../../work/tasks/write/write-new-tasks.js';
import type { Batch, Row, Write } from './batch.js';
import { knownItems, type KnownRecord } from './known-ids.js';
import { existsMessage } from './one-by-one.js';
import { keepableId } from './refs.js';
import { toRefusal } from './savepoint.js';
import { findPlaces, getPlace, type TaskPlace, type TaskPlaces } from './task-places.js';
import { takeNumbers } from '../prepare/take-numbers.js';
import { joinCycles } from './join-cycles.js';
import { storeFields } from './store-fields.js';
import { settleTask } from './update-tasks.js';

/** A row that becomes a new task, with its id. */
interface NewRow {
  row: Row<'task'>;
  ref: string | null | undefined;
  id: string;
  place: TaskPlace;
}

/** Rows of a chunk by what is done with them. */
interface SortedRows {
  fresh: { row: Row<'task'>; ref: string | null | undefined; id: string }[];
  known: { row: Row<'task'>; ref: string | null | undefined; found: KnownRecord }[];
  /** Repeat an id of the same chunk: they come after it. */
  repeated: Row<'task'>[];
}

/** Decides by their ids which rows are new. An id of another team is replaced, and nothing is said about it. */
async function sortRows({ ctx, refs, team_id }: Batch, rows: readonly Row<'task'>[]): Promise<SortedRows> {
  const all = rows.map((row) => {
    const ref = row.record.task_id;
    const mapped = refs.find('task', ref);
    return { row, ref, mapped, id: mapped ?? keepableId('task', ref) };
  });
  const items = await knownItems(
    ctx,
    team_id,
    all.map(({ id }) => id),
  );
  const sorted: SortedRows = { fresh: [], known: [], repeated: [] };
  const taken = new Set<string>();
  for (const { row, ref, id } of all) {
    const found = items.get(id);
    if (found && found.type !== null) sorted.known.push({ row, ref, found });
    else if (ref != null && taken.has(ref)) sorted.repeated.push(row);
    else {
      sorted.fresh.push({ row, ref, id: found ? newId() : id });
      if (ref != null) taken.add(ref);
    }
  }
  return sorted;
}

const buildDraft = ({ row: { record }, id, place }: NewRow, index: number, number: number | undefined): Draft => {
  const {
    series_id: _series,
    occurrence_index: _occurrence,
    cycle_id: _cycle,
    fields: _fields,
    expected_assignee: _who,
    ...task
  } = record;
  const fields: NewTask = { ...task, ...place, recurrence: remaining(record), task_id: id, number };
  return { index, fields };
};

/** A rule that counts its occurrences continues with those that are left. */
function remaining({ recurrence, occurrence_index }: Row<'task'>['record']): NewTask['recurrence'] {
  if (recurrence?.count == null || occurrence_index == null) return recurrence ?? null;
  return { ...recurrence, count: Math.max(1, recurrence.count - occurrence_index + 1) };
}

/** Places in the manual order between two lines of a file. */
const PLACE_STEP = 0.000_001;

/** Places the tasks of a foreign file in its order, behind those that are there: the times of their creation say nothing of it. */
const inOrder = ({ isForeign, place }: Batch, row: Row<'task'>): Row<'task'> =>
  isForeign ? { ...row, record: { ...row.record, position: place + row.line * PLACE_STEP } } : row;

/** Creates tasks in one statement, as POST /api/tasks/bulk does; one that is refused leaves the others. Returns those that were created. */
async function createTasks(batch: Batch, fresh: readonly NewRow[]): Promise<NewRow[]> {
  const { ctx, team_id, refs, result } = batch;
  if (fresh.length === 0) return [];
  // The statement writes in any order.
  const open = fresh.filter(({ row }) => row.number === undefined);
  const numbers = await takeNumbers(
    ctx,
    team_id,
    open.map(({ id }) => id),
  );
  const byRow = new Map(open.map(({ row }, at) => [row, numbers[at] ?? undefined]));
  const drafts = fresh.map((one, index) =>
    buildDraft({ ...one, row: inOrder(batch, one.row) }, index, one.row.number ?? byRow.get(one.row)),
  );
  const outcomes = await writeNewTasks(ctx, drafts.sort(byTaskId));
  return fresh.filter((one, index) => {
    const { row, ref, id } = one;
    const outcome = outcomes.get(index);
    if (outcome instanceof DomainError) result.failed(row, toRefusal(outcome)?.message ?? outcome.message);
    // Another request has taken the id since it was looked up.
    else if (!outcome?.created) result.failed(row, existsMessage('The task'));
    else {
      refs.set('task', ref, id);
      result.created(row, { ref, id });
      return true;
    }
    return false;
  });
}

/** Keeps a stage that the team has, with the status of the task: a file may come from another team, and a stage may be deleted while it is imported. */
async function fitStages({ ctx, team_id }: Batch, tasks: readonly Row<'task'>[]): Promise<void> {
  const staged = tasks.filter(({ record }) => record.stage_id != null);
  if (staged.length === 0) return;
  const stages = new Map((await findStages(ctx, [team_id])).map((stage) => [stage.stage_id, stage]));
  for (const { record } of staged) {
    const stage = stages.get(record.stage_id as string);
    if (!stage || stage.status !== (record.status ?? stage.status) || record.resolution != null) delete record.stage_id;
  }
}

function placed(batch: Batch, places: TaskPlaces, fresh: SortedRows['fresh']): NewRow[] {
  return fresh.flatMap((one) => {
    const place = getPlace(batch, places, one.row);
    if (typeof place !== 'string') return [{ ...one, place }];
    batch.result.failed(one.row, place);
    return [];
  });
}

/** Keeps who gets tasks of the file when they join. */
function expectThem({ ctx, team_id }: Batch, tasks: readonly Pick<NewRow, 'row' | 'id'>[]): Promise<void> {
  const expected = tasks.flatMap(({ row: { record }, id }) =>
    record.expected_assignee == null ? [] : [{ task_id: id, email: record.expected_assignee }],
  );
  return expectAssignees(ctx, team_id, expected);
}

/** Writes tasks whose parents have been written before. */
export const writeTasks: Write = async (batch, rows) => {
  const { refs } = batch;
  const tasks = rows as unknown as Row<'task'>[];
  const named = (field: 'task_id' | 'parent_task_id' | 'project_id' | 'cycle_id') => tasks.map(({ record }) => record[field]);
  await refs.load(['task'], [...named('task_id'), ...named('parent_task_id')]);
  await refs.load(['project'], named('project_id'));
  await refs.load(['cycle'], named('cycle_id'));
  await fitStages(batch, tasks);
  const places = await findPlaces(batch, tasks);
  for (let open = tasks; open.length > 0; ) {
    const { fresh, known, repeated } = await sortRows(batch, open);
    const created = await createTasks(batch, placed(batch, places, fresh));
    const updated = [];
    for (const { row, ref, found } of known) {
      if (await settleTask(batch, places, row, found, ref)) updated.push({ row, id: found.id });
    }
    await storeFields(batch, created);
    await expectThem(batch, [...created, ...updated]);
    await joinCycles(batch, [...created, ...updated]);
    open = repeated;
  }
};
