import { openGate } from '../../../../api/automation/runs/approvals/asking/open-gate.js';
import { finishRun } from '../../../../api/automation/runs/execution/finish-run.js';
import { performAction } from '../../../../api/automation/runs/execution/perform-action.js';
import { performOutbound } from '../../../../api/automation/runs/execution/perform-outbound.js';
import { describeDryRun } from '../../../../api/automation/runs/staging/describe-dry-run.js';
import { describeGates } from '../../../../api/automation/runs/staging/describe-gates.js';
import type { Context } from '../../../../api/platform/context.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../../factories/people.js';
import { buildRun, GATE, type TestRun } from '../../../factories/runs.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { type Receiver, startReceiver } from '../../../support/receiver.js';
import { givePasswords, signIn } from '../../web/browser.js';

// A step reads what a server answered to an earlier one. At a gate the answer stands in the text that is approved.

let app: TestApp;
let team: TestTeam;
let receiver: Receiver;
let task: { task_id: string };
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
  task = await buildTask(app, team, await buildProject(app, team), { title: 'Rotate the keys' });
  receiver.received.length = 0;
  answer({ title: 'From outside', items: [{ id: 7 }] });
});

const db = () => app.services.db;
/** How the receiver answers next: JSON, or a text as it is. */
const answer = (body: unknown, status = 200) =>
  receiver.answer((_request, response) => {
    response.statusCode = status;
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
const carrier = ({ run_id }: { run_id: string }) => ({ runId: run_id, incarnation: 1, execution: 'an-execution' });
const perform = (run: TestRun, index: number) => performAction(app.services, carrier(run), index);
const send = (run: { run_id: string }, index = 0) => performOutbound(app.services, carrier(run), index);
const getStep = ({ run_id }: { run_id: string }, index: number) => db()('run_actions').where({ run_id, index }).first();
const titleNow = async () => (await app.as(team.member).get(`/api/tasks/${task.task_id}`)).body.title;

interface Action {
  type: string;
  name?: string;
  if?: string;
  params: Record<string, unknown>;
}
const lookup = (params: object = {}, name = 'lookup'): Action => ({
  type: 'http_request',
  name,
  params: { method: 'GET', url: receiver.url, ...params },
});
const retitle = (title: string, onlyIf?: string): Action => ({
  type: 'update_task',
  params: { task_id: task.task_id, title },
  ...(onlyIf !== undefined && { if: onlyIf }),
});
const begin = (actions: Action[], fields: Record<string, unknown> = {}) =>
  buildRun(app, team, { actions, status: 'running', statuses: actions.map(() => 'pending'), gateIndex: 99, fields });
const TITLE = '{{steps.lookup.body.title}}';

it('fills in the fields of an answer, which is kept as far as later steps read it', async () => {
  const run = await begin([
    lookup(),
    { type: 'add_comment', params: { task_id: task.task_id, content: `${TITLE}: {{steps.lookup.body.items.0.id}}` } },
    retitle(TITLE, 'steps.lookup.status == 200 && steps.lookup.body.items.size() == 1'),
  ]);
  expect(await send(run)).toMatchObject({ outcome: 'succeeded' });
  expect((await getStep(run, 0)).output.kept).toEqual({
    status: 200,
    body: { title: 'From outside', items: [{ id: 7 }] },
  });
  expect(await perform(run, 1)).toMatchObject({ outcome: 'succeeded' });
  expect(await perform(run, 2)).toMatchObject({ outcome: 'succeeded', ended: 'succeeded' });
  expect(await titleNow()).toBe('From outside');
  const { body } = await app.as(team.member).get(`/api/tasks/${task.task_id}/comments`);
  expect(JSON.stringify(body)).toContain('From outside: 7');
});

it('keeps nothing of an answer that no step reads', async () => {
  const run = await begin([lookup(), retitle('Fixed')]);
  await send(run);
  expect((await getStep(run, 0)).output).not.toHaveProperty('kept');
});

it('a gate shows the answer, and a yes releases exactly that', async () => {
  const run = await begin([lookup(), { ...GATE, params: { message: `Name it ${TITLE}?` } }, retitle(TITLE)]);
  await send(run);
  await openGate(app.services, carrier(run), 1);
  const { user_id: userId, email } = team.manager;
  const ctx = { ...app.services, actor: { type: 'user', userId, email, role: 'user' } } as unknown as Context;
  const shown = (await describeGates(ctx, [run.run_id]))[run.run_id];
  expect(shown?.lines).toMatchObject([{ fields: [{ name: 'title', before: 'Rotate the keys', after: 'From outside' }] }]);
  expect((await db()('gates').where({ run_id: run.run_id }).first()).message).toBe('Name it From outside?');
  // No product code does this: the text that was approved decides.
  await db()('run_actions')
    .where({ run_id: run.run_id, index: 0 })
    .update({ output: { kept: { body: { title: 'Other' } } } });
  expect((await app.as(team.manager).post(`/api/automations/runs/${run.run_id}/approve`, {})).status).toBe(200);
  expect(await perform(run, 2)).toMatchObject({ outcome: 'succeeded', ended: 'succeeded' });
  expect(await titleNow()).toBe('From outside');
});

it.each([
  ['a text', 'plain', '{{steps.lookup.body}}', 'plain'],
  ['a JSON text', '"quoted"', '{{steps.lookup.body}}', 'quoted'],
  ['characters that PostgreSQL refuses', '{"title":"a\\u0000b\\ud800c"}', TITLE, 'ab\ufffdc'],
  ['the status of a failure', '{}', 'Got {{steps.lookup.status}}', 'Got 404'],
  ['a field that only its prototype has', '{}', '{{steps.lookup.body.constructor}}', null],
  ['a field that it lacks', '{"name":"x"}', TITLE, null],
  ['a value that is too long', JSON.stringify({ title: 'x'.repeat(9_000) }), TITLE, null],
])('reads %s', async (_name, body, template, expected) => {
  answer(body, template.includes('status') ? 404 : 200);
  const run = await begin([lookup(), retitle(template)]);
  await send(run);
  const result = await perform(run, 1);
  if (expected === null) expect(result).toMatchObject({ outcome: 'failed', code: 'template_missing' });
  expect(await titleNow()).toBe(expected ?? 'Rotate the keys');
});

it.each([
  [
    'a list of more entries than a condition reads',
    { list: Array.from({ length: 300 }, (_, n) => n) },
    '!steps.lookup.body.list.exists(x, x == 250)',
  ],
  ['a field that is too long', { ok: 1, error: 'x'.repeat(9_000) }, 'steps.lookup.body.ok == 1 && !has(steps.lookup.body.error)'],
])('fails a condition over %s, instead of deciding by a part', async (_name, body, onlyIf) => {
  answer(body);
  const run = await begin([lookup(), retitle('Released', onlyIf)]);
  await send(run);
  expect(await perform(run, 1)).toMatchObject({ outcome: 'failed', code: 'template_missing' });
  expect(await titleNow()).toBe('Rotate the keys');
});

it('gives no part of a body where the whole is too long, also where another step reads a field', async () => {
  answer({ title: 'small', big: 'x'.repeat(9_000) });
  const run = await begin([lookup(), retitle('{{steps.lookup.body}}'), retitle(TITLE)]);
  await send(run);
  expect(await perform(run, 1)).toMatchObject({ outcome: 'failed', code: 'template_missing' });
  expect(await perform(run, 2)).toMatchObject({ outcome: 'succeeded' });
  expect(await titleNow()).toBe('small');
});

it('reads nothing of a body that was cut, although its beginning is JSON', async () => {
  answer(`{"ok":true}${' '.repeat(70_000)},{"error":1}`);
  const run = await begin([lookup(), retitle('Released', 'steps.lookup.body.ok')]);
  await send(run);
  expect(await perform(run, 1)).toMatchObject({ outcome: 'failed' });
});

it('keeps each digit of a long number', async () => {
  answer('{"id":9007199254740993,"small":7,"half":0.5,"text":"9007199254740993"}');
  const run = await begin([lookup(), retitle('{{steps.lookup.body.id}}/{{steps.lookup.body.small}}/{{steps.lookup.body.half}}')]);
  await send(run);
  await perform(run, 1);
  expect(await titleNow()).toBe('9007199254740993/7/0.5');
});

it('a nested answer leaves the request succeeded, and its reader without it', async () => {
  answer('['.repeat(4_000) + ']'.repeat(4_000));
  const run = await begin([lookup(), retitle('{{steps.lookup.body}}')]);
  expect(await send(run)).toMatchObject({ outcome: 'succeeded' });
  expect((await getStep(run, 0)).output).toMatchObject({ status: 200, kept: {}, left_out: ['body'] });
  expect(await perform(run, 1)).toMatchObject({ outcome: 'failed', code: 'template_missing' });
  expect(receiver.received).toHaveLength(1);
});

it('a replay does not use the former answer of a step that its condition skips this time', async () => {
  const deploy = { type: 'http_request', name: 'deploy', params: { method: 'POST', url: `${receiver.url}/deploy` } };
  const asks = { ...lookup({ url: `${receiver.url}/l` }), if: 'steps.first.status == 200' };
  const actions = [lookup({ url: `${receiver.url}/a` }, 'first'), asks, deploy, retitle(TITLE)];
  let isFirst = true;
  receiver.answer(({ url }, response) => {
    response.statusCode = url === '/deploy' || (url === '/a' && !isFirst) ? 400 : 200;
    response.end('{"title":"Old"}');
  });
  const run = await begin(actions);
  for (const index of [0, 1, 2]) await send(run, index);
  expect(await perform(run, 3)).toMatchObject({ outcome: 'succeeded', ended: 'failed' });
  await app.as(team.member).patch(`/api/tasks/${task.task_id}`, { title: 'Rotate the keys' });
  isFirst = false;
  const { body } = await app.as(team.member).post(`/api/automations/dead-letter/${run.run_id}/retry`, { version: 'original' });
  const again = { ...run, run_id: body.run_id as string };
  for (const index of [0, 1, 2]) await send(again, index);
  expect((await getStep(again, 1)).status).toBe('skipped');
  expect(await perform(again, 3)).toMatchObject({ outcome: 'failed', code: 'template_missing' });
  expect(await titleNow()).toBe('Rotate the keys');
});

it('keeps no secret of the request, although the server sends it back', async () => {
  const name = 'TOKEN';
  const value = 'hunter2-hunter2';
  await app.as(team.admin).post('/api/automations/secrets', { team_id: team.team_id, name, value, allowed_hosts: ['127.0.0.1'] });
  answer({ title: `Bearer ${value}` });
  const run = await begin([lookup({ headers: { authorization: `Bearer {{secret:${name}}}` } }), retitle(TITLE)]);
  await send(run);
  await perform(run, 1);
  expect(receiver.received[0]?.headers['authorization']).toBe(`Bearer ${value}`);
  expect(await titleNow()).toMatch(/^Bearer /);
  expect(await titleNow()).not.toContain(value);
});

it('a condition decides by an answer, and says what it was', async () => {
  answer({ open: false });
  const run = await begin([lookup(), GATE as Action, retitle('Open', 'steps.lookup.body.open')]);
  await send(run);
  expect(await openGate(app.services, carrier(run), 1)).toMatchObject({ skipped: true });
  expect((await getStep(run, 2)).output.skipped).toBe('steps.lookup.body.open is false (steps.lookup.body.open is false)');
});

it('a dry run sends nothing and skips what reads an answer', async () => {
  const run = await begin([lookup(), retitle(TITLE)], { is_test: true });
  await send(run);
  expect(await perform(run, 1)).toMatchObject({ outcome: 'skipped' });
  expect(receiver.received).toEqual([]);
  const { user_id: userId, email } = team.manager;
  const ctx = { ...app.services, actor: { type: 'user', userId, email, role: 'user' } } as unknown as Context;
  expect((await describeDryRun(ctx, run.automation_id, run.run_id)).lines[1]?.skipped).toContain('sends no request');
});

it('a replay of what failed reads the answers of the run that it repeats', async () => {
  const run = await begin([lookup(), retitle(TITLE)]);
  await send(run);
  await db()('tasks').where({ task_id: task.task_id }).update({ deleted_at: db().fn.now() });
  expect(await perform(run, 1)).toMatchObject({ outcome: 'failed', ended: 'failed' });
  await db()('tasks').where({ task_id: task.task_id }).update({ deleted_at: null });
  const { body } = await app
    .as(team.member)
    .post(`/api/automations/dead-letter/${run.run_id}/retry`, { version: 'original', actions: 'failed' });
  const again = { ...run, run_id: body.run_id as string };
  expect(await perform(again, 1)).toMatchObject({ outcome: 'succeeded' });
  expect(await finishRun(app.services, carrier(again), false)).toMatch(/succeeded|null/);
  expect(receiver.received).toHaveLength(1);
  expect(await titleNow()).toBe('From outside');
});

describe('on save', () => {
  const save = (actions: object[]) =>
    app.as(team.member).post('/api/automations', { name: 'Any', trigger_type: 'task.updated', team_id: team.team_id, actions });

  it.each<[string, () => object[], string]>([
    [
      'of no step',
      () => [lookup(), retitle('{{steps.lokup.status}}')],
      'actions[1].params.title: no step is named lokup; did you mean lookup?',
    ],
    ['of a later step', () => [retitle(TITLE), lookup()], 'step lookup comes later'],
    ['of two steps', () => [lookup(), lookup(), retitle(TITLE)], '2 steps are named lookup'],
    ['of a step without one', () => [{ ...retitle('x'), name: 'lookup' }, retitle(TITLE)], 'gets no answer'],
    ['as a whole', () => [lookup(), retitle('{{steps.lookup}}')], 'name a step and a field of its answer'],
    [
      'by a computed name',
      () => [lookup(), retitle('x', 'steps["lookup"].status == 200')],
      'name a step and a field of its answer',
    ],
    [
      'that comes after the approval',
      () => [GATE, lookup(), retitle(TITLE)],
      'comes after the approval. Put a gate between them',
    ],
    [
      'after the approval, in a condition',
      () => [GATE, lookup(), retitle('x', 'steps.lookup.status == 200')],
      'comes after the approval',
    ],
  ])('refuses a read %s', async (_name, actions, message) => {
    const { status, body } = await save(actions());
    expect([status, body.message]).toEqual([400, expect.stringContaining(message)]);
  });

  it('takes a read behind its own gate, and in the message of a gate', async () => {
    const asks = { ...GATE, params: { message: TITLE } };
    expect((await save([GATE, lookup(), asks, retitle(TITLE)])).status).toBe(201);
  });

  it('refuses an answer in the condition of the trigger', async () => {
    const { status, body } = await app.as(team.member).post('/api/automations', {
      name: 'Any',
      trigger_type: 'task.updated',
      team_id: team.team_id,
      condition: 'steps.lookup.status == 200',
      actions: [lookup()],
    });
    expect([status, body.message]).toEqual([400, expect.stringContaining('Unknown variable: steps')]);
  });
});

it('the page of the run shows the answer', async () => {
  await givePasswords(app);
  const browser = await signIn(app, team.manager);
  answer({ title: '<b>x</b>' });
  const run = await begin([lookup(), retitle(TITLE)]);
  await send(run);
  const { html } = await browser.get(`/app/runs/${run.run_id}`);
  expect(html).toContain('Answer: 200');
  expect(html).toContain('&quot;title&quot;: &quot;&lt;b&gt;x&lt;/b&gt;&quot;');
});
