import { openGate } from '../../../../api/automation/runs/approvals/asking/open-gate.js';
import { performAction } from '../../../../api/automation/runs/execution/perform-action.js';
import { performOutbound } from '../../../../api/automation/runs/execution/perform-outbound.js';
import { buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../../../factories/people.js';
import { buildRun, type TestRun } from '../../../factories/runs.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { type Receiver, startReceiver } from '../../../support/receiver.js';

// A gate with `if_changed: ask_again`: what changes between the yes and the performance is asked about once more.

let app: TestApp;
let team: TestTeam;
let receiver: Receiver;
let tasks: string[];
beforeAll(async () => {
  app = await startApp({ OUTBOUND_LOOPBACK: 'allow' });
  receiver = await startReceiver();
});
afterAll(async () => {
  receiver.close();
  await app.close();
});
beforeEach(async () => {
  team = await buildTeam(app);
  const project = await buildProject(app, team);
  tasks = [];
  for (const title of ['First', 'Second']) tasks.push((await buildTask(app, team, project, { title })).task_id);
  receiver.received.length = 0;
});

const db = () => app.services.db;
const ASKING = { type: 'require_approval', params: { role: 'manager', if_changed: 'ask_again' } };
const put = (at: number, fields: object) => ({ type: 'update_task', params: { task_id: tasks[at], ...fields } });
const edit = (at: number, fields: object) => app.as(team.member).patch(`/api/tasks/${tasks[at]}`, fields);
const taskNow = async (at: number) => (await app.as(team.member).get(`/api/tasks/${tasks[at]}`)).body;
const toGateView = ({ run_id }: TestRun) => db()('gates').where({ run_id }).first();
const toRow = ({ run_id }: TestRun) => db()('automation_runs').where({ run_id }).first();
const approve = (run: TestRun, body: object = {}, person: Person = team.manager) =>
  app.as(person).post(`/api/automations/runs/${run.run_id}/approve`, body);
const getStatuses = ({ run_id }: TestRun) => db()('run_actions').where({ run_id }).orderBy('index').pluck('status');

/** The execution that owns the run now. */
async function carrier(run: TestRun) {
  const { incarnation } = await toRow(run);
  return { runId: run.run_id, incarnation, execution: `execution-${incarnation}` };
}
const perform = async (run: TestRun, index: number) => performAction(app.services, await carrier(run), index);

async function openedRun(actions: object[], gate: object = ASKING): Promise<TestRun> {
  const all = [gate, ...actions] as { type: string }[];
  const run = await buildRun(app, team, { actions: all, status: 'running', statuses: all.map(() => 'pending'), gateIndex: 99 });
  await db()('automation_runs').where({ run_id: run.run_id }).update({ claimed_by: null });
  await openGate(app.services, await carrier(run), 0);
  return run;
}

it('a change after the yes opens the gate again, with what is left to do', async () => {
  const run = await openedRun([put(0, { due_date: '2031-01-01' }), put(1, { title: 'Renamed' })]);
  expect((await approve(run)).status).toBe(200);
  expect(await perform(run, 1)).toMatchObject({ outcome: 'succeeded' });
  await edit(1, { priority: 'urgent' });
  expect(await perform(run, 2)).toEqual({ outcome: 'skipped', ended: null });

  expect(await taskNow(1)).toMatchObject({ title: 'Second', priority: 'urgent' });
  expect(await toRow(run)).toMatchObject({ status: 'paused', incarnation: 2, claimed_by: null });
  expect(await getStatuses(run)).toEqual(['running', 'succeeded', 'staged']);
  const gate = await toGateView(run);
  expect(gate).toMatchObject({ decision: null, decided_by: null, reopened: 1, known_versions: null });
  expect(JSON.parse(gate.staged).actions).toMatchObject([{ index: 2, before: { title: 'Second' }, after: { title: 'Renamed' } }]);
  expect(await db()('gate_approvals').where({ run_id: run.run_id })).toEqual([]);
  const asked = (await app.as(team.manager).get('/api/notifications')).body;
  expect(asked.filter(({ kind }: { kind: string }) => kind === 'approval_requested')).toHaveLength(2);

  // The next execution waits at the gate, finds the first action done, and goes on after another yes.
  expect(await openGate(app.services, await carrier(run), 0)).toMatchObject({ state: 'pending' });
  expect((await approve(run)).status).toBe(200);
  const { version } = await taskNow(0);
  expect(await perform(run, 1)).toMatchObject({ outcome: 'succeeded' });
  expect((await taskNow(0)).version).toBe(version);
  expect(await perform(run, 2)).toMatchObject({ ended: 'succeeded' });
  expect(await taskNow(1)).toMatchObject({ title: 'Renamed', priority: 'urgent' });
});

it('ignores changes of the run itself and changes before the approval', async () => {
  const run = await openedRun([put(0, { title: 'One' }), put(0, { title: 'Two' }), put(1, { title: 'Three' })]);
  await edit(0, { priority: 'low' });
  expect((await approve(run)).status).toBe(200);
  for (const index of [1, 2, 3]) expect(await perform(run, index)).toMatchObject({ outcome: 'succeeded' });
  expect(await toRow(run)).toMatchObject({ status: 'succeeded', incarnation: 1 });
  expect(await taskNow(0)).toMatchObject({ title: 'Two', priority: 'low' });
});

it('a change between the two approvals that a gate needs opens it again', async () => {
  const gate = { ...ASKING, params: { ...ASKING.params, required_approvals: 2 } };
  const run = await openedRun([put(0, { title: 'One' })], gate);
  expect((await approve(run)).status).toBe(200);
  await edit(0, { priority: 'low' });
  expect((await approve(run, {}, team.admin)).body).toMatchObject({ status: 'running' });
  expect(await perform(run, 1)).toEqual({ outcome: 'skipped', ended: null });
  expect(await taskNow(0)).toMatchObject({ title: 'First' });
});

it('the fourth change ends the run, whatever its actions say about failures', async () => {
  const run = await openedRun([{ ...put(0, { title: 'One' }), on_failure: 'continue' }, put(1, { title: 'Two' })]);
  for (const priority of ['low', 'high', 'urgent', 'low']) {
    expect((await approve(run)).status).toBe(200);
    expect((await edit(0, { priority })).status).toBe(200);
    await perform(run, 1);
  }
  expect(await toRow(run)).toMatchObject({ status: 'failed', error: { code: 'changed_since_approval' }, incarnation: 4 });
  expect(await getStatuses(run)).toEqual(['succeeded', 'failed', 'skipped']);
  expect(await taskNow(0)).toMatchObject({ title: 'First' });
  expect(await taskNow(1)).toMatchObject({ title: 'Second' });
});

it('no request is sent while a later target has changed, and a request is never asked for twice', async () => {
  const send = { type: 'http_request', params: { method: 'POST', url: receiver.url, body: 'x' } };
  const run = await openedRun([send, put(0, { title: 'One' })]);
  expect((await approve(run)).status).toBe(200);
  await edit(0, { priority: 'low' });
  expect(await performOutbound(app.services, await carrier(run), 1)).toEqual({ outcome: 'skipped', ended: null });
  expect(receiver.received).toEqual([]);
  expect((await approve(run)).status).toBe(200);
  expect(await performOutbound(app.services, await carrier(run), 1)).toMatchObject({ outcome: 'succeeded' });
  await edit(0, { priority: 'high' });
  expect(await perform(run, 2)).toEqual({ outcome: 'skipped', ended: null });
  expect(JSON.parse((await toGateView(run)).staged).actions).toMatchObject([{ index: 2 }]);
  expect(receiver.received).toHaveLength(1);
});

it('an edit that races the action comes before the comparison or after the action', async () => {
  for (let round = 0; round < 8; round += 1) {
    const run = await openedRun([put(0, { title: `Round ${round}` })]);
    expect((await approve(run)).status).toBe(200);
    const { version } = await taskNow(0);
    const [result] = await Promise.all([perform(run, 1), edit(0, { priority: round % 2 ? 'low' : 'high' })]);
    const { title, version: now } = await taskNow(0);
    expect(now).toBe(version + (result.ended === null ? 1 : 2));
    expect(title === `Round ${round}`).toBe(result.ended === 'succeeded');
  }
});

it('a gate that says nothing proceeds', async () => {
  const run = await openedRun([put(0, { title: 'One' })], { type: 'require_approval', params: { role: 'manager' } });
  expect((await approve(run)).status).toBe(200);
  await edit(0, { priority: 'low' });
  expect(await perform(run, 1)).toMatchObject({ ended: 'succeeded' });
  expect(await taskNow(0)).toMatchObject({ title: 'One', priority: 'low' });
});
