import { subscribe } from '../../../factories/events.js';
import { buildPerson, buildProject, buildTeam, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { importText, ndjson } from '../../bulk/import-support.js';

let app: TestApp;
let team: TestTeam;
let project_id: string;
let path: string;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  await subscribe(app, team);
  ({ project_id } = await buildProject(app, team));
  path = `/api/projects/${project_id}`;
});

const db = () => app.services.db;
const leadOf = async (id = project_id) => (await db()('projects').where({ project_id: id }).first()).lead_id;
const updates = () => db()('outbox').where({ subject: 'project.updated', team_id: team.team_id });

it('is a member of the team, set at the creation and by PATCH; audit, activity and event say who', async () => {
  const member = app.as(team.member);
  const lead_id = team.guest.user_id;
  const made = await member.post('/api/projects', { name: 'Led', team_id: team.team_id, lead_id });
  expect(made).toMatchObject({ status: 201, body: { data: { lead_id } } });
  const changed = await member.patch(path, { lead_id: team.member.user_id });
  expect(changed.body.data.lead_id).toBe(team.member.user_id);
  const changes = { lead_id: { from: null, to: team.member.user_id } };
  const entry = await db()('audit_entries').where({ audit_id: changed.body.action_id }).first();
  expect(JSON.parse(entry.details)).toEqual({ changes, version: 2 });
  const { body: feed } = await member.get(`/api/activity?team_id=${team.team_id}&entity_id=${project_id}`);
  expect(feed[0]).toMatchObject({ summary: 'changed lead_id', changes });
  expect((await updates())[0].payload).toMatchObject({ project: { lead_id: team.member.user_id }, changes });
  expect(
    (await app.as(team.guest).get(`/api/projects?team_id=${team.team_id}`)).body.map((one: { lead_id: unknown }) => one.lead_id),
  ).toEqual([team.member.user_id, lead_id]);
  expect((await member.patch(path, { lead_id: null })).body.data.lead_id).toBeNull();
});

it('400 refuses who is no member, and says the same of nobody; another change leaves the lead', async () => {
  const member = app.as(team.member);
  const stranger = await buildPerson(app);
  const refusals = [];
  for (const lead_id of [stranger.user_id, '019a9f00-0000-7000-8000-000000000001', 'garbage', '']) {
    refusals.push(
      await member.patch(path, { lead_id }),
      await member.post('/api/projects', { name: 'x', team_id: team.team_id, lead_id }),
    );
  }
  for (const { status, body } of refusals)
    expect([status, body.message]).toEqual([400, 'lead_id must be a member of the project’s team']);
  expect((await member.patch(path, { lead_id: 7 })).status).toBe(422);
  await member.patch(path, { lead_id: team.admin.user_id });
  expect((await member.patch(path, { name: 'Renamed' })).body.data.lead_id).toBe(team.admin.user_id);
  await member.put(`/api/work-items/${project_id}`, { title: 'Replaced', fields: { lead_name: 'x' } });
  expect(await leadOf()).toBe(team.admin.user_id);
  expect((await member.put(path, { name: 'Bare' })).body.data.lead_id).toBeNull();
});

it('ends with the membership, in the trash too; audit and event say so, and other fields can be changed', async () => {
  const admin = app.as(team.admin);
  const other = await buildProject(app, team);
  const { user_id } = team.member;
  for (const id of [project_id, other.project_id]) await admin.patch(`/api/projects/${id}`, { lead_id: user_id });
  await admin.delete(`/api/projects/${other.project_id}`);
  await db()('outbox').where({ team_id: team.team_id }).delete();
  const removed = await admin.delete(`/api/teams/${team.team_id}/members/${user_id}`);
  expect(removed.status).toBe(200);
  expect([await leadOf(), await leadOf(other.project_id)]).toEqual([null, null]);
  const changes = { lead_id: { from: user_id, to: null } };
  expect((await updates()).map(({ payload }) => payload)).toMatchObject([{ project: { project_id, lead_id: null }, changes }]);
  const entries = await db()('audit_entries').where({ entity_id: other.project_id }).orderBy('timestamp');
  expect(JSON.parse(entries.at(-1).details)).toEqual({ changes, version: 4 });
});

it('no project is left with a lead who was removed at the same time', async () => {
  for (let round = 0; round < 8; round += 1) {
    const leaver = await buildPerson(app);
    await app.as(team.admin).post(`/api/teams/${team.team_id}/members`, { user_id: leaver.user_id });
    const lead_id = leaver.user_id;
    const led = await buildProject(app, team, { lead_id });
    const [removed, ...others] = await Promise.all([
      app.as(team.admin).delete(`/api/teams/${team.team_id}/members/${lead_id}`),
      app.as(team.member).post('/api/projects', { name: 'New', team_id: team.team_id, lead_id }),
      app.as(team.member).patch(path, { lead_id }),
      app.as(leaver).patch(`/api/projects/${led.project_id}`, { name: `round ${round}` }),
    ]);
    expect(removed.status).toBe(200);
    expect(others.every(({ status }) => [200, 201, 400, 403].includes(status))).toBe(true);
    expect(await db()('projects').where({ lead_id })).toEqual([]);
  }
});

it('an import keeps a lead who is a member, and notes one who is not', async () => {
  const records = [team.member.user_id, '019a9f00-0000-7000-8000-000000000001', 'Ada'].map((lead_id, at) => ({
    entity: 'project',
    project_id: `p${at}`,
    name: `Led ${at}`,
    lead_id,
  }));
  const job = await importText(app, app.as(team.manager), team, ndjson(records));
  expect(job).toMatchObject({ status: 'succeeded', created: 3 });
  expect(job.notes).toEqual([
    { line: 2, entity: 'project', message: 'The lead “019a9f00-0000-7000-8000-000000000001” is no member of the team' },
    { line: 3, entity: 'project', message: 'The lead “Ada” is no member of the team' },
  ]);
  const leads = await db()('projects').where({ team_id: team.team_id }).whereLike('name', 'Led %').orderBy('name');
  expect(leads.map(({ lead_id }) => lead_id)).toEqual([team.member.user_id, null, null]);
});
