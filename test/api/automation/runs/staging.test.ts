import { openGate } from '../../../../api/automation/runs/approvals/asking/open-gate.js';
import { performAction } from '../../../../api/automation/runs/execution/perform-action.js';
import { performOutbound } from '../../../../api/automation/runs/execution/perform-outbound.js';
import { describeGates } from '../../../../api/automation/runs/staging/describe-gates.js';
import type { Context } from '../../../../api/platform/context.js';
import { buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../../../factories/people.js';
import { buildRun, GATE, type TestRun } from '../../../factories/runs.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { gateForm, givePasswords, signIn } from '../../web/browser.js';
import { type Receiver, startReceiver } from '../../../support/receiver.js';

// What a gate shows is what then happens: one text, staged when the gate opens, shown whole, and performed.

let app: TestApp;
let team: TestTeam;
let receiver: Receiver;
let task: { task_id: string; version: number };
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
  const made = await buildTask(app, team, await buildProject(app, team), { title: 'Rotate the keys' });
  task = (await app.as(team.member).get(`/api/tasks/${made.task_id}`)).body;
  receiver.received.length = 0;
});

const db = () => app.services.db;
const carrier = ({ run_id }: { run_id: string }) => ({ runId: run_id, incarnation: 1, execution: 'an-execution' });
type Action = { type: string; params?: Record<string, unknown> };

/** A run whose gate the workflow has just opened. */
async function openedRun(actions: Action[], options: Parameters<typeof buildRun>[2] = {}): Promise<TestRun> {
  const all = [GATE, ...actions];
  const run = await buildRun(app, team, {
    actions: all,
    status: 'running',
    statuses: all.map(() => 'pending'),
    gateIndex: 99,
    ...options,
  });
  await openGate(app.services, carrier(run), 0);
  return { ...run, gate_index: 0 };
}
const toGateView = async ({ run_id }: TestRun) => db()('gates').where({ run_id }).orderBy('gate_index').first();
const toText = async (run: TestRun) => JSON.parse((await toGateView(run)).staged);
const described = async (run: TestRun, person: Person) => {
  const actor = { type: 'user', userId: person.user_id, email: person.email, role: 'user' };
  return (await describeGates({ ...app.services, actor } as unknown as Context, [run.run_id]))[run.run_id];
};
const approve = (run: TestRun, body: object = {}, person: Person = team.manager) =>
  app.as(person).post(`/api/automations/runs/${run.run_id}/approve`, body);
const taskNow = async () => (await app.as(team.member).get(`/api/tasks/${task.task_id}`)).body;
const rename = (title: string, person = team.member) => app.as(person).put(`/api/tasks/${task.task_id}`, { title });
const getStep = (run: TestRun, index: number) => db()('run_actions').where({ run_id: run.run_id, index }).first();

it('an opened gate holds what each action would change, and changes nothing', async () => {
  const before = await taskNow();
  const audit = await db()('audit_entries').where({ team_id: team.team_id }).count().first();
  const run = await openedRun([
    { type: 'update_task', params: { task_id: task.task_id, title: 'Rotate all keys', due_date: '2027-01-01' } },
    { type: 'set_task_status', params: { task_id: task.task_id, status: 'done' } },
    { type: 'create_task', params: { project_id: before.project_id, title: 'New one' } },
    { type: 'add_comment', params: { task_id: task.task_id, content: 'Done for {{event.pr_number}}' } },
    { type: 'notify', params: { role: 'manager', message: 'See {{event.none}}' } },
  ]);
  const { actions } = await toText(run);
  expect(actions).toMatchObject([
    { tool: 'task.update', title: 'Rotate the keys', before: { title: 'Rotate the keys' }, after: { title: 'Rotate all keys' } },
    // The second action finds what the first one left.
    { before: { status: 'todo' }, after: { status: 'done' }, expected_version: before.version, reversible: true },
    { tool: 'task.create', entity_id: null, title: 'New one', before: null },
    { params: { content: 'Done for 12' }, refused: null },
    { params: null, refused: { code: 'template_missing', message: 'The event has no event.none' } },
  ]);
  expect(await taskNow()).toEqual(before);
  expect((await app.as(team.member).get(`/api/tasks/${task.task_id}/comments`)).body).toEqual([]);
  const after = await db()('audit_entries').where({ team_id: team.team_id }).count().first();
  expect(Number(after?.['count'])).toBe(Number(audit?.['count']) + 2); // The automation and its gate.
});

it('no later edit, event or version changes what a yes releases', async () => {
  const run = await openedRun([
    { type: 'add_comment', params: { task_id: task.task_id, content: 'For {{event.pr_number}}' } },
    { type: 'set_task_status', params: { task_id: task.task_id, status: 'done' } },
  ]);
  expect((await approve(run)).status).toBe(200);
  const other = JSON.stringify([
    GATE,
    { type: 'add_comment', params: { task_id: task.task_id, content: 'Other' } },
    { type: 'notify' },
  ]);
  await db()('automation_versions').where({ automation_id: run.automation_id }).update({ actions: other });
  await db()('automation_runs')
    .where({ run_id: run.run_id })
    .update({ event: JSON.stringify({ pr_number: 666 }) });
  for (const index of [1, 2])
    expect(await performAction(app.services, carrier(run), index)).toMatchObject({ outcome: 'succeeded' });
  expect((await app.as(team.member).get(`/api/tasks/${task.task_id}/comments`)).body).toMatchObject([{ content: 'For 12' }]);
  expect(await taskNow()).toMatchObject({ status: 'done' });
});

it('does not perform a text that another program wrote to the database', async () => {
  const run = await openedRun([{ type: 'add_comment', params: { task_id: task.task_id, content: 'Said' } }]);
  expect((await approve(run)).status).toBe(200);
  const { staged } = await toGateView(run);
  await db()('gates')
    .where({ run_id: run.run_id })
    .update({ staged: staged.replace('Said', 'Else') });
  expect(await performAction(app.services, carrier(run), 1)).toMatchObject({ outcome: 'failed', code: 'staged_text_damaged' });
  expect((await app.as(team.member).get(`/api/tasks/${task.task_id}/comments`)).body).toEqual([]);
});

it('a page that was opened before a change approves nothing', async () => {
  const run = await openedRun([{ type: 'set_task_status', params: { task_id: task.task_id, status: 'in_progress' } }]);
  await givePasswords(app);
  const browser = await signIn(app, team.manager);
  for (const page of [`/app/approvals/gate/${run.run_id}`, '/app/approvals']) {
    const { html } = await browser.get(page);
    const status = page === '/app/approvals' ? 'done' : 'in_review';
    await app.as(team.member).patch(`/api/tasks/${task.task_id}/status`, { status });
    await browser.post(`/app/runs/${run.run_id}/approve`, { ...gateForm(html, run.run_id), back: page }, { from: page });
    expect((await browser.get(page)).html).toContain('has changed since you have read it');
    expect((await toGateView(run)).decision).toBeNull();
  }
  expect((await taskNow()).status).toBe('done');
});

it('shows concurrent changes with their authors, and rejects an approval of the earlier text', async () => {
  const run = await openedRun([{ type: 'update_task', params: { task_id: task.task_id, title: 'Rotate all keys' } }]);
  const seen = await described(run, team.manager);
  expect(seen?.lines).toMatchObject([
    { changed: null, fields: [{ name: 'title', before: 'Rotate the keys', after: 'Rotate all keys' }] },
  ]);
  await rename('Rotate the keys at night', team.admin);
  expect((await described(run, team.manager))?.lines).toMatchObject([
    {
      changed: { by: expect.any(String), at: expect.any(String) },
      fields: [{ name: 'title', before: 'Rotate the keys at night', after: 'Rotate all keys' }],
    },
  ]);
  const { status, body } = await approve(run, { seen_hash: seen?.seen_hash });
  expect(status).toBe(409);
  expect(body.changed).toMatchObject([{ index: 1, entity_id: task.task_id, by: team.admin.user_id, at: expect.any(String) }]);
  expect((await toGateView(run)).decision).toBeNull();
  expect((await approve(run, { staged_hash: 'sha256:other' })).status).toBe(409);
  const now = await described(run, team.manager);
  expect(now?.staged_hash).toBe(seen?.staged_hash);
  const answer = await approve(run, { seen_hash: now?.seen_hash, staged_hash: now?.staged_hash, comment: 'Go <b>on</b>' });
  expect(answer.status).toBe(200);
  const entry = await db()('audit_entries').where({ entity_id: run.run_id, action: 'approve' }).first();
  expect(JSON.parse(entry.details)).toMatchObject({ staged_hash: now?.staged_hash, comment: 'Go <b>on</b>' });
  const { approval } = (await app.as(team.member).get(`/api/automations/runs/${run.run_id}`)).body;
  expect(approval.approvals).toMatchObject([{ user_id: team.manager.user_id, comment: 'Go <b>on</b>' }]);
});

it('shows a value that was as wanted when it was staged, and is not any more, as a change', async () => {
  const params = { task_id: task.task_id, title: 'Rotate all keys', assigned_to: team.member.user_id };
  await app.as(team.member).patch(`/api/tasks/${task.task_id}`, { assigned_to: team.member.user_id });
  const run = await openedRun([{ type: 'update_task', params }]);
  const assigned = async () => (await described(run, team.manager))?.lines[0]?.fields.find(({ name }) => name === 'assigned to');
  expect(await assigned()).toMatchObject({ before: expect.any(String), after: expect.any(String) });
  await app.as(team.member).patch(`/api/tasks/${task.task_id}`, { assigned_to: null });
  expect(await assigned()).toMatchObject({ before: null, after: expect.any(String) });
  expect((await approve(run, {})).status).toBe(200);
  await performAction(app.services, { runId: run.run_id, incarnation: 1, execution: 'an-execution' }, 1);
  expect((await taskNow()).assigned_to).toBe(team.member.user_id);
  await givePasswords(app);
  const { html } = await (await signIn(app, team.manager)).get(`/app/runs/${run.run_id}`);
  expect(html).not.toContain('as it is');
});

it('says of a target that came into the trash that the action would be refused', async () => {
  const run = await openedRun([{ type: 'update_task', params: { task_id: task.task_id, title: 'Rotate all keys' } }]);
  expect((await app.as(team.member).delete(`/api/tasks/${task.task_id}`)).status).toBe(200);
  const refused = async () => (await described(run, team.manager))?.lines[0]?.refused;
  expect(await refused()).toBe('It is in the trash');
  await app.as(team.member).post(`/api/trash/task/${task.task_id}/restore`, {});
  expect(await refused()).toBeNull();
});

it('shows a former member of the team the staged values, and not the present ones', async () => {
  const step = { type: 'update_task', params: { task_id: task.task_id, title: 'Rotate all keys' } };
  const run = await openedRun([step], { inTeam: false });
  await rename('Secret plans', team.admin);
  const fields = async () => (await described(run, team.member))?.lines[0]?.fields;
  expect(await fields()).toMatchObject([{ name: 'title', before: 'Secret plans', after: 'Rotate all keys' }]);
  await db()('memberships').where({ team_id: team.team_id, user_id: team.member.user_id }).delete();
  expect(await fields()).toMatchObject([{ name: 'title', before: 'Rotate the keys', after: 'Rotate all keys' }]);
});

it('an action on an item of another team shows nothing of it', async () => {
  const other = await buildTeam(app);
  await db()('memberships').insert({ team_id: other.team_id, user_id: team.member.user_id, role: 'admin' });
  const hidden = await buildTask(app, other, await buildProject(app, other), { title: 'Not yours', description: 'Secret plans' });
  const run = await openedRun([{ type: 'update_task', params: { task_id: hidden.task_id, description: 'x' } }]);
  expect(JSON.stringify(await toGateView(run))).not.toMatch(/Not yours|Secret plans/);
  expect(JSON.stringify(await described(run, team.manager))).not.toMatch(/Not yours|Secret plans/);
});

it('a gate stages the actions up to the next gate, which stages the others', async () => {
  const say = (content: string) => ({ type: 'add_comment', params: { task_id: task.task_id, content } });
  const run = await openedRun([say('First'), GATE, say('Second')]);
  expect((await toText(run)).actions).toMatchObject([{ index: 1, params: { content: 'First' } }]);
  expect(await described(run, team.manager)).toMatchObject({ later: 2, lines: [{ index: 1 }] });
  expect((await approve(run)).status).toBe(200);
  await performAction(app.services, carrier(run), 1);
  await openGate(app.services, carrier(run), 2);
  const second = await db()('gates').where({ run_id: run.run_id, gate_index: 2 }).first();
  expect(JSON.parse(second.staged).actions).toMatchObject([{ index: 3, params: { content: 'Second' } }]);
});

it('opens a gate although a row is locked; the next reading tries the actions', async () => {
  const holder = await db().transaction();
  try {
    await holder('tasks').where({ task_id: task.task_id }).forUpdate();
    const run = await openedRun([{ type: 'update_task', params: { task_id: task.task_id, title: 'New' } }]);
    expect(await toGateView(run)).toMatchObject({ staged_tried: false, decision: null });
    expect((await toText(run)).actions).toMatchObject([{ params: { title: 'New' }, before: null }]);
    await holder.rollback();
    expect((await described(run, team.manager))?.lines).toMatchObject([
      { fields: [{ name: 'title', before: 'Rotate the keys', after: 'New' }] },
    ]);
    expect(await toGateView(run)).toMatchObject({ staged_tried: true });
  } finally {
    if (!holder.isCompleted()) await holder.rollback();
  }
});

it('stages a gate of an older version when it is read or approved', async () => {
  const actions = [GATE, { type: 'add_comment', params: { task_id: task.task_id, content: 'For {{event.pr_number}}' } }];
  const seenFirst = await buildRun(app, team, { actions });
  expect(await toGateView(seenFirst)).toMatchObject({ staged: null });
  const seen = await described(seenFirst, team.manager);
  expect(seen?.lines).toMatchObject([{ title: 'Rotate the keys', fields: [{ name: 'content', after: 'For 12' }] }]);
  expect((await approve(seenFirst, { staged_hash: seen?.staged_hash, seen_hash: seen?.seen_hash })).status).toBe(200);

  const approved = await buildRun(app, team, { actions });
  expect((await approve(approved)).status).toBe(200);
  expect((await toText(approved)).actions).toMatchObject([{ params: { content: 'For 12' } }]);
  expect(await performAction(app.services, carrier(approved), 1)).toMatchObject({ outcome: 'succeeded' });

  // The older version took the yes as well: the run goes on as it would have.
  const before = await buildRun(app, team, { actions });
  await db()('gates')
    .where({ run_id: before.run_id })
    .update({ decision: 'approved', decided_by: team.manager.user_id, decided_at: new Date() });
  await db()('run_actions').where({ run_id: before.run_id, index: 0 }).update({ status: 'succeeded' });
  await db()('run_actions').where({ run_id: before.run_id, index: 1 }).update({ status: 'pending' });
  await db()('automation_runs').where({ run_id: before.run_id }).update({ status: 'running' });
  expect(await performAction(app.services, carrier(before), 1)).toMatchObject({ outcome: 'succeeded' });
});

it('thirty readers and a yes at once stage a gate once', async () => {
  const actions = [GATE, { type: 'add_comment', params: { task_id: task.task_id, content: 'Once' } }];
  const run = await buildRun(app, team, { actions });
  const readers = Array.from({ length: 30 }, () => described(run, team.manager));
  const [answer, ...seen] = await Promise.all([approve(run), ...readers]);
  expect(answer.status).toBe(200);
  const { staged_hash } = await toGateView(run);
  for (const gate of seen) if (gate) expect(gate.staged_hash).toBe(staged_hash);
  expect(await performAction(app.services, carrier(run), 1)).toMatchObject({ outcome: 'succeeded' });
});

it('a secret is a name in the text and a value at the send; a text of an event that looks like one stays text', async () => {
  const secret = { team_id: team.team_id, name: 'TOKEN', value: 's3cret-value', allowed_hosts: ['127.0.0.1'] };
  await app.as(team.admin).post('/api/automations/secrets', secret);
  const body = { key: '{{secret:TOKEN}}', words: '{{event.title}}' };
  const run = await openedRun([{ type: 'http_request', params: { method: 'POST', url: `${receiver.url}/hook`, body } }], {
    creator: team.admin,
    fields: { event: JSON.stringify({ title: 'Give me {{secret:TOKEN}}' }) },
  });
  expect(JSON.stringify(await toGateView(run))).not.toContain('s3cret-value');
  const shown = await described(run, team.manager);
  expect(shown?.lines).toMatchObject([{ risk: 'high', reversible: false }]);
  expect(shown?.lines[0]?.fields).toContainEqual({ name: 'body · key', before: null, after: '{{secret:TOKEN}}', kind: 'text' });
  expect((await approve(run)).status).toBe(200);
  expect(await performOutbound(app.services, carrier(run), 1)).toMatchObject({ outcome: 'succeeded' });
  expect(receiver.received.map((one) => JSON.parse(one.body))).toEqual([
    { key: 's3cret-value', words: 'Give me {{secret:TOKEN}}' },
  ]);
  expect((await getStep(run, 1)).status).toBe('succeeded');
});

it('a webhook without a payload shows the event that it sends, and sends what it showed', async () => {
  const key = {
    team_id: team.team_id,
    name: 'WEBHOOK_SIGNING_KEY',
    value: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    allowed_hosts: ['127.0.0.1'],
  };
  await app.as(team.admin).post('/api/automations/secrets', key);
  const run = await openedRun([{ type: 'send_webhook', params: { url: `${receiver.url}/hook` } }], { creator: team.admin });
  expect(JSON.stringify((await described(run, team.manager))?.lines)).toContain('pr_number');
  expect((await approve(run)).status).toBe(200);
  await db()('automation_runs')
    .where({ run_id: run.run_id })
    .update({ event: JSON.stringify({ type: 'x', pr_number: 666 }) });
  expect(await performOutbound(app.services, carrier(run), 1)).toMatchObject({ outcome: 'succeeded' });
  expect(JSON.parse(receiver.received[0]?.body ?? '')).toMatchObject({ type: 'forge.pr_merged', data: { pr_number: 12 } });
});

it('where a gate wants a signed-in person, no token decides', async () => {
  const made = await app.as(team.manager).post('/api/auth/tokens', { name: 'Decider', scopes: ['approvals:decide'] });
  expect(made.status).toBe(201);
  const token = { token: made.body.token as string };
  const run = await openedRun([], {});
  await db()('gates').where({ run_id: run.run_id }).update({ signed_in: true });
  for (const decision of ['approve', 'reject']) {
    const answer = await app.as(token).post(`/api/automations/runs/${run.run_id}/${decision}`, {});
    expect(answer).toMatchObject({ status: 403, body: { reason: 'signed_in_required' } });
  }
  expect((await approve(run)).status).toBe(200);
});

it('a team may leave decisions to signed-in people; no token lifts that', async () => {
  const made = await app.as(team.admin).post('/api/auth/tokens', { name: 'All', scopes: ['admin:*'] });
  const token = { token: made.body.token as string };
  const path = `/api/teams/${team.team_id}`;
  expect((await app.as(token).patch(path, { decisions_signed_in: true })).body).toMatchObject({ decisions_signed_in: true });
  const run = await openedRun([]);
  expect(await app.as(token).post(`/api/automations/runs/${run.run_id}/approve`, {})).toMatchObject({ status: 403 });
  expect(await app.as(token).patch(path, { decisions_signed_in: false })).toMatchObject({
    status: 403,
    body: { reason: 'signed_in_required' },
  });
  expect((await app.as(team.admin).patch(path, { decisions_signed_in: false })).status).toBe(200);
  const entries = await db()('audit_entries').where({ entity_id: team.team_id, action: 'update' }).orderBy('timestamp');
  expect(entries.map(({ severity }) => severity)).toEqual([expect.not.stringMatching('HIGH'), 'HIGH']);
  expect((await app.as(token).post(`/api/automations/runs/${run.run_id}/approve`, {})).status).toBe(200);
});

it('a trial that takes too long shows the parameters, as of high risk, and is not repeated', async () => {
  await db().raw(`create function dawdle() returns trigger language plpgsql as $$ begin perform pg_sleep(20); return new; end $$;
    create trigger dawdle before update on tasks for each row when (new.title = 'Slow') execute function dawdle()`);
  const run = await openedRun([{ type: 'update_task', params: { task_id: task.task_id, title: 'Slow' } }]);
  await db().raw('drop trigger dawdle on tasks; drop function dawdle');
  expect(await toGateView(run)).toMatchObject({ staged_tried: true });
  const [line] = (await described(run, team.manager))?.lines ?? [];
  expect(line).toMatchObject({
    risk: 'high',
    refused: null,
    fields: expect.arrayContaining([expect.objectContaining({ after: 'Slow' })]),
  });
});
