import { openGate } from '../../../../api/automation/runs/approvals/asking/open-gate.js';
import { finishRun } from '../../../../api/automation/runs/execution/finish-run.js';
import { performAction } from '../../../../api/automation/runs/execution/perform-action.js';
import { performOutbound } from '../../../../api/automation/runs/execution/perform-outbound.js';
import { runDelay } from '../../../../api/automation/runs/execution/run-delay.js';
import { describeGates } from '../../../../api/automation/runs/staging/describe-gates.js';
import type { Context } from '../../../../api/platform/context.js';
import { createField, setFields } from '../../../factories/custom-fields.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../../factories/people.js';
import { buildRun, GATE, type TestRun } from '../../../factories/runs.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { type Receiver, startReceiver } from '../../../support/receiver.js';
import { givePasswords, signIn } from '../../web/browser.js';

// An action with a condition: one automation branches. A gate shows which actions are skipped, and exactly those are.

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
});

const db = () => app.services.db;
const carrier = ({ run_id }: TestRun) => ({ runId: run_id, incarnation: 1, execution: 'an-execution' });
const perform = (run: TestRun, index: number) => performAction(app.services, carrier(run), index);
const retitle = (title: string, onlyIf?: string) => ({
  type: 'update_task',
  params: { task_id: task.task_id, title },
  ...(onlyIf !== undefined && { if: onlyIf }),
});
const event = (fields: object) => ({ event: { type: 'forge.pr_merged', ...fields } });
const begunRun = (actions: object[], fields: Record<string, unknown> = {}): Promise<TestRun> =>
  buildRun(app, team, {
    actions: actions as { type: string }[],
    status: 'running',
    statuses: actions.map(() => 'pending'),
    gateIndex: 99,
    fields,
  });
async function openedRun(actions: object[], fields: Record<string, unknown> = {}, gate: object = GATE): Promise<TestRun> {
  const run = await begunRun([gate, ...actions], fields);
  await openGate(app.services, carrier(run), 0);
  return { ...run, gate_index: 0 };
}
const getStep = ({ run_id }: TestRun, index: number) => db()('run_actions').where({ run_id, index }).first();
const titleNow = async () => (await app.as(team.member).get(`/api/tasks/${task.task_id}`)).body.title;
const approve = ({ run_id }: TestRun) => app.as(team.manager).post(`/api/automations/runs/${run_id}/approve`, {});
const described = async ({ run_id }: TestRun) => {
  const { user_id: userId, email } = team.manager;
  const ctx = { ...app.services, actor: { type: 'user', userId, email, role: 'user' } } as unknown as Context;
  return (await describeGates(ctx, [run_id]))[run_id];
};
const save = (actions: object[]) =>
  app.as(team.member).post('/api/automations', { name: 'Any', trigger_type: 'task.updated', team_id: team.team_id, actions });

const URGENT = "event.priority == 'urgent'";

it('performs an action whose condition is true and skips one whose condition is false, with the reason', async () => {
  const run = await begunRun([retitle('High', URGENT), retitle('Low', `!(${URGENT})`)], event({ priority: 'low' }));
  expect(await perform(run, 0)).toMatchObject({ outcome: 'skipped' });
  expect(await getStep(run, 0)).toMatchObject({
    status: 'skipped',
    output: { skipped: `${URGENT} is false (event.priority is "low")` },
    error: null,
  });
  expect(await perform(run, 1)).toMatchObject({ outcome: 'succeeded', ended: 'succeeded' });
  expect(await titleNow()).toBe('Low');
});

it('ends a run whose last action is skipped, and skips delays and requests too', async () => {
  const never = { if: 'event.never == true' };
  const actions = [
    { type: 'delay', params: { seconds: 60 }, ...never },
    { type: 'http_request', params: { method: 'GET', url: receiver.url }, ...never },
  ];
  const run = await begunRun(actions, event({ never: false }));
  expect(await runDelay(app.services, carrier(run), 0)).toMatchObject({ outcome: 'skipped' });
  expect(await performOutbound(app.services, carrier(run), 1)).toMatchObject({ outcome: 'skipped', ended: 'succeeded' });
  expect(receiver.received).toEqual([]);
  expect(await performOutbound(app.services, carrier(run), 1)).toMatchObject({ outcome: 'skipped', ended: 'succeeded' });
});

it.each([
  ['reads what the event lacks', 'event.none.title == "x"', {}],
  ['is no yes or no', 'event.priority', {}],
  ['meets an event that was cut', URGENT, { event_truncated: true }],
])('fails an action whose condition %s', async (_name, onlyIf, fields) => {
  const action = { ...retitle('Never', onlyIf), retry: { max_attempts: 3 } };
  const run = await begunRun([action, retitle('After')], { ...event({ priority: 'urgent' }), ...fields });
  expect(await perform(run, 0)).toEqual({ outcome: 'failed', code: 'condition_failed' });
  expect((await getStep(run, 0)).error.message).toMatch(/^The condition of the action could not be evaluated: ./);
  expect(await perform(run, 1)).toMatchObject({ outcome: 'succeeded', ended: 'failed' });
});

it('shows at a gate what is skipped, and does that although the event says something else by then', async () => {
  const run = await openedRun(
    [retitle('High', `has(event.priority) && ${URGENT}`), retitle('Low', `!(${URGENT})`), retitle('Wrong', 'event.none == 1')],
    event({ priority: 'low' }),
  );
  const shown = await described(run);
  expect(shown?.lines).toMatchObject([
    { skipped: `${URGENT} is false (event.priority is "low")`, refused: null, fields: [] },
    { skipped: null, refused: null, title: 'Rotate the keys' },
    { skipped: null, refused: expect.stringContaining('could not be evaluated') },
  ]);
  expect((await approve(run)).status).toBe(200);
  // No product code does this: the text that was approved decides, not what a condition would come to.
  await db()('automation_runs')
    .where({ run_id: run.run_id })
    .update({ event: { priority: 'urgent' } });
  expect(await perform(run, 1)).toMatchObject({ outcome: 'skipped' });
  expect(await perform(run, 2)).toMatchObject({ outcome: 'succeeded' });
  expect(await titleNow()).toBe('Low');
  expect(await perform(run, 3)).toEqual({ outcome: 'failed', code: 'condition_failed', ended: 'failed' });
});

it('shows hidden characters of an event in the reason', async () => {
  const run = await openedRun([retitle('High', URGENT), retitle('Other')], event({ priority: 'ur\u202Egent' }));
  const [line] = (await described(run))?.lines ?? [];
  expect(line?.skipped).not.toContain('\u202E');
  expect(line?.skipped).toContain('is false');
});

it('keeps the text of a gate as it was where no action is skipped', async () => {
  const run = await openedRun([retitle('Plain'), retitle('Kept', `!(${URGENT})`)], event({ priority: 'low' }));
  const { staged } = await db()('gates').where({ run_id: run.run_id }).first();
  expect(staged).not.toContain('skipped');
});

describe('a gate whose actions are all skipped', () => {
  const low = event({ priority: 'low' });

  it('asks nobody, and nothing behind it runs', async () => {
    const run = await begunRun([GATE, retitle('High', URGENT), retitle('Higher', URGENT)], low);
    expect(await openGate(app.services, carrier(run), 0)).toMatchObject({ state: 'approved', skipped: true });
    expect(await openGate(app.services, carrier(run), 0)).toMatchObject({ state: 'approved', skipped: true });
    expect(await db()('gates').where({ run_id: run.run_id })).toEqual([]);
    expect((await app.as(team.manager).get('/api/approvals')).body).toEqual([]);
    // No product code does this: what is closed stays closed, whatever the event says.
    await db()('automation_runs')
      .where({ run_id: run.run_id })
      .update({ event: { priority: 'urgent' } });
    expect(await perform(run, 1)).toMatchObject({ outcome: 'skipped' });
    expect(await perform(run, 2)).toMatchObject({ outcome: 'skipped' });
    expect(await finishRun(app.services, carrier(run), false)).toBe('succeeded');
    expect(await getStep(run, 0)).toMatchObject({
      status: 'skipped',
      output: { skipped: expect.stringContaining('nothing to approve') },
    });
    expect(await titleNow()).toBe('Rotate the keys');
  });

  it('leaves what a further gate releases to that gate', async () => {
    const run = await begunRun([GATE, retitle('High', URGENT), GATE, retitle('Low', `!(${URGENT})`)], low);
    expect(await openGate(app.services, carrier(run), 0)).toMatchObject({ skipped: true });
    expect(await openGate(app.services, carrier(run), 2)).toMatchObject({ state: 'pending' });
    await approve(run);
    expect(await perform(run, 3)).toMatchObject({ outcome: 'succeeded', ended: 'succeeded' });
    expect(await titleNow()).toBe('Low');
  });

  it.each([
    ['a condition cannot be evaluated', 'event.none == 1'],
    ['one of them is performed', undefined],
  ])('asks where %s', async (_name, onlyIf) => {
    const run = await begunRun([GATE, retitle('High', URGENT), retitle('Other', onlyIf)], low);
    expect(await openGate(app.services, carrier(run), 0)).toMatchObject({ state: 'pending' });
  });

  it('asks where no action is behind it', async () => {
    const run = await begunRun([retitle('High', URGENT), GATE], low);
    await perform(run, 0);
    expect(await openGate(app.services, carrier(run), 1)).toMatchObject({ state: 'pending' });
  });
});

describe('an action that would change nothing, behind a gate that skips such', () => {
  const SKIPS = { ...GATE, params: { ...GATE.params, if_unchanged: 'skip' } };
  const opened = (actions: object[]) => openedRun(actions, undefined, SKIPS);
  const update = (params: object) => ({ type: 'update_task', params: { task_id: task.task_id, ...params } });
  const same = () => update({ priority: 'medium', title: 'Rotate the keys', assigned_to: null });
  const NOTHING = 'changes nothing: title Rotate the keys, priority medium, assigned to as it is';
  const raise = async (priority: string) =>
    expect((await app.as(team.member).patch(`/api/tasks/${task.task_id}`, { priority })).status).toBe(200);

  it('asks nobody where a gate releases nothing else, and stays undone', async () => {
    const run = await begunRun(
      [
        SKIPS,
        same(),
        retitle('Never', URGENT),
        { ...same(), type: 'set_task_status', params: { task_id: task.task_id, status: 'todo' } },
      ],
      event({ priority: 'low' }),
    );
    for (const _time of [1, 2])
      expect(await openGate(app.services, carrier(run), 0)).toMatchObject({ state: 'approved', skipped: true });
    expect(await db()('gates').where({ run_id: run.run_id })).toEqual([]);
    expect((await app.as(team.manager).get('/api/approvals')).body).toEqual([]);
    // What the run says is what happens, whatever the task is by then.
    await raise('low');
    for (const index of [1, 2, 3]) expect(await perform(run, index)).toMatchObject({ outcome: 'skipped' });
    expect(await finishRun(app.services, carrier(run), false)).toBe('succeeded');
    expect(await getStep(run, 1)).toMatchObject({ status: 'skipped', output: { skipped: NOTHING } });
    expect(await getStep(run, 3)).toMatchObject({ output: { skipped: 'changes nothing: status todo as it is' } });
    expect((await app.as(team.member).get(`/api/tasks/${task.task_id}`)).body).toMatchObject({ priority: 'low', version: 2 });
  });

  it('is shown as skipped beside what changes something, and is not performed', async () => {
    const run = await opened([same(), retitle('New'), retitle('New')]);
    expect((await described(run))?.lines).toMatchObject([
      { skipped: NOTHING, title: 'Rotate the keys', fields: [] },
      { skipped: null },
      { skipped: 'changes nothing: title New as it is' },
    ]);
    await raise('low');
    expect((await approve(run)).status).toBe(200);
    expect(await perform(run, 1)).toMatchObject({ outcome: 'skipped' });
    expect(await perform(run, 2)).toMatchObject({ outcome: 'succeeded' });
    expect(await perform(run, 3)).toMatchObject({ outcome: 'skipped', ended: 'succeeded' });
    expect((await app.as(team.member).get(`/api/tasks/${task.task_id}`)).body).toMatchObject({ priority: 'low', title: 'New' });
  });

  it('asks where it comes to that while the gate waits, and behind a delay', async () => {
    const run = await opened([update({ priority: 'urgent' })]);
    await raise('urgent');
    expect((await described(run))?.lines).toMatchObject([{ skipped: null }]);
    await approve(run);
    expect(await perform(run, 1)).toMatchObject({ outcome: 'succeeded' });
    const late = await opened([{ type: 'delay', params: { seconds: 60 } }, update({ priority: 'urgent' })]);
    expect((await described(late))?.lines).toMatchObject([{ skipped: null }, { skipped: null }]);
  });

  it('is asked about, and performed, where the gate does not say so', async () => {
    const run = await openedRun([same()]);
    expect((await described(run))?.lines).toMatchObject([{ skipped: null }]);
    await raise('low');
    await approve(run);
    expect(await perform(run, 1)).toMatchObject({ outcome: 'succeeded' });
    expect((await app.as(team.member).get(`/api/tasks/${task.task_id}`)).body).toMatchObject({ priority: 'medium' });
  });

  it('asks before a further gate, whose approvers a yes would lead to', async () => {
    const run = await begunRun([SKIPS, same(), GATE, retitle('High')]);
    expect(await openGate(app.services, carrier(run), 0)).toMatchObject({ state: 'pending' });
    expect((await described(run))?.lines).toMatchObject([{ skipped: NOTHING }]);
  });

  it.each([
    ['is refused now, and may do by then', update.bind(null, { stage_id: 'No such stage' })],
    [
      'is sent, and whose answer may change it',
      () => ({ type: 'notify', params: { user_ids: [team.admin.user_id], message: 'x' } }),
    ],
  ])('is performed behind an action that %s', async (_what, before) => {
    const run = await opened([before(), same()]);
    expect((await described(run))?.lines).toMatchObject([{ skipped: null }, { skipped: null }]);
  });

  it('shows that its target has changed, and asks again where the gate does so', async () => {
    const run = await opened([same(), retitle('New')]);
    await raise('low');
    expect((await described(run))?.lines).toMatchObject([
      { skipped: NOTHING, changed: { summary: 'changed priority' } },
      { changed: { summary: 'changed priority' } },
    ]);
  });

  it('asks where it is refused, and where its fields hold another value', async () => {
    const field = await createField(app, team, 'select', { name: 'Severity' });
    await setFields(app, team, [{ field, task_id: task.task_id, value: 'low' }]);
    const asks = async (params: object) => (await opened([update(params)])).run_id;
    for (const params of [{ custom_fields: { severity: 'high' } }, { parent_task_id: task.task_id }])
      expect(await db()('gates').where({ run_id: await asks(params) })).toHaveLength(1);
    const run = await begunRun([SKIPS, update({ custom_fields: { severity: 'low' } })]);
    expect(await openGate(app.services, carrier(run), 0)).toMatchObject({ skipped: true });
    expect(await getStep(run, 1)).toMatchObject({ output: { skipped: 'changes nothing: severity low as it is' } });
  });
});

it('the run page says why an action was, or will be, skipped', async () => {
  await givePasswords(app);
  const browser = await signIn(app, team.manager);
  const run = await openedRun([retitle('High', URGENT), retitle('Other')], event({ priority: '<low>' }));
  const waiting = (await browser.get(`/app/runs/${run.run_id}`)).html;
  expect(waiting).toContain('will be skipped');
  expect(waiting).toContain('(event.priority is &quot;&lt;low&gt;&quot;)');
  await approve(run);
  await perform(run, 1);
  expect((await browser.get(`/app/runs/${run.run_id}`)).html).toContain('Skipped: event.priority ==');
});

it('a dry run says what would be skipped', async () => {
  const made = await save([retitle('High', "event.task.priority == 'urgent'"), retitle('Low')]);
  const body = { event: { task: { task_id: task.task_id, priority: 'low' } } };
  const tested = await app.as(team.member).post(`/api/automations/${made.body.automation_id}/test`, body);
  expect(tested.status).toBe(202);
  await givePasswords(app);
  const browser = await signIn(app, team.member);
  const shown = await browser.get(`/app/automations/${made.body.automation_id}/dry-run/${tested.body.run_id}?event=own`);
  expect(shown.html).toContain('Skipped: event.task.priority ==');
});

describe('on save', () => {
  it.each([
    ['event.task.', /^actions\[0\]\.if: /],
    ['event.task.status.matches("a")', /^actions\[0\]\.if: matches\(\) is not available/],
    [
      'project.name == "Apollo"',
      /^actions\[0\]\.if: Unknown variable: project: the condition of an action reads the event and answers only/,
    ],
    ['1', /^actions\[0\]\.if: A condition must be true or false/],
    [`event.a == "${'x'.repeat(1_000)}"`, /^actions\[0\]\.if: A condition can have at most 1000 characters/],
  ])('refuses %j at its place', async (onlyIf, message) => {
    const refused = await save([retitle('Any', onlyIf)]);
    expect(refused.status).toBe(400);
    expect(refused.body.message).toMatch(message);
  });

  it('refuses a condition on a gate', async () => {
    const refused = await save([{ ...GATE, if: URGENT }, retitle('Any')]);
    expect(refused.status).toBe(400);
    expect(refused.body.message).toBe('actions[0].if: a gate has no condition: put it on the actions behind the gate');
  });

  it('keeps it in both notations, also beside flat parameters, and takes an empty one as none', async () => {
    const flat = { type: 'update_task', task_id: task.task_id, title: 'Flat', if: URGENT };
    const made = await save([flat, retitle('Full', URGENT), retitle('None', '  ')]);
    expect(made.body.actions).toMatchObject([
      { if: URGENT, params: { task_id: task.task_id, title: 'Flat' } },
      { if: URGENT, params: { task_id: task.task_id, title: 'Full' } },
      { params: { title: 'None' } },
    ]);
    expect(made.body.actions[0].params).not.toHaveProperty('if');
    expect(made.body.actions[2]).not.toHaveProperty('if');
  });

  it('the builder checks the condition of a step while it is typed, and keeps it', async () => {
    const made = await save([retitle('High', URGENT)]);
    await givePasswords(app);
    const browser = await signIn(app, team.member);
    const edit = await browser.get(`/app/automations/${made.body.automation_id}/edit`);
    expect(edit.html).toContain('name="s0.if"');
    const check = (typed: string) =>
      browser.get(`/app/automations/condition/0?trigger_type=task.updated&s0.if=${encodeURIComponent(typed)}`);
    expect((await check('event.task.')).html).toContain('class="check wrong"');
    expect((await check("event.task.priority == 'none such'")).html).toContain('has this step skipped');
  });
});
