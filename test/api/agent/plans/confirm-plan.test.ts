import type { ProposedAction } from '../../../../api/agent/plans/proposal.js';
import { listPendingAfter } from '../../../../api/agent/plans/waiting/list-pending.js';
import { buildSession, buildContext, stage, staged } from '../../../factories/agent.js';
import { subscribe } from '../../../factories/events.js';
import {
  buildPerson,
  buildProject,
  buildTask,
  buildTeam,
  buildToken,
  type Person,
  type TestTeam,
} from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let task: Awaited<ReturnType<typeof buildTask>>;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
  task = await buildTask(app, team, project, { title: 'Login 500' });
});

const db = () => app.services.db;
const act = (tool: ProposedAction['tool'], params: Record<string, unknown>, entity_id?: string): ProposedAction => ({
  tool,
  params,
  ...(entity_id && { entity_id }),
});
const onTask = (tool: ProposedAction['tool'], params: Record<string, unknown> = {}) => act(tool, params, task.task_id);
const planRow = (action_id: string) => db()('agent_plans').where({ action_id }).first();
const taskRow = (task_id = task.task_id) => db()('tasks').where({ task_id }).first();
const openFuzzSession = async (action_id: string) => (await planRow(action_id)).session_id as string;
const confirm = async (by: { token: string } | string, plan: { action_id: string }, fields: Record<string, unknown> = {}) =>
  app.as(by).post('/api/ai-workspace/agent/confirm', {
    session_id: await openFuzzSession(plan.action_id),
    action_id: plan.action_id,
    ...fields,
  });
const findAudit = (action_id: string, action: string) => db()('audit_entries').where({ entity_id: action_id, action });
/** A plan of the team, as an automation would stage it. */
const ofTeam = async (actions: ProposedAction[], by: Person = team.member) =>
  staged(app, by, actions, {
    session: await buildSession(app, team, { kind: 'automation' }),
    source: 'automation',
    lifeHours: 168,
    depth: 4,
  });
/** Everything except the plan's own rows. */
const digest = async () => {
  const tables = ['tasks', 'comments', 'items', 'relations', 'activity', 'projects', 'item_keys'];
  const rows = await Promise.all(tables.map((table) => db()(table).select('*').orderBy(1)));
  return JSON.stringify(rows);
};

describe('confirming', () => {
  it('applies all actions as the confirming person, each with its cause, after the entry of the confirmation', async () => {
    const plan = await staged(app, team.member, [
      act('task.create', { title: 'Parent', project_id: project.project_id }),
      onTask('task.update', { parent_task_id: '$0', priority: 'urgent' }),
      onTask('task.comment', { content: 'As agreed' }),
      act('relation.create', { source_id: '$0', target_id: task.task_id, relation_type: 'blocks' }),
      act('note.create', { title: 'Minutes', project_id: project.project_id, content: 'All said' }),
      act('project.update', { description: 'New' }, project.project_id),
    ]);
    const { status, body, headers } = await confirm(team.member, plan, { plan_hash: plan.plan_hash });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      success: true,
      status: 'applied',
      message: 'Applied 6 of 6 changes',
      decided_by: team.member.user_id,
      correlation_id: headers.get('x-correlation-id'),
    });
    expect(body.results.map((r: { entity_type: string; status: string }) => [r.entity_type, r.status])).toEqual(
      ['task', 'task', 'comment', 'relation', 'note', 'project'].map((type) => [type, 'applied']),
    );
    const parent = body.results[0].entity_id as string;
    expect(await taskRow()).toMatchObject({ parent_task_id: parent, priority: 'urgent', version: 2 });
    const entries = await db()('audit_entries').where({ correlation_id: body.correlation_id }).orderBy(['timestamp', 'audit_id']);
    expect(entries.map(({ action, entity_type, actor_type }) => [action, entity_type, actor_type])).toEqual([
      ['confirm', 'agent_plan', 'user'],
      ['create', 'task', 'agent'],
      ['update', 'task', 'agent'],
      ['create', 'comment', 'agent'],
      ['create', 'relation', 'agent'],
      ['create', 'note', 'agent'],
      ['update', 'project', 'agent'],
    ]);
    for (const [index, { details, user_id }] of entries.slice(1).entries()) {
      expect(user_id).toBe(team.member.user_id);
      expect(JSON.parse(details).caused_by).toEqual({ action_id: plan.action_id, plan_hash: plan.plan_hash, index });
    }
    expect(await db()('agent_actions').where({ action_id: plan.action_id, index: 1 }).first()).toMatchObject({
      result: 'applied',
      version_after: 2,
    });
    expect(await db()('outbox').where({ kind: 'plan.wake', subject: plan.action_id })).toHaveLength(1);
    const shown = await app.as(team.member).get(`/api/ai-workspace/agent/plans/${plan.action_id}`);
    expect(shown.body).toMatchObject({
      status: 'applied',
      results: body.results,
      decided_by: team.member.user_id,
      actions: plan.actions,
    });
  });

  it('409 for the second confirmation: it says who and when', async () => {
    const plan = await staged(app, team.member, [onTask('task.set_status', { status: 'done' })]);
    expect((await confirm(team.member, plan)).status).toBe(200);
    const again = await confirm(team.member, plan);
    expect(again).toMatchObject({ status: 409, body: { plan_status: 'applied' } });
    expect(again.body.message).toMatch(/^The plan was applied by p[0-9a-f]+ at 20/);
    expect((await confirm(team.member, plan, { confirmed: false })).status).toBe(409);
  });

  it('applies a subset and never the rest', async () => {
    const plan = await staged(app, team.member, [
      act('task.create', { title: 'New', project_id: project.project_id }),
      act('task.comment', { content: 'On it' }, '$0'),
      onTask('task.assign', { assigned_to: team.member.user_id }),
    ]);
    const tries: [number[], number, string][] = [
      [[1], 400, 'action 1 needs action 0'],
      [[0, 0], 400, 'action_indexes names an action twice'],
      [[3], 400, 'There is no action 3 in the plan'],
      [[], 422, 'Invalid field: action_indexes'],
      [[-1], 422, 'Invalid field: action_indexes.0'],
    ];
    for (const [action_indexes, status, message] of tries) {
      expect(await confirm(team.member, plan, { action_indexes })).toMatchObject({ status, body: { message } });
    }
    const { body } = await confirm(team.member, plan, { action_indexes: [2] });
    expect(body).toMatchObject({ message: 'Applied 1 of 3 changes' });
    expect(body.results.map(({ status }: { status: string }) => status)).toEqual(['skipped', 'skipped', 'applied']);
    expect(await taskRow()).toMatchObject({ assigned_to: team.member.user_id });
  });

  it('409 for another hash, with every field of the text flipped too: 500 and a critical entry', async () => {
    const plan = await staged(app, team.member, [onTask('task.set_status', { status: 'done' })]);
    const other = `${plan.plan_hash.slice(0, -1)}${plan.plan_hash.endsWith('0') ? '1' : '0'}`;
    expect(await confirm(team.member, plan, { plan_hash: other })).toMatchObject({
      status: 409,
      body: { plan_status: 'staged' },
    });
    const { canonical } = await planRow(plan.action_id);
    const content = JSON.parse(canonical);
    for (const field of [...Object.keys(content), ...Object.keys(content.actions[0]).map((name) => `actions.0.${name}`)]) {
      const changed = JSON.parse(canonical);
      const at = field.startsWith('actions.0.') ? changed.actions[0] : changed;
      at[field.replace('actions.0.', '')] = field === 'actions' ? [] : 'changed';
      await db()('agent_plans')
        .where({ action_id: plan.action_id })
        .update({ canonical: JSON.stringify(changed) });
      expect([field, (await confirm(team.member, plan)).status]).toEqual([field, 500]);
    }
    expect(await findAudit(plan.action_id, 'confirm')).toContainEqual(
      expect.objectContaining({ severity: 'CRITICAL', outcome: 'failure' }),
    );
    await db()('agent_plans').where({ action_id: plan.action_id }).update({ canonical });
    expect((await taskRow()).status).toBe('todo');
    expect((await confirm(team.member, plan)).status).toBe(200);
  });

  it('a plan is stale by its chosen actions only, and then closed', async () => {
    const other = await buildTask(app, team, project, { title: 'Other' });
    const build = () =>
      staged(app, team.member, [
        onTask('task.set_status', { status: 'in_review' }),
        act('task.set_status', { status: 'done' }, other.task_id),
      ]);
    const [first, second] = [await build(), await build()];
    await app.as(team.manager).patch(`/api/tasks/${task.task_id}`, { title: 'Edited' });
    const shown = await app.as(team.member).get(`/api/ai-workspace/agent/plans/${first.action_id}`);
    expect(shown.body.stale).toEqual([{ index: 0, expected: 1, found: 2 }]);
    expect((await confirm(team.member, first, { action_indexes: [1] })).status).toBe(200);
    const refused = await confirm(team.member, second, { action_indexes: [0] });
    expect(refused).toMatchObject({ status: 409, body: { plan_status: 'stale', stale: [{ index: 0, expected: 1, found: 2 }] } });
    expect((await planRow(second.action_id)).status).toBe('stale');
    expect(await confirm(team.member, second, { action_indexes: [1] })).toMatchObject({
      status: 409,
      body: { plan_status: 'stale' },
    });
    expect(await findAudit(second.action_id, 'confirm')).toMatchObject([{ outcome: 'failure' }]);
  });

  it('410 after its time, by the database’s clock; discarding still works', async () => {
    const plan = await staged(app, team.member, [onTask('task.delete')]);
    await db()('agent_plans')
      .where({ action_id: plan.action_id })
      .update({ expires_at: db().raw("now() - interval '1 second'") });
    expect(await confirm(team.member, plan)).toMatchObject({
      status: 410,
      body: { error_code: 'PLAN_EXPIRED', plan_status: 'expired' },
    });
    expect(await confirm(team.member, plan, { confirmed: false })).toMatchObject({ status: 200, body: { status: 'discarded' } });
    expect(await planRow(plan.action_id)).toMatchObject({ status: 'discarded', closed_reason: 'person' });
  });

  it('writes nothing of 1 to 36 when action 37 is refused, names it, and the plan stays', async () => {
    const gone = await buildTask(app, team, project, { title: 'Gone' });
    const actions = Array.from({ length: 50 }, (_, n) => onTask('task.comment', { content: `${n}` }));
    actions[37] = act('task.comment', { content: 'x' }, gone.task_id);
    const plan = await staged(app, team.member, actions);
    await app.as(team.member).delete(`/api/tasks/${gone.task_id}`);
    const before = await digest();
    expect(await confirm(team.member, plan)).toMatchObject({
      status: 404,
      body: { action_index: 37, error_code: 'RESOURCE_NOT_FOUND' },
    });
    expect(await digest()).toBe(before);
    expect((await planRow(plan.action_id)).status).toBe('staged');
    expect(await findAudit(plan.action_id, 'confirm')).toEqual([]);
    const rest = plan.actions.map(({ index }) => index).filter((index) => index !== 37);
    expect((await confirm(team.member, plan, { action_indexes: rest })).status).toBe(200);
  });

  it('409 if a deletion or a move would take along subtasks that the plan does not show', async () => {
    const elsewhere = await buildProject(app, team);
    const [deletion, move] = [
      await staged(app, team.member, [onTask('task.delete')]),
      await staged(app, team.member, [onTask('task.update', elsewhere)]),
    ];
    const child = await buildTask(app, team, project, { parent_task_id: task.task_id });
    for (const plan of [deletion, move]) {
      const message = 'The number of subtasks has changed since the plan was staged: 1, not 0';
      expect(await confirm(team.member, plan)).toMatchObject({ status: 409, body: { action_index: 0, message } });
      expect((await planRow(plan.action_id)).status).toBe('staged');
    }
    await app.as(team.member).delete(`/api/tasks/${child.task_id}`);
    expect((await confirm(team.member, move)).status).toBe(200);
    expect(await confirm(team.member, deletion)).toMatchObject({ status: 409, body: { plan_status: 'stale' } });
  });

  it('counts what an earlier action of the plan leaves below a deletion', async () => {
    const [first, second] = [
      await buildTask(app, team, project, { parent_task_id: task.task_id }),
      await buildTask(app, team, project, { parent_task_id: task.task_id }),
    ];
    const plan = await staged(app, team.member, [act('task.delete', {}, first.task_id), onTask('task.delete')]);
    expect(plan.actions[1]).toMatchObject({ after: { subtasks_trashed: 1 } });
    expect(await confirm(team.member, plan, { action_indexes: [1] })).toMatchObject({ status: 409, body: { action_index: 1 } });
    expect((await confirm(team.member, plan)).status).toBe(200);
    expect((await taskRow(second.task_id)).deleted_at).not.toBeNull();
  });

  it('returns 404 for strangers and foreign sessions, 403 for guests and former members', async () => {
    const plan = await staged(app, team.member, [onTask('task.delete')]);
    const stranger = await buildPerson(app);
    expect((await confirm(stranger, plan)).status).toBe(404);
    expect((await confirm(team.admin, plan)).status).toBe(404);
    const foreign = (await buildSession(app, { user_id: team.member.user_id })).session_id;
    expect((await confirm(team.member, plan, { session_id: foreign })).status).toBe(404);
    expect((await app.as(team.admin).get(`/api/ai-workspace/agent/plans/${plan.action_id}`)).status).toBe(404);
    await db()('memberships').where({ team_id: team.team_id, user_id: team.member.user_id }).update({ role: 'guest' });
    expect((await confirm(team.member, plan)).status).toBe(403);
    await db()('memberships').where({ team_id: team.team_id, user_id: team.member.user_id }).delete();
    expect((await confirm(team.member, plan)).status).toBe(403);
    expect((await app.as(team.member).get(`/api/ai-workspace/agent/plans/${plan.action_id}`)).status).toBe(403);
  });

  it('a plan of a team: members confirm, a high risk needs a manager, and the depth goes on', async () => {
    await subscribe(app, team);
    const child = await buildTask(app, team, project, { parent_task_id: task.task_id });
    const plan = await ofTeam([act('task.comment', { content: 'x' }, child.task_id), onTask('task.delete')], team.manager);
    expect((await confirm(await buildPerson(app), plan)).status).toBe(404);
    expect((await confirm(team.guest, plan)).status).toBe(403);
    expect(await confirm(team.member, plan)).toMatchObject({
      status: 403,
      body: { message: 'Requires the manager role in the team' },
    });
    expect((await confirm(team.member, plan, { action_indexes: [0] })).status).toBe(200);
    const events = await db()('outbox')
      .where({ team_id: team.team_id, kind: 'event', depth: 4 })
      .orderBy('subject')
      .pluck('subject');
    expect(events).toEqual(['agent.plan_applied', 'agent.plan_staged', 'comment.created']);
    const [entry] = await findAudit(plan.action_id, 'confirm');
    expect(entry).toMatchObject({ team_id: team.team_id, user_id: team.member.user_id });
  });

  it('a token cannot confirm what it has proposed', async () => {
    const secret = await buildToken(app, team.member, ['ai:confirm', 'ai:chat']);
    const { token_id } = await db()('personal_access_tokens').where({ user_id: team.member.user_id }).first();
    const session = await buildSession(app, { user_id: team.member.user_id }, { kind: 'mcp', token_id });
    const plan = await staged(app, team.member, [onTask('task.delete')], {
      session,
      source: 'mcp',
      tokenId: token_id,
      lifeHours: 168,
    });
    expect(await confirm(secret, plan)).toMatchObject({
      status: 403,
      body: { message: 'A token cannot confirm what it has proposed' },
    });
    const other = await buildToken(app, team.member, ['ai:confirm']);
    expect((await confirm(other, plan)).status).toBe(200);
    const entry = await db()('audit_entries').where({ entity_id: task.task_id, action: 'delete' }).first();
    expect(entry).toMatchObject({ actor_type: 'agent', user_id: team.member.user_id });
  });

  it('revoking the token, leaving the team and deleting the session discard plans', async () => {
    await buildToken(app, team.member, ['ai:chat']);
    const { token_id } = await db()('personal_access_tokens').where({ user_id: team.member.user_id }).first();
    const session = await buildSession(app, { user_id: team.member.user_id }, { kind: 'mcp', token_id });
    const byToken = await staged(app, team.member, [onTask('task.delete')], {
      session,
      source: 'mcp',
      tokenId: token_id,
      lifeHours: 168,
    });
    expect((await app.as(team.member).delete(`/api/auth/tokens/${token_id}`)).status).toBe(200);
    const inSession = await staged(app, team.member, [onTask('task.delete')]);
    expect(
      (await app.as(team.member).delete(`/api/ai-workspace/sessions/${await openFuzzSession(inSession.action_id)}`)).status,
    ).toBe(200);
    const own = await staged(app, team.member, [onTask('task.delete')]);
    expect((await app.as(team.admin).delete(`/api/teams/${team.team_id}/members/${team.member.user_id}`)).status).toBe(200);
    for (const { action_id } of [byToken, inSession, own]) {
      expect(await planRow(action_id)).toMatchObject({ status: 'discarded', closed_reason: 'source_gone', decided_by: null });
      expect(await findAudit(action_id, 'discard')).toHaveLength(1);
      expect(await db()('outbox').where({ kind: 'plan.wake', subject: action_id })).toHaveLength(1);
    }
  });

  it('the deprecated route does the same and says what to use', async () => {
    const plan = await staged(app, team.member, [onTask('task.set_status', { status: 'done' })]);
    const body = { session_id: await openFuzzSession(plan.action_id), action_id: plan.action_id };
    const answer = await app.as(team.member).post('/api/ai-workspace/actions/confirm', body);
    expect(answer).toMatchObject({
      status: 200,
      body: { success: true, action_id: plan.action_id, details: { status: 'applied' } },
    });
    const again = await app.as(team.member).post('/api/ai-workspace/actions/confirm', body);
    expect(again.status).toBe(409);
    for (const { headers } of [answer, again]) {
      expect(headers.get('deprecation')).toBe('@1795305600');
      expect(headers.get('sunset')).toBe('Wed, 30 Jun 2027 00:00:00 GMT');
      expect(headers.get('link')).toBe('</api/ai-workspace/agent/confirm>; rel="successor-version"');
    }
  });
});

describe('the pending list', () => {
  it('shows plans of own teams and own agents, nearest end first, with what is stale and who may confirm', async () => {
    const child = await buildTask(app, team, project, { parent_task_id: task.task_id });
    const high = await ofTeam([onTask('task.delete')], team.manager);
    const low = await ofTeam([act('task.update', { priority: 'urgent' }, child.task_id)]);
    await staged(app, team.member, [onTask('task.delete')]);
    await db()('agent_plans')
      .where({ action_id: high.action_id })
      .update({ expires_at: db().raw("now() + interval '1 hour'") });
    await app.as(team.manager).patch(`/api/tasks/${child.task_id}`, { title: 'Edited' });
    const list = (by: Person) => app.as(by).get('/api/ai-workspace/agent/pending');
    const { body } = await list(team.member);
    expect(body).toMatchObject({
      total: 2,
      pending: [
        { action_id: high.action_id, source: 'automation', team_id: team.team_id, risk: 'high', can_confirm: false },
        { action_id: low.action_id, can_confirm: true, stale: [{ index: 0, expected: 1, found: 2 }] },
      ],
    });
    expect((await list(team.manager)).body.pending[0]).toMatchObject({ can_confirm: true });
    for (const by of [team.guest, await buildPerson(app)]) expect((await list(by)).body).toEqual({ pending: [], total: 0 });
    expect((await db()('notifications').where({ kind: 'plan_staged', team_id: team.team_id })).length).toBe(5);
  });
});

it('a list of large plans is cut by bytes, and goes on behind them', async () => {
  const large = (n: number) => [1, 2].map((k) => onTask('task.comment', { content: `${n}.${k}`.padEnd(10_000, 'x') }));
  const plans = [await ofTeam(large(1)), await ofTeam(large(2)), await ofTeam(large(3))];
  const ctx = buildContext(app, team.member);
  const first = await listPendingAfter(ctx, 10, null, 45_000);
  expect(first).toMatchObject({ plans: [{ action_id: plans[0]?.action_id }, { action_id: plans[1]?.action_id }], hasMore: true });
  const rest = await listPendingAfter(ctx, 10, plans[1]?.action_id, 1);
  expect(rest).toMatchObject({ plans: [{ action_id: plans[2]?.action_id }], hasMore: false });
});

describe('undo', () => {
  const undo = (by: Person, { action_id }: { action_id: string }) =>
    app.as(by).post(`/api/ai-workspace/agent/plans/${action_id}/undo`);

  it('stages the inverse, which needs its own confirmation and can be undone too', async () => {
    const other = await buildTask(app, team, project, { title: 'Other', priority: 'low' });
    const doomed = await buildTask(app, team, project, { title: 'Doomed' });
    await buildTask(app, team, project, { title: 'Below', parent_task_id: doomed.task_id });
    const plan = await staged(app, team.member, [
      onTask('task.update', { priority: 'urgent', due_date: '2027-01-01', tags: ['a'] }),
      onTask('task.set_status', { status: 'in_review' }),
      act('task.create', { title: 'New', project_id: project.project_id }),
      act('task.comment', { content: 'Goes with it' }, '$2'),
      onTask('task.comment', { content: 'Said' }),
      act('relation.create', { source_id: task.task_id, target_id: other.task_id, relation_type: 'blocks' }),
      act('note.create', { title: 'N', project_id: project.project_id }),
      act('task.delete', {}, doomed.task_id),
    ]);
    const before = await taskRow();
    const done = await confirm(team.member, plan);
    expect(done.status).toBe(200);
    const { status, body } = await undo(team.member, plan);
    expect(status).toBe(200);
    expect(body).toMatchObject({ undo_of: plan.action_id, omitted: [] });
    expect(body.actions.map(({ tool }: { tool: string }) => tool)).toEqual([
      'task.restore',
      'note.delete',
      'relation.delete',
      'comment.delete',
      'task.delete',
      'task.set_status',
      'task.update',
    ]);
    expect((await taskRow()).priority).toBe('urgent');
    expect(await undo(team.member, plan)).toMatchObject({ status: 409, body: { undone_by: body.action_id } });
    expect((await confirm(team.member, body, { plan_hash: body.plan_hash })).status).toBe(200);
    const after = await taskRow();
    for (const field of ['priority', 'due_date', 'tags', 'status']) expect(after[field]).toEqual(before[field]);
    expect((await taskRow(doomed.task_id)).deleted_at).toBeNull();
    expect((await taskRow(done.body.results[2].entity_id)).deleted_at).not.toBeNull();
    expect(await db()('relations').where({ source_id: task.task_id })).toEqual([]);
    const redo = await undo(team.member, body);
    expect(redo.body.actions.map(({ tool }: { tool: string }) => tool)).toEqual([
      'task.update',
      'task.set_status',
      'task.restore',
      'relation.create',
      'task.delete',
    ]);
    expect((await confirm(team.member, redo.body)).status).toBe(200);
    expect(await taskRow()).toMatchObject({ priority: 'urgent', status: 'in_review' });
  });

  it('brings back why nobody completed a task, and takes it away', async () => {
    const close = (resolution: string | null) =>
      staged(app, team.member, [onTask('task.set_status', { status: 'done', resolution })]);
    const isNow = async (status: string, resolution: string | null) =>
      expect(await taskRow()).toMatchObject({ status, resolution });
    const canceled = await close('canceled');
    expect((await confirm(team.member, canceled)).status).toBe(200);
    await isNow('done', 'canceled');
    const changed = await close('duplicate');
    await confirm(team.member, changed);
    await isNow('done', 'duplicate');
    await confirm(team.member, (await undo(team.member, changed)).body);
    await isNow('done', 'canceled');
    const reopened = await staged(app, team.member, [onTask('task.update', { status: 'in_progress' })]);
    await confirm(team.member, reopened);
    await isNow('in_progress', null);
    await confirm(team.member, (await undo(team.member, reopened)).body);
    await isNow('done', 'canceled');
  });

  it('sets a stage with its status, and brings back the one that a status has cleared', async () => {
    const stage = { team_id: team.team_id, name: 'In QA', status: 'in_review' };
    const { stage_id } = (await app.as(team.manager).post('/api/stages', stage)).body;
    const isNow = async (status: string, id: string | null) => expect(await taskRow()).toMatchObject({ status, stage_id: id });
    const set = await staged(app, team.member, [onTask('task.update', { stage_id })]);
    const shown = await app.as(team.member).get(`/api/ai-workspace/agent/plans/${set.action_id}`);
    expect(shown.body.actions[0]).toMatchObject({
      before: { status: 'todo', stage_id: null },
      after: { status: 'in_review', stage_id },
    });
    await confirm(team.member, set);
    await isNow('in_review', stage_id);
    const done = await staged(app, team.member, [onTask('task.set_status', { status: 'done' })]);
    await confirm(team.member, done);
    await isNow('done', null);
    await confirm(team.member, (await undo(team.member, done)).body);
    await isNow('in_review', stage_id);
  });

  it('a target changed since then makes its action stale; the others can be confirmed', async () => {
    const other = await buildTask(app, team, project, { title: 'Other' });
    const plan = await staged(app, team.member, [
      onTask('task.set_status', { status: 'in_review' }),
      act('task.set_status', { status: 'in_review' }, other.task_id),
    ]);
    await confirm(team.member, plan);
    await app.as(team.manager).patch(`/api/tasks/${task.task_id}`, { title: 'Edited' });
    const { body } = await undo(team.member, plan);
    const shown = await app.as(team.member).get(`/api/ai-workspace/agent/plans/${body.action_id}`);
    expect(shown.body.stale).toEqual([{ index: 1, expected: 2, found: 3 }]);
    expect((await confirm(team.member, body, { action_indexes: [0] })).status).toBe(200);
    expect((await taskRow(other.task_id)).status).toBe('todo');
  });

  it('omits changes that cannot be undone, and returns an error if none can', async () => {
    const { username } = await db()('users').where({ user_id: team.manager.user_id }).first();
    const plan = await staged(app, team.member, [onTask('task.comment', { content: `@${username} read this` })]);
    expect((await undo(team.member, plan)).status).toBe(409);
    await confirm(team.member, plan);
    expect(await undo(team.member, plan)).toMatchObject({
      status: 409,
      body: { message: 'Nothing of the plan can be undone' },
    });
    expect((await undo(team.manager, plan)).status).toBe(404);
  });
});

it('stages again what a retry of a deadlock needs: confirming and editing at once never fails', async () => {
  const plans = await Promise.all(
    Array.from({ length: 6 }, () =>
      stage(app, team.member, [onTask('task.set_status', { status: 'done' }), onTask('task.delete')]),
    ),
  );
  const answers = await Promise.all([
    ...plans.map(({ plan }) => confirm(team.member, plan as { action_id: string })),
    ...plans.map((_, n) => app.as(team.manager).patch(`/api/tasks/${task.task_id}`, { title: `${n}` })),
  ]);
  for (const { status } of answers) expect([200, 404, 409]).toContain(status);
});
