import { createField, setFields } from '../../../factories/custom-fields.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../../factories/people.js';
import { type KillableRelay, openRelay } from '../../../outbox/support.js';
import { startApp, type TestApp } from '../../../support/app.js';

// Conditions name the stages of a team, and the fields that it defines, as the team does.

let app: TestApp;
let relay: KillableRelay;
let team: TestTeam;
let project: { project_id: string };
beforeAll(async () => {
  app = await startApp();
  relay = openRelay(app);
});
afterAll(async () => {
  await relay.close();
  await app.close();
});
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
});

const addStage = async (name: string, status = 'in_review', where = team): Promise<string> =>
  (await app.as(where.manager).post('/api/stages', { team_id: where.team_id, name, status })).body.stage_id;
const automate = async (trigger_type: string, condition: string): Promise<string> => {
  const actions = [{ type: 'add_comment', params: { content: 'In {{event.task.stage}}' } }];
  const body = { name: 'Any', team_id: team.team_id, trigger_type, condition, actions, is_active: true };
  const made = await app.as(team.member).post('/api/automations', body);
  expect(made.status).toBe(201);
  return made.body.automation_id;
};
const patch = async (task_id: string, fields: object) => {
  expect((await app.as(team.member).patch(`/api/tasks/${task_id}`, fields)).status).toBe(200);
  await relay.drain();
};
const runsOf = (automation_id: string) => app.services.db('automation_runs').where({ automation_id }).orderBy('queued_at');

it('starts by a move to a stage, named before and after, and by no other change', async () => {
  const [review, qa] = [await addStage('Code review'), await addStage('In QA')];
  const moved = await automate('task.stage_changed', 'event.task.stage == "In QA" && event.changes.stage.from == "Code review"');
  const left = await automate('task.stage_changed', 'event.changes.stage.from == "In QA" && event.changes.stage.to == null');
  const { task_id } = await buildTask(app, team, project, { stage_id: review });
  await patch(task_id, { title: 'Another title' });
  expect(await runsOf(moved)).toEqual([]);

  await patch(task_id, { stage_id: qa });
  const [run] = await runsOf(moved);
  expect(run).toMatchObject({
    status: 'queued',
    event: { task: { stage: 'In QA' }, changes: { stage: { from: 'Code review', to: 'In QA' } } },
  });

  await patch(task_id, { status: 'done' });
  expect((await runsOf(left)).map(({ status }) => status)).toEqual(['queued']);
});

it('judges the values of custom fields by their keys; one without a value is null', async () => {
  const severity = await createField(app, team, 'select', { name: 'Severity' });
  const gone = await createField(app, team, 'text', { name: 'Old note' });
  await createField(app, team, 'multi_select', { name: 'Areas' });
  const high = await automate(
    'task.updated',
    'event.task.custom_fields.severity == "high" && event.task.custom_fields.areas == null',
  );
  const { task_id } = await buildTask(app, team, project, {});
  await setFields(app, team, [{ field: gone, task_id, value: 'x'.repeat(2_000) }]);
  await patch(task_id, { title: 'One' });
  expect(await app.services.db('skipped_runs').where({ automation_id: high })).toMatchObject([{ condition_error: null }]);
  await setFields(app, team, [{ field: severity, task_id, value: 'high' }]);
  await patch(task_id, { title: 'Two' });
  const [run] = await runsOf(high);
  // A long text is given by its beginning.
  expect(run).toMatchObject({
    status: 'queued',
    event: { task: { custom_fields: { severity: 'high', old_note: 'x'.repeat(250) } } },
  });

  // An archived field has no value for conditions.
  await app.as(team.manager).patch(`/api/custom-fields/${gone.field_id}`, { is_archived: true });
  await patch(task_id, { title: 'Three' });
  const last = (await runsOf(high)).at(-1);
  expect(Object.keys(last?.event.task.custom_fields).sort()).toEqual(['areas', 'severity']);
});

it('a stage that is deleted has no name, and the event stays', async () => {
  const qa = await addStage('In QA');
  const any = await automate('task.stage_changed', 'event.task.stage == null');
  const { task_id } = await buildTask(app, team, project, { stage_id: qa });
  // The stage is deleted before the relay reads what its deletion changed.
  expect((await app.as(team.manager).delete(`/api/stages/${qa}`)).status).toBe(200);
  await relay.drain();
  expect(await runsOf(any)).toMatchObject([
    { status: 'queued', event: { task: { task_id }, changes: { stage: { from: null, to: null } } } },
  ]);
});

it('says nothing of the fields and stages of another team', async () => {
  const other = await buildTeam(app);
  const foreign = await createField(app, other, 'text', { name: 'Secret' });
  const all = await automate('task.updated', 'true');
  const { task_id } = await buildTask(app, team, project, {});
  await patch(task_id, { title: 'One' });
  const [run] = await runsOf(all);
  expect(run?.event.task.custom_fields).toEqual({});
  expect(JSON.stringify(run)).not.toContain(foreign.key);
});
