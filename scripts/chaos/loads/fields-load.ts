import { v7 as uuidv7 } from 'uuid';
import { type Desk, surprise } from '../desk.js';

/** Sets a number on a task of the quiet project; the value of a task that just went to the trash is a 404. Repetitions set the same. */
export async function workOnFields(desk: Desk): Promise<void> {
  const { caller, world, ledger, random } = desk;
  const tasks = ledger.tasks.filter(({ trashed, project_id }) => !trashed && project_id === world.quiet);
  if (tasks.length === 0) return;
  const entity_id = random.pick(tasks).task_id;
  const field_id = random.pick(world.fields);
  const value = random.chance(0.2) ? null : random.between(1, 1_000_000);
  const body = { field_id, entity_type: 'task', entity_id, value };
  const answer = await caller.untilKnown({ method: 'PUT', path: '/api/custom-fields/values', token: world.member, body });
  if (!answer || answer.status === 404) return;
  if (answer.status !== 200) return surprise(desk, 'set a field', answer);
  const others = ledger.values.filter((each) => each.field_id !== field_id || each.entity_id !== entity_id);
  ledger.values = [...others, { field_id, entity_id, value }];
}

/** Saves a shared view, renames it, makes it the default, and deletes some. */
export async function workOnViews(desk: Desk): Promise<void> {
  const { caller, world, ledger, random } = desk;
  const name = `view ${uuidv7()}`;
  const answer = await caller.untilKnown({
    method: 'POST',
    path: '/api/saved-views',
    token: world.member,
    headers: { 'idempotency-key': uuidv7() },
    body: { name, entity_type: 'task', team_id: world.teamId, is_shared: true, filters: { status: ['todo'] } },
  });
  if (!answer) return;
  if (answer.status !== 201) return surprise(desk, 'save a view', answer);
  const { view_id } = answer.body as { view_id: string };
  const view = { view_id, name, deleted: false };
  ledger.views.push(view);
  const path = `/api/saved-views/${view_id}`;
  const renamed = `${name}, renamed`;
  const changed = await caller.untilKnown({ method: 'PATCH', path, token: world.member, body: { name: renamed } });
  if (changed?.status === 200) view.name = renamed;
  else if (changed) surprise(desk, 'rename a view', changed);
  const chosen = await caller.untilKnown({ method: 'POST', path: `${path}/default`, token: world.member });
  if (chosen && chosen.status !== 200) surprise(desk, 'choose a default', chosen);
  const read = await caller.untilKnown({ method: 'GET', path: `${path}/results?limit=5`, token: world.manager });
  if (read && read.status !== 200) surprise(desk, 'read a view', read);
  // A person has at most 200 of them.
  if (random.chance(0.1)) return;
  const deleted = await caller.untilKnown({ method: 'DELETE', path, token: world.member });
  if (!deleted) return;
  if (deleted.status === 200 || (deleted.status === 404 && deleted.attempts > 1)) view.deleted = true;
  else surprise(desk, 'delete a view', deleted);
}
