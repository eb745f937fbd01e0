import { timeOfId } from '../../../../api/platform/ids.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../../factories/people.js';
import { skippedRuns } from '../../../factories/runs.js';
import { makeDue, openRelay } from '../../../outbox/support.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { type Browser, givePasswords, signIn } from '../browser.js';

// Why a run was skipped: its event is built again, and its condition is evaluated part by part.

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let browser: Browser;

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
  await givePasswords(app);
  browser = await signIn(app, team.member);
});

const CONDITION = 'event.task.priority == "urgent" && event.changes.status.to == "done"';
const define = async (fields: Record<string, unknown> = {}): Promise<string> => {
  const actions = [{ type: 'delay', params: { seconds: 1 } }];
  const definition = {
    name: 'Close',
    team_id: team.team_id,
    trigger_type: 'task.completed',
    condition: CONDITION,
    is_active: true,
    actions,
  };
  return (await app.as(team.member).post('/api/automations', { ...definition, ...fields })).body.automation_id;
};
/** Matches what waits, and returns the skipped runs of an automation. */
async function skip(automation_id: string) {
  const relay = openRelay(app);
  try {
    while ((await app.services.db('outbox').where({ kind: 'event', team_id: team.team_id })).length > 0) {
      await relay.relay.match();
      await makeDue(app);
    }
  } finally {
    await relay.close();
  }
  return skippedRuns(app, { automation_id });
}

it('shows the event of a skipped run, and which part of its condition did not hold', async () => {
  const automation = await define();
  const { task_id } = await buildTask(app, team, project, { title: 'Rotate the keys', priority: 'low' });
  await app.as(team.member).patch(`/api/tasks/${task_id}`, { status: 'done' });
  const [run] = await skip(automation);
  const { html } = await browser.get(`/app/runs/${run?.run_id}`);
  expect(html).toContain('What did not hold:');
  expect(html).toContain('<code>event.task.priority == &quot;urgent&quot;</code>');
  expect(html).toContain('<code>event.task.priority</code> was <code>&quot;low&quot;</code>');
  expect(html).toContain('The other part held.');
  expect(html).toContain('Built again from what is kept of the change, and from the task as it is now.');
  expect(html).toContain('<dt>task</dt><dd>Rotate the keys</dd>');
});

it('does not guess between changes of the same moment, nor show what the reader may not read', async () => {
  const automation = await define();
  const ids: string[] = [];
  for (const title of ['One', 'Two']) ids.push((await buildTask(app, team, project, { title })).task_id);
  for (const id of ids) await app.as(team.member).patch(`/api/tasks/${id}`, { status: 'done' });
  const runs = await skip(automation);
  // Both lines get the moment of the first run, as changes of one transaction have.
  const run_id = runs[0]?.run_id as string;
  const moment = new Date(timeOfId(run_id));
  const lines = app.services.db('activity').whereIn('entity_id', ids).where({ action: 'update' });
  await lines.update({ timestamp: moment });
  const { html } = await browser.get(`/app/runs/${run_id}`);
  expect(html).toContain('2 tasks changed at the same moment.');
  expect([html.includes('One'), html.includes('What did not hold')]).toEqual([false, false]);
  const stranger = (await buildTeam(app)).admin;
  await givePasswords(app);
  expect((await (await signIn(app, stranger)).get(`/app/runs/${run_id}`)).status).toBe(403);
});

it('keeps the event of a run that a user started, also as a dry run, and says why it would not run', async () => {
  const automation = await define({ is_active: false });
  const from = `/app/automations/${automation}/dry-run`;
  const event_json = JSON.stringify({ task: { title: 'Given', priority: 'low' }, changes: { status: { to: 'done' } } });
  const answer = await browser.post(from, { version: '1', event: 'own', event_json }, { from });
  const { html } = await browser.get(answer.headers.get('location') as string);
  expect(html).toContain('The condition is false for this event');
  expect(html).toContain('<code>event.task.priority</code> was <code>&quot;low&quot;</code>');
  const [run] = await app.services.db('automation_runs').where({ automation_id: automation });
  expect(run).toMatchObject({ status: 'skipped', is_test: true, event: { task: { title: 'Given' } } });
  const page = (await browser.get(`/app/runs/${run.run_id}`)).html;
  expect(page).toContain('Given');
  expect(page).not.toContain('Built again');
});
