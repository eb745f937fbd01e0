/** Questions about what was done: from the activity feed, in the zone of the person, and only of their teams. */
import { performAction } from '../../../api/automation/runs/execution/perform-action.js';
import { buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../../factories/people.js';
import { buildRun } from '../../factories/runs.js';
import { startApp, type TestApp } from '../../support/app.js';
import { pretendWorker, talk } from './talk.js';

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let task: { task_id: string };
const db = () => app.services.db;
const name = (person: Person, display_name: string) =>
  db()('users').where({ user_id: person.user_id }).update({ display_name, name: display_name });
const patch = (person: Person, id: string, body: object) => app.as(person).patch(`/api/tasks/${id}`, body);

beforeAll(async () => {
  app = await startApp();
  await pretendWorker(app);
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team, { name: 'Harbor' });
  task = await buildTask(app, team, project, { title: 'Order wheels' });
  await name(team.manager, 'Cara Voss');
  await patch(team.manager, task.task_id, { status: 'done', priority: 'high' });
});

it('tells what a member did today, in words with the values that changed', async () => {
  const say = await talk(app, team.member, task.task_id);
  const { content, mentions } = await say('what did Cara do today?');
  expect(content).toMatch(
    /^1 change by Cara Voss on \w+, .* \(UTC\):\n- \d\d:\d\d Cara Voss changed .*status from to do to done.*: “Order wheels”$/,
  );
  expect(content).toContain('priority from medium to high');
  expect(mentions).toEqual([{ item_id: task.task_id, title: 'Order wheels' }]);
  expect((await say('what did Cara do yesterday?')).content).toMatch(/^I know of no change by Cara Voss on /);
  expect((await say('what did Zoe do today?')).content).toContain('is called “zoe”');
});

it('tells what automations changed, apart from what people did, and only of the teams of the person', async () => {
  const change = { type: 'update_task', params: { task_id: task.task_id, priority: 'low' } };
  const run = await buildRun(app, team, { actions: [change], status: 'running', statuses: ['pending'], gateIndex: 99 });
  await performAction(app.services, { runId: run.run_id, incarnation: 1, execution: 'an-execution' }, 0);
  const say = await talk(app, team.manager);
  const { content, mentions } = await say('which tasks did an automation change today?');
  expect(content).toMatch(
    /^1 change by automations on \w+, .* \(UTC\):\n- \d\d:\d\d .+ \(by the automation “Deploy on merge”\) changed priority from high to low: “Order wheels”$/,
  );
  expect(mentions).toEqual([{ item_id: task.task_id, title: 'Order wheels' }]);
  expect((await say('what did automations change yesterday?')).content).toMatch(/^I know of no change by automations on /);
  const stranger = await buildTeam(app);
  const outside = await (await talk(app, stranger.admin))('what did automations change this week?');
  expect(outside.content).toMatch(/^I know of no change by automations /);
});

it('tells who closed a task, and what happened in a project', async () => {
  const say = await talk(app, team.member, { item_type: 'project', item_id: project.project_id });
  expect((await say('who closed the wheels?')).content).toMatch(
    /^Cara Voss closed “Order wheels” on \w{3},? \d+ \w+,? \d\d:\d\d\.$/,
  );
  expect((await say('who reopened the wheels?')).content).toBe('The activity does not tell that “Order wheels” was reopened.');
  expect((await say('what happened today in Harbor?')).content).toMatch(
    /: 1 created, 1 done\n\n2 changes in the project “Harbor” on /,
  );
  expect((await say('what changed since yesterday?')).content).toMatch(/^2 changes since /);
  expect((await say('what happened to the wheels?')).content).toMatch(/^2 changes to the task “Order wheels” so far/);
});

it('tells nothing of a team that the person is not in, or that the session is not about', async () => {
  const [stranger, second] = [await buildTeam(app), await buildTeam(app)];
  await db()('memberships').insert({ team_id: second.team_id, user_id: team.member.user_id, role: 'member' });
  for (const other of [stranger, second]) await buildTask(app, other, await buildProject(app, other), { title: 'Elsewhere' });
  const say = await talk(app, team.member, task.task_id);
  expect((await say('what happened today?')).content).not.toContain('Elsewhere');
  const everywhere = await (await talk(app, team.member))('what happened today?');
  expect(everywhere.content.match(/Elsewhere/g)).toHaveLength(1);
});

it('a day is that of the person: what was done at midnight belongs to it or not by the zone', async () => {
  const at = new Date(Date.UTC(2026, 0, 10, 23, 30));
  await db()('users')
    .where({ user_id: team.member.user_id })
    .update({ preferences: JSON.stringify({ timezone: 'Asia/Tokyo' }) });
  const hex = at.getTime().toString(16).padStart(12, '0');
  const activity_id = `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000001`;
  const row = {
    user_id: team.manager.user_id,
    actor_type: 'user',
    action: 'update',
    entity_type: 'task',
    entity_id: task.task_id,
  };
  await db()('activity').insert({
    ...row,
    activity_id,
    entity_title: 'Order wheels',
    team_id: team.team_id,
    project_id: project.project_id,
    summary: 'moved the task',
  });
  const say = await talk(app, team.member, task.task_id);
  expect((await say('what did Cara do on 2026-01-11?')).content).toMatch(/\(Asia\/Tokyo\):\n- 08:30 Cara Voss moved the task/);
  expect((await say('what did Cara do on 2026-01-10?')).content).toContain('I know of no change');
});

it('shows twenty changes and counts the others', async () => {
  for (let n = 0; n < 22; n += 1) await patch(team.manager, task.task_id, { title: `Order wheels ${n}` });
  const { content } = await (await talk(app, team.member, task.task_id))('what did Cara do today?');
  expect([content.split('\n').length, content.startsWith('23 changes'), content.endsWith('- and 3 more')]).toEqual([
    22,
    true,
    true,
  ]);
});
