import { v7 as uuidv7 } from 'uuid';
import { applyDelivery } from '../../../../api/integrations/forge/deliveries/apply-delivery.js';
import { normalise } from '../../../../api/integrations/forge/rules.js';
import { FORGE_EVENTS } from '../../../../api/platform/events/catalogue/forge.js';
import { deliveries, type DeliveryName, withFields } from '../../../../scripts/fixtures/forge-payloads.js';
import { subscribe } from '../../../factories/events.js';
import { buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { buildContext, findEvents, findReceipt, relay, send } from './deliver.js';

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
/** A repository of its own for each test. */
let repo: string;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  await subscribe(app, team);
  project = await buildProject(app, team);
  repo = `Acme/Rocket-${team.team_id}`;
});

const db = () => app.services.db;

const bind = async (fields: Record<string, unknown> = {}, by: Person = team.admin) => {
  const answer = await app.as(by).post('/api/forge/repositories', { repo, team_id: team.team_id, ...fields });
  if (answer.status !== 201) throw new Error(`not bound: ${JSON.stringify(answer.body)}`);
  return answer.body;
};
const bindWithSync = () => bind({ project_id: project.project_id, sync_issues: true });

/** Sends a named delivery from the test's repository and lets the relay apply it. Returns its id. */
async function deliver(name: DeliveryName, patch: Record<string, unknown> = {}): Promise<string> {
  const id = uuidv7();
  const answer = await send(app, name, { 'repository.full_name': repo, ...patch }, { id });
  if (answer.status !== 200) throw new Error(`not accepted: ${JSON.stringify(answer.body)}`);
  await relay(app);
  return id;
}
const buildEvent = async (id: string) => {
  const events = await findEvents(app, id);
  expect(events).toHaveLength(1);
  return events[0] as (typeof events)[number];
};
const toTasks = (of = project) => db()('tasks').where(of).orderBy('created_at');
const findAudit = (entityId: string) => db()('audit_entries').where({ entity_id: entityId }).orderBy('timestamp');
const buildLinks = (taskId: string) => db()('forge_links').where({ task_id: taskId }).orderBy(['kind', 'number']);
const arm = async (trigger_type: string, fields: Record<string, unknown> = {}, by = team.member) =>
  db()('automations').insert({
    name: 'Listens',
    trigger_type,
    team_id: team.team_id,
    created_by: by.user_id,
    updated_by: by.user_id,
    ...fields,
  });

describe('from the real payload to the event', () => {
  const ONE_EACH: DeliveryName[] = [
    'issues.opened',
    'issues.closed',
    'issues.reopened',
    'pull_request.opened',
    'pull_request.synchronize',
    'pull_request.merged',
    'pull_request.closed',
    'push.branch',
    'release.published',
    'check_suite.failed',
    'workflow_run.failed.on_pr',
    'dependabot_alert.created',
  ];

  it('one delivery for each of the 12', () => {
    const types = ONE_EACH.map((name) => normalise(deliveries[name].event, deliveries[name].body)?.type);
    expect(types).toEqual([...FORGE_EVENTS]);
  });

  it.each(ONE_EACH)('%s', async (name) => {
    await bind({ project_id: project.project_id });
    const id = await deliver(name);
    const { event, body } = deliveries[name];
    const expected = normalise(event, withFields(body, { 'repository.full_name': repo }));
    const receipt = await findReceipt(app, id);
    expect(await buildEvent(id)).toMatchObject({
      subject: expected?.type,
      team_id: team.team_id,
      project_id: project.project_id,
      payload: {
        ...expected?.payload,
        actor_id: null,
        linked_task_ids: [],
        task: null,
        project_ids: [project.project_id],
        receipt_id: receipt.receipt_id,
      },
    });
    expect(receipt).toMatchObject({ outcome: 'applied', reason: null, normalized: expected?.type });
  });

  it('carries the correlation id of the request that brought it', async () => {
    await bind();
    const id = uuidv7();
    const answer = await send(app, 'push.branch', { 'repository.full_name': repo }, { id });
    await relay(app);
    expect((await buildEvent(id)).correlation_id).toBe(answer.headers.get('x-correlation-id'));
  });

  it('applied twice it makes one event, and the same run ids in any case', async () => {
    await bind();
    const id = await deliver('push.branch');
    const { receipt_id } = await findReceipt(app, id);
    const { event_id } = await buildEvent(id);
    await applyDelivery(buildContext(app), receipt_id);
    await buildEvent(id);
    await db()('outbox').where({ event_id }).delete();
    await db()('forge_deliveries').where({ receipt_id }).update({ outcome: null });
    await applyDelivery(buildContext(app), receipt_id);
    expect((await buildEvent(id)).event_id).toBe(event_id);
  });

  it('stands or falls with the relay’s transaction', async () => {
    await bindWithSync();
    const id = uuidv7();
    await send(app, 'issues.opened', { 'repository.full_name': repo }, { id });
    const { receipt_id } = await findReceipt(app, id);
    const crashed = db().transaction(async (trx) => {
      await applyDelivery(buildContext(app, { db: trx }), receipt_id);
      throw new Error('power cut');
    });
    await expect(crashed).rejects.toThrow('power cut');
    expect(await toTasks()).toHaveLength(0);
    expect((await findReceipt(app, id)).outcome).toBeNull();
    await relay(app);
    expect(await toTasks()).toHaveLength(1);
    await buildEvent(id);
  });

  it('a payload that is no longer kept fails plainly; an unknown receipt is nobody’s', async () => {
    await bind();
    const id = uuidv7();
    await send(app, 'push.branch', { 'repository.full_name': repo }, { id });
    await db()('forge_deliveries').where({ delivery_id: id }).update({ payload: null });
    await relay(app);
    expect(await findReceipt(app, id)).toMatchObject({ outcome: 'failed', reason: 'The payload is no longer kept' });
    await applyDelivery(buildContext(app), uuidv7());
  });
});

describe('the teams that receive it', () => {
  it('each team that bound the repository, once, with its own project', async () => {
    const other = await buildTeam(app);
    await subscribe(app, other);
    const theirs = await buildProject(app, other);
    await bind({ project_id: project.project_id });
    const second = await buildProject(app, team, { name: 'Hermes' });
    await bind({ project_id: second.project_id });
    await db()('forge_repositories').insert({
      repo: repo.toLowerCase(),
      team_id: other.team_id,
      project_id: theirs.project_id,
      created_by: other.admin.user_id,
    });
    const id = await deliver('pull_request.merged');
    const events = await findEvents(app, id);
    expect(new Set(events.map((event) => event.event_id)).size).toBe(2);
    expect(events.find((event) => event.team_id === team.team_id)).toMatchObject({
      project_id: project.project_id,
      payload: { project_ids: [project.project_id, second.project_id] },
    });
    expect(events.find((event) => event.team_id === other.team_id)).toMatchObject({
      project_id: theirs.project_id,
      payload: { project_ids: [theirs.project_id] },
    });
  });

  it('no longer a team that unbound it or was deleted', async () => {
    const { binding_id } = await bind();
    await app.as(team.admin).delete(`/api/forge/repositories/${binding_id}`);
    const id = await deliver('push.branch');
    expect(await findEvents(app, id)).toHaveLength(0);
    await bind();
    await db()('teams').where({ team_id: team.team_id }).update({ deleted_at: new Date() });
    expect(await findEvents(app, await deliver('push.tag'))).toHaveLength(0);
  });

  it('unbound: every team with an enabled automation of the whole team, and no other', async () => {
    const deaf = await buildTeam(app);
    await arm('forge.pull_request');
    await arm('forge.pr_merged', { team_id: deaf.team_id, is_active: false });
    await arm('forge.*', { team_id: deaf.team_id, project_id: (await buildProject(app, deaf)).project_id });
    await arm('forge.push', { team_id: deaf.team_id });
    const id = await deliver('pull_request.merged');
    expect(await buildEvent(id)).toMatchObject({ team_id: team.team_id, project_id: null, payload: { project_ids: [] } });
    expect(await findReceipt(app, id)).toMatchObject({ outcome: 'applied' });
  });

  it('unbound: each team sees its own linked tasks only', async () => {
    const other = await buildTeam(app);
    const mine = await buildTask(app, team, project);
    const theirs = await buildTask(app, other, await buildProject(app, other));
    for (const [person, task] of [
      [team.member, mine],
      [other.member, theirs],
    ] as const)
      await app.as(person).post(`/api/tasks/${task.task_id}/forge-links`, { repo, issue_number: 1 });
    await arm('forge.*');
    await arm('forge.issue', { team_id: other.team_id });
    const events = await findEvents(app, await deliver('issues.closed'));
    const seen = Object.fromEntries(events.map(({ team_id, payload }) => [team_id, payload.linked_task_ids]));
    expect(seen).toMatchObject({ [team.team_id]: [mine.task_id], [other.team_id]: [theirs.task_id] });
    // Never issue sync.
    expect(await toTasks()).toMatchObject([{ task_id: mine.task_id, status: 'todo' }]);
  });

  it('ignores unbound repositories where they have no receivers, with the reason', async () => {
    const strict = await startApp({ FORGE_UNBOUND: 'none' });
    const id = uuidv7();
    await send(strict, 'push.branch', {}, { id });
    await relay(strict);
    expect(await findReceipt(strict, id)).toMatchObject({ outcome: 'ignored', reason: 'No team had bound the repository' });
    expect(await strict.services.db('outbox')).toHaveLength(0);
    await strict.close();
  });

  it('once it is bound, automations of other teams no longer receive it', async () => {
    const other = await buildTeam(app);
    await arm('forge.push', { team_id: other.team_id });
    await bind();
    expect((await buildEvent(await deliver('push.branch'))).team_id).toBe(team.team_id);
  });
});

describe('issue sync', () => {
  it('opened makes a task as the binding’s creator, with tags from the labels, a link, and all its traces', async () => {
    await bindWithSync();
    const id = await deliver('issues.opened');
    const [task] = await toTasks();
    expect(task).toMatchObject({
      title: 'Spelling error in the README file',
      tags: ['bug'],
      status: 'todo',
      created_by: team.admin.user_id,
      team_id: team.team_id,
    });
    expect(await buildLinks(task.task_id)).toMatchObject([
      { repo: repo.toLowerCase(), kind: 'issue', number: 1, url: expect.stringContaining('/issues/1') },
    ]);
    const event = await buildEvent(id);
    expect(event.payload).toMatchObject({ linked_task_ids: [task.task_id], task: { task_id: task.task_id, status: 'todo' } });
    const [entry] = await findAudit(task.task_id);
    expect(entry).toMatchObject({
      feature: 'tasks',
      action: 'create',
      user_id: team.admin.user_id,
      correlation_id: event.correlation_id,
      user_agent: `forge issue sync, delivery ${id}`,
    });
    expect(await db()('activity').where({ entity_id: task.task_id })).toHaveLength(1);
    expect(
      await db()('outbox').where({ subject: 'task.created' }).whereRaw("payload->'task'->>'task_id' = ?", [task.task_id]),
    ).toHaveLength(1);
  });

  it('closed and reopened move the task, each with its audit entry; task and event agree', async () => {
    await bindWithSync();
    await deliver('issues.opened');
    const [{ task_id }] = await toTasks();
    const closed = await buildEvent(await deliver('issues.closed', { 'issue.updated_at': '2019-05-15T15:21:19Z' }));
    expect((await toTasks())[0]).toMatchObject({ status: 'done', completed_at: expect.any(Date) });
    expect(closed.payload.task).toMatchObject({ task_id, status: 'done' });
    const again = { 'issue.number': 1, 'issue.updated_at': '2019-05-16T00:00:00Z' };
    const reopened = await buildEvent(await deliver('issues.reopened', again));
    expect((await toTasks())[0]).toMatchObject({ status: 'todo', completed_at: null, version: 3 });
    expect(reopened.payload.task).toMatchObject({ task_id, status: 'todo' });
    expect((await findAudit(task_id)).map((entry) => entry.action)).toEqual(['create', 'update', 'update']);
  });

  it('an issue that nobody completed cancels the task, or makes it a duplicate; without a reason a resolution stays', async () => {
    await bindWithSync();
    await deliver('issues.opened');
    const close = async (reason: unknown) => {
      const { issue } = deliveries['issues.closed'].body as { issue: object };
      await deliver('issues.closed', {
        issue: { ...issue, number: 1, updated_at: '2019-05-16T00:00:00Z', state_reason: reason },
      });
      const [{ status, resolution }] = await toTasks();
      return [status, resolution];
    };
    expect(await close('not_planned')).toEqual(['done', 'canceled']);
    expect(await close(null)).toEqual(['done', 'canceled']);
    expect(await close('duplicate')).toEqual(['done', 'duplicate']);
    expect(await close('of another kind')).toEqual(['done', 'duplicate']);
    expect(await close('completed')).toEqual(['done', null]);
    await deliver('issues.reopened', { 'issue.number': 1, 'issue.updated_at': '2019-05-17T00:00:00Z' });
    expect(await toTasks()).toMatchObject([{ status: 'todo', resolution: null }]);
  });

  it('the same delivery again, or the same issue under another id, makes no second task', async () => {
    await bindWithSync();
    const id = await deliver('issues.opened');
    await send(app, 'issues.opened', { 'repository.full_name': repo }, { id });
    await relay(app);
    await deliver('issues.opened');
    expect(await toTasks()).toHaveLength(1);
    expect(await findAudit((await toTasks())[0].task_id)).toHaveLength(1);
  });

  it('a repeated opening does not open a closed task again', async () => {
    await bindWithSync();
    await deliver('issues.opened');
    await deliver('issues.closed', { 'issue.updated_at': '2019-05-15T15:21:19Z' });
    await deliver('issues.opened');
    expect(await toTasks()).toMatchObject([{ status: 'done' }]);
  });

  it('closed before opened: the task is made done', async () => {
    await bindWithSync();
    const closed = await deliver('issues.closed', { 'issue.updated_at': '2019-05-15T15:21:19Z' });
    expect(await toTasks()).toHaveLength(0);
    expect(await findReceipt(app, closed)).toMatchObject({ outcome: 'applied' });
    await deliver('issues.opened');
    expect(await toTasks()).toMatchObject([{ status: 'done', completed_at: expect.any(Date) }]);
  });

  it('closed after reopened, though it happened before: nobody’s work on the task is undone', async () => {
    await bindWithSync();
    await deliver('issues.opened');
    await deliver('issues.reopened', { 'issue.number': 1, 'issue.updated_at': '2019-05-17T00:00:00Z' });
    const [{ task_id }] = await toTasks();
    await app.as(team.member).patch(`/api/tasks/${task_id}`, { status: 'in_review' });
    const late = await deliver('issues.closed', { 'issue.updated_at': '2019-05-16T00:00:00Z' });
    expect(await toTasks()).toMatchObject([{ status: 'in_review' }]);
    expect(await findReceipt(app, late)).toMatchObject({ outcome: 'applied' });
  });

  it('closed while the opening is still being applied waits for it', async () => {
    await bindWithSync();
    const [opened, closed] = [uuidv7(), uuidv7()];
    await send(app, 'issues.opened', { 'repository.full_name': repo }, { id: opened });
    const { receipt_id } = await findReceipt(app, opened);
    await db()('outbox').where({ kind: 'forge.delivery' }).delete();
    let closing: Promise<void> = Promise.resolve();
    await db().transaction(async (trx) => {
      await applyDelivery(buildContext(app, { db: trx }), receipt_id);
      const close = { 'repository.full_name': repo, 'issue.updated_at': '2019-05-15T15:21:19Z' };
      await send(app, 'issues.closed', close, { id: closed });
      closing = relay(app);
      const waiting = "select 1 from pg_locks where locktype = 'advisory' and not granted";
      for (let i = 0; i < 100 && (await db().raw(waiting)).rowCount === 0; i += 1)
        await new Promise((next) => setTimeout(next, 10));
    });
    await closing;
    expect(await toTasks()).toMatchObject([{ status: 'done' }]);
  });

  it('opened and closed applied at the same moment: the task ends done, 10 times of 10', async () => {
    await bindWithSync();
    const numbers = Array.from({ length: 10 }, (_, i) => i + 10);
    for (const number of numbers) {
      const issue = { 'repository.full_name': repo, 'issue.number': number };
      await send(app, 'issues.opened', issue);
      await send(app, 'issues.closed', { ...issue, 'issue.updated_at': '2019-05-15T15:21:19Z' });
    }
    await Promise.all([relay(app), relay(app), relay(app), relay(app)]);
    expect((await toTasks()).map((task) => task.status)).toEqual(Array(10).fill('done'));
  });

  it('keeps the contract’s limits: title, tags, and texts with nothing to see', async () => {
    await bindWithSync();
    const labels = [
      ...Array.from({ length: 25 }, (_, i) => ({ name: ` label ${i} ` })),
      { name: 'x'.repeat(80) },
      { name: ' ' },
      { name: 'label 1' },
    ];
    await deliver('issues.opened', { 'issue.title': ` ${'😀'.repeat(250)}`, 'issue.labels': labels.reverse() });
    await deliver('issues.opened', { 'issue.number': 2, 'issue.title': '\u200b ' });
    await deliver('issues.opened', { 'issue.number': 3, 'issue.title': null, 'issue.labels': null });
    const [long, blank, none] = await toTasks();
    expect(long.title).toBe('😀'.repeat(200));
    expect(long.tags).toHaveLength(20);
    expect(long.tags.slice(0, 3)).toEqual(['label 1', 'x'.repeat(50), 'label 24']);
    expect(blank).toMatchObject({ title: 'Issue #2' });
    expect(none).toMatchObject({ title: 'Issue #3', tags: [] });
  });

  it('a task in the trash is left there', async () => {
    await bindWithSync();
    await deliver('issues.opened');
    const [{ task_id }] = await toTasks();
    await app.as(team.member).delete(`/api/tasks/${task_id}`);
    for (const name of ['issues.opened', 'issues.closed'] as const) {
      const id = await deliver(name);
      expect(await findReceipt(app, id)).toMatchObject({ outcome: 'applied' });
      expect((await buildEvent(id)).payload).toMatchObject({ linked_task_ids: [], task: null });
    }
    expect((await toTasks())[0]).toMatchObject({ deleted_at: expect.any(Date), status: 'todo' });
  });

  it('a manually linked task follows too', async () => {
    await bindWithSync();
    const task = await buildTask(app, team, project);
    await app.as(team.member).post(`/api/tasks/${task.task_id}/forge-links`, { repo, issue_number: 1 });
    await deliver('issues.closed');
    expect((await toTasks())[0]).toMatchObject({ task_id: task.task_id, status: 'done' });
  });

  it('a binding without sync changes no task', async () => {
    await bind({ project_id: project.project_id });
    await deliver('issues.opened');
    expect(await toTasks()).toHaveLength(0);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['left the team', () => db()('memberships').where({ user_id: team.admin.user_id }).delete()],
    ['is a guest now', () => db()('memberships').where({ user_id: team.admin.user_id }).update({ role: 'guest' })],
    ['is suspended', () => db()('users').where({ user_id: team.admin.user_id }).update({ status: 'suspended' })],
  ])('a creator who %s writes nothing: failed with the reason, and the event goes out', async (_what, change) => {
    await bindWithSync();
    await change();
    const id = await deliver('issues.opened');
    expect(await toTasks()).toHaveLength(0);
    expect(await findReceipt(app, id)).toMatchObject({
      outcome: 'failed',
      reason: 'Issue sync: the creator of the binding may no longer write there',
    });
    expect((await buildEvent(id)).payload).toMatchObject({ linked_task_ids: [], task: null });
  });

  it('a binding that fails does not take the others along', async () => {
    const trashed = await buildProject(app, team);
    await bind({ project_id: trashed.project_id, sync_issues: true });
    await bindWithSync();
    await db()('projects').where(trashed).update({ deleted_at: new Date() });
    const id = await deliver('issues.opened');
    expect(await toTasks()).toHaveLength(1);
    expect(await findReceipt(app, id)).toMatchObject({ outcome: 'failed', reason: 'Issue sync: Project not found' });
    await buildEvent(id);
  });

  it('reaches no task of a team that did not bind the repository, though it is linked to the issue', async () => {
    const other = await buildTeam(app);
    await subscribe(app, other);
    const theirs = await buildProject(app, other);
    const task = await buildTask(app, other, theirs);
    await app.as(other.member).post(`/api/tasks/${task.task_id}/forge-links`, { repo, issue_number: 1 });
    await bindWithSync();
    await deliver('issues.opened');
    const id = await deliver('issues.closed', { 'issue.updated_at': '2019-05-15T15:21:19Z' });
    expect(await toTasks(theirs)).toMatchObject([{ task_id: task.task_id, status: 'todo', version: 1 }]);
    expect((await buildEvent(id)).payload.linked_task_ids).toEqual([(await toTasks())[0].task_id]);
    await deliver('pull_request.merged.closing');
    expect(await buildLinks(task.task_id)).toMatchObject([{ kind: 'issue' }]);
  });

  it('a delivery without an issue number fails plainly', async () => {
    await bindWithSync();
    const id = await deliver('issues.opened', { 'issue.number': 'seven' });
    expect(await findReceipt(app, id)).toMatchObject({ outcome: 'failed', reason: 'Issue sync: the delivery names no issue' });
  });
});

describe('pull requests', () => {
  beforeEach(bindWithSync);

  it('a closing keyword links the pull request to the issue’s task, and the event shows the task', async () => {
    await deliver('issues.opened');
    const [{ task_id }] = await toTasks();
    const event = await buildEvent(await deliver('pull_request.merged.closing'));
    expect(event).toMatchObject({
      subject: 'forge.pr_merged',
      payload: { pr_number: 2, closes_issues: [1], linked_task_ids: [task_id], task: { task_id, status: 'todo' } },
    });
    expect(await buildLinks(task_id)).toMatchObject([
      { kind: 'issue', number: 1 },
      { kind: 'pull_request', number: 2, url: expect.stringContaining('/pull/2') },
    ]);
  });

  it('without a closing keyword it is linked to nothing, and a keyword taken out unlinks it', async () => {
    await deliver('issues.opened');
    const [{ task_id }] = await toTasks();
    await deliver('pull_request.opened.closing');
    expect(await buildLinks(task_id)).toHaveLength(2);
    expect((await buildEvent(await deliver('pull_request.merged'))).payload).toMatchObject({ linked_task_ids: [], task: null });
    expect(await buildLinks(task_id)).toHaveLength(1);
  });

  it('keeps its title, state and author, and records only that it was linked', async () => {
    await bind();
    const task = await buildTask(app, team, project);
    await db()('teams').where({ team_id: team.team_id }).update({ key: 'HAR' });
    const { number } = await db()('tasks').where({ task_id: task.task_id }).first();
    const head = { 'pull_request.head.ref': `har-${number as number}` };
    await deliver('pull_request.opened', { ...head, 'pull_request.title': 'Paint', 'pull_request.user.login': 'o'.repeat(101) });
    expect(await buildLinks(task.task_id)).toMatchObject([{ state: 'open', author: 'o'.repeat(100) }]);
    await deliver('pull_request.synchronize', { ...head, 'pull_request.title': `Paint ${'x'.repeat(300)}` });
    expect(await buildLinks(task.task_id)).toMatchObject([{ title: `Paint ${'x'.repeat(194)}`, merged: false, state: 'open' }]);
    await deliver('pull_request.closed', head);
    expect(await buildLinks(task.task_id)).toMatchObject([{ merged: false, state: 'closed' }]);
    await deliver('pull_request.merged', { ...head, 'pull_request.title': 'Painted' });
    expect(await buildLinks(task.task_id)).toMatchObject([{ title: 'Painted', merged: true, state: 'merged' }]);
    expect((await findAudit(task.task_id)).filter(({ feature }) => feature === 'forge')).toHaveLength(1);
  });

  it('tasks come in the order of the keywords', async () => {
    await deliver('issues.opened', { 'issue.number': 8 });
    await deliver('issues.opened', { 'issue.number': 5 });
    const [eight, five] = await toTasks();
    const event = await buildEvent(await deliver('pull_request.opened', { 'pull_request.body': 'Fixes #5, closes #8' }));
    expect(event.payload).toMatchObject({ linked_task_ids: [five.task_id, eight.task_id], task: { task_id: five.task_id } });
  });

  it('is linked to the tasks that title, branch and text name, of the team that has bound the repository alone', async () => {
    const other = await buildTeam(app);
    const [mine, second, third, mentioned] = [
      await buildTask(app, team, project),
      await buildTask(app, team, project),
      await buildTask(app, team, project),
      await buildTask(app, team, project),
    ];
    const theirs = await buildTask(app, other, await buildProject(app, other));
    await db()('teams').where({ team_id: team.team_id }).update({ key: 'HAR' });
    await db()('teams').where({ team_id: other.team_id }).update({ key: 'FAR' });
    const numberOf = async ({ task_id }: { task_id: string }) => (await db()('tasks').where({ task_id }).first()).number;
    const opened = await deliver('pull_request.opened', {
      'pull_request.title': `har-${await numberOf(mine)}: paint the quay, as FAR-${await numberOf(theirs)} and UTF-8`,
      'pull_request.head.ref': `ada/har-${await numberOf(second)}-paint`,
      'pull_request.body': `See HAR-${await numberOf(mentioned)}.\nFixes: HAR-${await numberOf(third)}`,
    });
    const ids = [mine, second, third].map(({ task_id }) => task_id);
    expect((await buildEvent(opened)).payload).toMatchObject({
      closes_issues: [],
      linked_task_ids: ids,
      task: { task_id: mine.task_id },
    });
    for (const task_id of ids) expect(await buildLinks(task_id)).toMatchObject([{ kind: 'pull_request', number: 2 }]);
    for (const { task_id } of [mentioned, theirs]) expect(await buildLinks(task_id)).toEqual([]);
    // A name that is taken out unlinks the task.
    const merged = await deliver('pull_request.merged', { 'pull_request.head.ref': `har-${await numberOf(second)}` });
    expect((await buildEvent(merged)).payload).toMatchObject({ linked_task_ids: [second.task_id] });
    expect(await buildLinks(mine.task_id)).toEqual([]);
  });

  it('a branch that is pushed names tasks of the team that has bound the repository; a tag, a deletion and a commit name none', async () => {
    await bind();
    const task = await buildTask(app, team, project);
    await db()('teams').where({ team_id: team.team_id }).update({ key: 'HAR' });
    const { number } = await db()('tasks').where({ task_id: task.task_id }).first();
    const push = async (fields: Record<string, unknown>) => (await buildEvent(await deliver('push.branch', fields))).payload;
    const branch = `refs/heads/ada/har-${number as number}-paint-the-quay`;
    expect(await push({ ref: branch, commits: [] })).toMatchObject({ linked_task_ids: [task.task_id], task: { status: 'todo' } });
    for (const fields of [
      { ref: branch, deleted: true },
      { ref: `refs/tags/har-${number as number}` },
      { ref: 'refs/heads/main', 'commits.0.message': `HAR-${number as number}` },
    ])
      expect(await push(fields)).toMatchObject({ linked_task_ids: [], task: null });
    expect(await buildLinks(task.task_id)).toEqual([]);
    await db()('forge_repositories').where({ team_id: team.team_id }).delete();
    const events = await findEvents(app, await deliver('push.branch', { ref: branch }));
    expect(events.flatMap(({ payload }) => payload['linked_task_ids'])).toEqual([]);
  });

  it('a failed run finds the tasks of its pull request', async () => {
    await deliver('issues.opened');
    const [{ task_id }] = await toTasks();
    await deliver('pull_request.opened.closing');
    expect((await buildEvent(await deliver('workflow_run.failed.on_pr'))).payload).toMatchObject({
      pr_number: 2,
      linked_task_ids: [task_id],
      task: { task_id },
    });
    expect((await buildEvent(await deliver('workflow_run.failed'))).payload).toMatchObject({ linked_task_ids: [] });
  });
});
