import { v7 as uuidv7 } from 'uuid';
import { encodeCursor, decodeCursor } from '../../../../api/identity/live/cursor.js';
import type { LiveEvents } from '../../../../api/identity/live/schema.js';
import { buildBulkJob } from '../../../factories/bulk.js';
import { buildPerson, buildProject, buildTask, buildTeam, buildToken, leave, type TestTeam } from '../../../factories/people.js';
import { buildRunner, queueJob } from '../../../factories/runners.js';
import { buildRun } from '../../../factories/runs.js';
import { createWebhook } from '../../../factories/webhooks.js';
import { type Client, startApp, type TestApp } from '../../../support/app.js';
import { untilPast } from '../../../support/event-stream.js';
import { until } from '../../../support/worker.js';

// GET /api/events as a list: its order, its rights and its cursor.

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
  await untilPast(app);
});

const read = async (client: Client, query = ''): Promise<LiveEvents> => (await client.get(`/api/events${query}`)).body;
const start = async (client: Client): Promise<string> => (await read(client)).cursor;
const after = (cursor: string, more = '') => `?after=${cursor}${more}`;

/** Reads until there are so many events; other test files share the cluster, whose transactions may hold some back. */
async function readUntil(client: Client, cursor: string, count: number, more = ''): Promise<LiveEvents> {
  let found: LiveEvents | undefined;
  await until(async () => (found = await read(client, after(cursor, more))).events.length >= count);
  return found as LiveEvents;
}

it('gives the changes after a cursor, oldest first, each once, and goes on from any of them', async () => {
  const member = app.as(team.member);
  const cursor = await start(member);
  expect((await read(member)).events).toEqual([]);
  const task = await buildTask(app, team, project);
  await member.patch(`/api/tasks/${task.task_id}`, { status: 'done' });
  const comment = (await member.post(`/api/tasks/${task.task_id}/comments`, { content: 'Done' })).body;
  const { events, cursor: last, has_more } = await readUntil(member, cursor, 3);
  expect(events.map(({ type, entity_id, parent_id }) => [type, entity_id, parent_id])).toEqual([
    ['task.created', task.task_id, null],
    ['task.updated', task.task_id, null],
    ['comment.created', comment.comment_id, task.task_id],
  ]);
  expect(events[0]).toEqual({
    id: expect.stringMatching(/^evt_/),
    type: 'task.created',
    entity_type: 'task',
    entity_id: task.task_id,
    parent_id: null,
    team_id: team.team_id,
    project_id: project.project_id,
    user_id: team.member.user_id,
    actor_type: 'user',
    correlation_id: expect.any(String),
    timestamp: expect.any(String),
  });
  expect(has_more).toBe(false);
  expect((await read(member, after(last))).events).toEqual([]);
  for (const [index, { id }] of events.entries()) {
    expect((await read(member, after(id))).events).toEqual(events.slice(index + 1));
  }
});

it('pages by limit and by a filter without losing a place', async () => {
  const member = app.as(team.member);
  const cursor = await start(member);
  const tasks = [];
  for (let n = 0; n < 5; n += 1) tasks.push((await buildTask(app, team, project)).task_id);
  await member.post(`/api/tasks/${tasks[0]}/comments`, { content: 'One' });
  await readUntil(member, cursor, 6);
  const seen: (string | null)[] = [];
  let page: LiveEvents = { events: [], cursor, has_more: true };
  while (page.has_more) {
    page = await read(member, after(page.cursor, '&limit=2&types=task'));
    expect(page.events.length).toBeLessThanOrEqual(2);
    seen.push(...page.events.map(({ entity_id }) => entity_id));
  }
  expect(seen).toEqual(tasks);
  expect((await read(member, after(cursor, '&types=comment'))).events.map(({ type }) => type)).toEqual(['comment.created']);
  expect((await read(member, after(cursor, '&types=comment.created,task.deleted'))).events).toHaveLength(1);
  expect((await read(member, after(cursor, '&types=project'))).events).toEqual([]);
});

/** A transaction with a change of the team that the caller may commit later. */
async function beginChange(title: string) {
  const trx = await app.services.db.transaction();
  const who = { user_id: team.admin.user_id, request_id: uuidv7(), correlation_id: uuidv7(), actor_type: 'user' };
  const change = {
    team_id: team.team_id,
    feature: 'projects',
    action: 'update',
    entity_type: 'project',
    entity_id: title,
  };
  await trx.raw('select record_change(?::jsonb, ?::jsonb)', [JSON.stringify(who), JSON.stringify(change)]);
  return trx;
}

it('gives nothing out before what an older transaction may still commit, and then both in order', async () => {
  const member = app.as(team.member);
  const cursor = await start(member);
  const older = await beginChange('older');
  const younger = await beginChange('younger');
  await younger.commit();
  // The row is committed, and a reader by time or id would get it now, and never the older one after it.
  expect(await app.services.db('live_changes').where({ entity_id: 'younger' })).toHaveLength(1);
  const held = await read(member, after(cursor));
  expect(held.events).toEqual([]);
  await older.commit();
  const both = await readUntil(member, held.cursor, 2);
  expect(both.events.map(({ entity_id }) => entity_id)).toEqual(['older', 'younger']);
});

it('misses none and repeats none while transactions commit in any order', async () => {
  const member = app.as(team.member);
  let cursor = await start(member);
  const seen: string[] = [];
  let writing = true;
  const reader = (async () => {
    for (let last = false; !last; ) {
      last = !writing;
      const page = await read(member, after(cursor, '&limit=7&types=project'));
      seen.push(...page.events.map(({ entity_id }) => entity_id as string));
      ({ cursor } = page);
      if (page.has_more) last = false;
    }
  })();
  const writers = [0, 1, 2, 3].map(async (writer) => {
    for (let n = 0; n < 25; n += 1) {
      const trx = await beginChange(`${writer}:${n}`);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 30));
      await trx.commit();
    }
  });
  await Promise.all(writers);
  writing = false;
  await reader;
  await until(async () => {
    const page = await read(member, after(cursor, '&types=project'));
    seen.push(...page.events.map(({ entity_id }) => entity_id as string));
    ({ cursor } = page);
    return seen.length >= 100;
  });
  expect(seen).toHaveLength(100);
  expect(new Set(seen).size).toBe(100);
  for (const writer of [0, 1, 2, 3]) {
    const own = seen.filter((id) => id.startsWith(`${writer}:`));
    expect(own).toEqual(Array.from({ length: 25 }, (_, n) => `${writer}:${n}`));
  }
});

it('names the steps of a run that wait, not those that are done at once, and the progress of a bulk job', async () => {
  const { db } = app.services;
  const { run_id, automation_id } = await buildRun(app, team, { status: 'running', statuses: ['pending', 'pending', 'pending'] });
  const job_id = await buildBulkJob(app, team, { status: 'queued', finished_at: null });
  await untilPast(app);
  const [member, manager] = [app.as(team.member), app.as(team.manager)];
  const cursor = await start(member);
  const step = (index: number, fields: Record<string, unknown>) => db('run_actions').where({ run_id, index }).update(fields);
  await step(0, { status: 'succeeded' });
  await step(1, { status: 'running', attempts: 1 });
  await step(1, { attempts: 2, due_at: db.fn.now() });
  await step(1, { attempts: 3 });
  await step(1, { status: 'failed' });
  await step(2, { status: 'skipped' });
  const progress = { processed: 5, total: 9 };
  for (const fields of [{ status: 'running' }, progress, progress]) await db('bulk_jobs').where({ job_id }).update(fields);
  const { events } = await readUntil(manager, cursor, 5);
  expect(events.map(({ type, entity_id, parent_id }) => [type, entity_id, parent_id])).toEqual([
    ['automation_run.step_running', run_id, automation_id],
    ['automation_run.step_running', run_id, automation_id],
    ['automation_run.step_failed', run_id, automation_id],
    ['bulk_job.progress', job_id, null],
    ['bulk_job.progress', job_id, null],
  ]);
  // Members do not read the jobs of managers.
  expect((await readUntil(member, cursor, 3)).events.map(({ entity_type }) => entity_type)).toEqual(
    Array(3).fill('automation_run'),
  );
});

it('tells of the log of a running job as its lease is renewed, and only if there is more of it', async () => {
  const runner = await buildRunner(app, team);
  const job_id = await queueJob(app, team);
  await runner.calls.post('/api/runners/claim', { wait_seconds: 0 });
  await untilPast(app);
  const member = app.as(team.member);
  const cursor = await start(member);
  const job = () => app.services.db('runner_jobs').where({ job_id });
  const send = (chunk: string, offset: number) => runner.calls.post(`/api/runners/jobs/${job_id}/logs`, { chunk, offset });
  // Each stands for a report some seconds later.
  const renew = (seconds: number) =>
    job().update({ lease_until: app.services.db.raw(`lease_until - make_interval(secs => ${seconds})`) });
  await send('built\n', 0);
  await renew(4);
  await renew(8);
  const first = await readUntil(member, cursor, 1);
  expect(first.events.map(({ type, entity_id, team_id }) => [type, entity_id, team_id])).toEqual([
    ['runner_job.log', job_id, team.team_id],
  ]);
  await send('linked\n', 6);
  await renew(4);
  expect((await readUntil(member, cursor, 2)).events).toHaveLength(2);
  expect(await job().first('log_size', 'log_announced')).toEqual({ log_size: 13, log_announced: 13 });
});

it('names the deliveries of a webhook where its health changes, and the steps of a deprovisioning to who requested it', async () => {
  const { db } = app.services;
  const { webhook_id } = await createWebhook(app, team);
  const admin = await buildPerson(app, { role: 'admin' });
  const job = {
    user_id: (await buildPerson(app)).user_id,
    reason: 'Left',
    requested_by: admin.user_id,
    correlation_id: uuidv7(),
  };
  const [{ job_id }] = await db('deprovision_jobs').insert(job).returning('job_id');
  await untilPast(app);
  const [own, manager] = [app.as(admin), app.as(team.admin)];
  const [ownCursor, cursor] = [await start(own), await start(manager)];
  await db('webhook_health').where({ webhook_id }).update({ last_success_at: db.fn.now() });
  await db('webhook_health').where({ webhook_id }).update({ mailed_at: db.fn.now() });
  await db('deprovision_jobs').where({ job_id }).update({ status: 'running' });
  await db('deprovision_steps').insert({ job_id, step: 'endSessions', result: {} });
  const { events } = await readUntil(manager, cursor, 1);
  expect(events.map(({ type, entity_id }) => [type, entity_id])).toEqual([['webhook.delivery', webhook_id]]);
  expect((await readUntil(own, ownCursor, 2)).events.map(({ type, entity_id }) => [type, entity_id])).toEqual([
    ['deprovision_job.running', job_id],
    ['deprovision_job.progress', job_id],
  ]);
});

it('leaves out what was rolled back', async () => {
  const member = app.as(team.member);
  const cursor = await start(member);
  await (await beginChange('undone')).rollback();
  await (await beginChange('kept')).commit();
  expect((await readUntil(member, cursor, 1)).events.map(({ entity_id }) => entity_id)).toEqual(['kept']);
});

it('gives each caller what they may read now: by team, by role, and no more after they left', async () => {
  const stranger = await buildPerson(app);
  const [admin, guest] = [app.as(team.admin), app.as(team.guest)];
  const cursor = await start(admin);
  const task = await buildTask(app, team, project);
  await admin.post('/api/automations/secrets', { team_id: team.team_id, name: 'KEY', value: 'x', allowed_hosts: ['a.example'] });
  const all = await readUntil(admin, cursor, 2);
  expect(all.events.map(({ type }) => type)).toEqual(['task.created', 'secret.created']);
  expect((await read(guest, after(cursor))).events.map(({ entity_id }) => entity_id)).toEqual([task.task_id]);
  expect((await read(app.as(stranger), after(cursor))).events).toEqual([]);
  expect((await read(app.as(stranger), after(cursor, `&team_id=${team.team_id}`))).events).toEqual([]);
  await leave(app, team, team.guest);
  const own = await readUntil(guest, cursor, 1);
  expect(own.events.map(({ type, entity_id }) => [type, entity_id])).toEqual([['membership.deleted', team.team_id]]);
});

it('gives what is a user’s own to nobody else', async () => {
  const { db } = app.services;
  const [one, other] = [app.as(team.member), app.as(team.admin)];
  const cursor = await start(one);
  await db('notifications').insert({ user_id: team.member.user_id, kind: 'message', message: 'x', team_id: team.team_id });
  expect((await readUntil(one, cursor, 1)).events.map(({ type, team_id }) => [type, team_id])).toEqual([
    ['notification.created', null],
  ]);
  expect((await read(other, after(cursor))).events).toEqual([]);
});

it('holds a strict token to its scopes, and refuses the token of an outside agent', async () => {
  const strict = app.as(await buildToken(app, team.member, ['projects:read'], { strict: true }));
  const loose = app.as(await buildToken(app, team.member, ['projects:read']));
  const cursor = await start(strict);
  await buildTask(app, team, project);
  await (await beginChange('project')).commit();
  expect((await readUntil(loose, cursor, 2)).events).toHaveLength(2);
  expect((await readUntil(strict, cursor, 1)).events.map(({ entity_type }) => entity_type)).toEqual(['project']);
  const agent = app.as(await buildToken(app, team.member, ['admin:*'], { mcp_only: true }));
  expect((await agent.get('/api/events')).status).toBe(403);
  const revoked = app.as(await buildToken(app, team.member, ['admin:*'], { revoked_at: new Date() }));
  expect((await revoked.get('/api/events')).status).toBe(401);
});

it('answers 410 to a cursor older than 30 days, and to one of another history of the database', async () => {
  const member = app.as(team.member);
  const known = decodeCursor(await start(member));
  if (!known) throw new Error('no cursor');
  const day = 24 * 3_600_000;
  const at = (ms: number, history = known.history) => encodeCursor(history, known, ms);
  expect((await member.get(`/api/events?after=${at(Date.now() - 29 * day)}`)).status).toBe(200);
  const old = await member.get(`/api/events?after=${at(Date.now() - 31 * day)}`);
  expect([old.status, old.body.error_code]).toEqual([410, 'CURSOR_EXPIRED']);
  const foreign = await member.get(`/api/events?after=${at(Date.now(), (known.history ^ 1) >>> 0)}`);
  expect([foreign.status, foreign.body.error_code]).toEqual([410, 'CURSOR_EXPIRED']);
});

it.each(['after=x', 'after=evt_', 'types=nothing', 'types=task.', 'types=', 'limit=0'])('answers 422 to %s', async (query) => {
  expect((await app.as(team.member).get(`/api/events?${query}`)).status).toBe(422);
});

it('drops the changes of another cluster, whose order ended with it', async () => {
  const { db } = app.services;
  await buildTask(app, team, project);
  const moved = async () => (await db.raw<{ rows: [{ moved: boolean }] }>('select start_live_changes() as moved')).rows[0].moved;
  expect(await moved()).toBe(false);
  expect(await db('live_changes').where({ owner_id: team.team_id })).not.toEqual([]);
  await db('live_cluster').update({ system_identifier: 1 });
  expect(await moved()).toBe(true);
  expect(await db('live_changes')).toEqual([]);
  expect(await moved()).toBe(false);
});
