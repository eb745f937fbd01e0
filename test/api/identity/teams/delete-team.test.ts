import { v7 as uuidv7 } from 'uuid';
import { purgeExpired } from '../../../../api/bulk/trash/purge-expired.js';
import { buildAutomation, comment, gate } from '../../../factories/automations.js';
import { buildPerson, buildProject, buildTask, buildTeam, type TestTeam } from '../../../factories/people.js';
import { buildRun } from '../../../factories/runs.js';
import { type Client, startApp, type TestApp } from '../../../support/app.js';

// DELETE /api/teams/:team_id.

let app: TestApp;
let team: TestTeam;
let admin: Client;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  admin = app.as(team.admin);
});

const db = () => app.services.db;
const remove = (by = admin, id = team.team_id) => by.delete(`/api/teams/${id}`);
const get = (by = admin) => by.get(`/api/teams/${team.team_id}`);

it('returns 200, hides the team from everyone and ends every membership', async () => {
  const answer = await remove();
  expect(answer).toMatchObject({ status: 200, body: { success: true, team_id: team.team_id } });
  for (const person of [team.admin, team.member, team.guest]) {
    const client = app.as(person);
    expect((await get(client)).status).toBe(404);
    expect((await client.get('/api/teams')).body).toEqual([]);
    expect((await client.post('/api/projects', { name: 'Late', team_id: team.team_id })).status).toBe(404);
  }
  expect(await db()('memberships').where({ team_id: team.team_id })).toEqual([]);
  const [entry] = await db()('audit_entries').where({ entity_id: team.team_id, action: 'delete' });
  expect(entry).toMatchObject({ audit_id: answer.headers.get('x-correlation-id'), severity: 'HIGH', feature: 'teams' });
  expect(JSON.parse(entry.details)).toMatchObject({ members: 4 });
  expect((await remove()).status).toBe(404);
});

it('409 while it has a live project, and nothing has changed', async () => {
  const { project_id } = await buildProject(app, team);
  expect((await remove()).status).toBe(409);
  expect((await get()).body.member_ids).toHaveLength(4);
  await admin.delete(`/api/projects/${project_id}`);
  expect((await remove()).status).toBe(200);
});

it('ends its automations, cancels what waits, unbinds its repositories', async () => {
  const { automation_id } = await buildAutomation(app, team, { actions: [gate()] });
  const { run_id } = await buildRun(app, team, { automation: { automation_id } });
  const repo = `acme/${uuidv7()}`;
  await admin.post('/api/forge/repositories', { repo, team_id: team.team_id });
  await remove();
  expect(await db()('automations').where({ automation_id }).first()).toMatchObject({
    is_active: false,
    deleted_at: expect.any(Date),
  });
  expect(await db()('automation_runs').where({ run_id }).first()).toMatchObject({ status: 'cancelled' });
  expect(await db()('outbox').where({ kind: 'run.wake', subject: run_id })).toHaveLength(1);
  const next = await buildTeam(app);
  expect((await app.as(next.admin).post('/api/forge/repositories', { repo, team_id: next.team_id })).status).toBe(201);
});

it('hides its trash, and purges it after the retention', async () => {
  const project = await buildProject(app, team);
  const task = await buildTask(app, team, project);
  await admin.delete(`/api/projects/${project.project_id}`);
  await remove();
  expect((await admin.get('/api/trash')).body).toEqual([]);
  expect((await admin.post(`/api/trash/project/${project.project_id}/restore`)).status).toBe(403);
  await db()('projects')
    .where(project)
    .update({ deleted_at: db().raw("now() - interval '31 days'") });
  expect(await purgeExpired(app.services)).toBe(2);
  expect(await db()('tasks').where({ task_id: task.task_id })).toEqual([]);
});

it('its notes and docs go to the trash with it, and are purged later', async () => {
  const member = app.as(team.member);
  const notes = [
    await member.post('/api/notes', { title: 'x' }),
    await member.post('/api/work-items', { type: 'doc', title: 'x' }),
  ];
  const ids = notes.map(({ body }) => body.note_id ?? body.item_id);
  expect((await remove()).status).toBe(200);
  const [entry] = await db()('audit_entries').where({ entity_id: team.team_id, action: 'delete' });
  expect(JSON.parse(entry.details)).toMatchObject({ items: 2 });
  const rows = () => db()('items').whereIn('item_id', ids);
  expect(await rows()).toMatchObject(Array(2).fill({ created_by: team.member.user_id, deleted_by: team.admin.user_id }));
  expect((await member.post(`/api/trash/note/${ids[0]}/restore`)).status).toBe(403);
  await rows().update({ deleted_at: db().raw("now() - interval '31 days'") });
  expect(await purgeExpired(app.services)).toBe(2);
  expect(await rows()).toEqual([]);
});

it('404 unknown and malformed, 403 below admin and to strangers', async () => {
  for (const id of ['019a9f00-0000-7000-8000-000000000001', 'garbage']) expect((await remove(admin, id)).status).toBe(404);
  for (const person of [team.manager, team.member, team.guest, await buildPerson(app)]) {
    expect((await remove(app.as(person))).status).toBe(403);
  }
  expect((await get()).status).toBe(200);
});

it('leaves no live project, also when one is created or restored concurrently, 20 rounds', async () => {
  for (let round = 0; round < 20; round += 1) {
    team = await buildTeam(app);
    admin = app.as(team.admin);
    const { project_id } = await buildProject(app, team);
    await admin.delete(`/api/projects/${project_id}`);
    const member = app.as(team.member);
    const write = () =>
      round % 2
        ? member.post(`/api/trash/project/${project_id}/restore`)
        : member.post('/api/projects', { name: 'Late', team_id: team.team_id });
    const [written, removed] = await Promise.all([write(), remove()]);
    const live = await db()('projects').where({ team_id: team.team_id }).whereNull('deleted_at');
    if (written.status < 300) expect([removed.status, live.length]).toEqual([409, 1]);
    else expect([removed.status, live.length, written.status < 500]).toEqual([200, 0, true]);
  }
});

it('no live note is left behind by a member who writes one at the same time, 20 rounds', async () => {
  for (let round = 0; round < 20; round += 1) {
    team = await buildTeam(app);
    admin = app.as(team.admin);
    const { team_id } = team;
    const [written, removed] = await Promise.all([app.as(team.member).post('/api/notes', { title: 'Late', team_id }), remove()]);
    expect([removed.status, [201, 403, 404].includes(written.status)]).toEqual([200, true]);
    expect(await db()('items').where({ team_id }).whereNull('deleted_at')).toEqual([]);
  }
});

it('leaves no member, also when one is added concurrently, 20 rounds', async () => {
  const newcomer = await buildPerson(app);
  for (let round = 0; round < 20; round += 1) {
    team = await buildTeam(app);
    admin = app.as(team.admin);
    const add = () => admin.post(`/api/teams/${team.team_id}/members`, { user_id: newcomer.user_id });
    const both = [add, () => remove()];
    const answers = await Promise.all((round % 2 ? both : both.toReversed()).map((act) => act()));
    for (const { status } of answers) expect([200, 201, 403, 404]).toContain(status);
    expect((await get()).status).toBe(404);
    expect(await db()('memberships').where({ team_id: team.team_id })).toEqual([]);
  }
});

it('ends its automations with one statement for their rows', async () => {
  for (let count = 0; count < 3; count += 1) await buildAutomation(app, team, { actions: [comment('seen')] });
  await db().raw(`
    create table statements (of text);
    create function note_statement() returns trigger language plpgsql as $$ begin insert into statements values (tg_table_name); return null; end $$;
    create trigger note_statement after update on automations for each statement execute function note_statement()`);
  expect((await remove()).status).toBe(200);
  expect(await db()('statements').pluck('of')).toEqual(['automations']);
  expect(await db()('automations').where({ team_id: team.team_id }).whereNull('deleted_at')).toEqual([]);
  expect(await db()('event_subscriptions').where({ owner_id: team.team_id }).pluck('event_types')).toEqual([[]]);
  await db().raw('drop trigger note_statement on automations');
});
