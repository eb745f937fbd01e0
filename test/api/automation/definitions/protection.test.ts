import { buildCookie, buildProject, buildTeam, type Person, type TestTeam } from '../../../factories/people.js';
import { buildRun, GATED } from '../../../factories/runs.js';
import { startApp, type TestApp } from '../../../support/app.js';

// Only team admins change a protected automation, so nobody else can remove a gate from it.

let app: TestApp;
let team: TestTeam;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
});

const db = () => app.services.db;
const DEFINITION = { name: 'Deploy', trigger_type: 'task.created' };
async function make(creator: Person = team.member, fields: object = {}) {
  const made = await app
    .as(creator)
    .post('/api/automations', { ...DEFINITION, team_id: team.team_id, actions: GATED, ...fields });
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  return made.body as { automation_id: string; version: number; is_protected: boolean };
}
const path = ({ automation_id }: { automation_id: string }) => `/api/automations/${automation_id}`;
const protect = (automation: { automation_id: string }, is_protected = true, person = team.admin) =>
  app.as(person).patch(path(automation), { is_protected });
const record = async (automation: { automation_id: string }) => (await app.as(team.guest).get(path(automation))).body;
const entriesByTeam = ({ automation_id }: { automation_id: string }) =>
  db()('audit_entries').where({ entity_id: automation_id }).orderBy('timestamp');

it('admins set it when they create and afterwards; it makes no version, and leaves an audit entry', async () => {
  expect(await make(team.admin, { is_protected: true })).toMatchObject({ is_protected: true });
  const automation = await make();
  expect(automation).toMatchObject({ is_protected: false, version: 1 });
  const answer = await protect(automation);
  expect(answer).toMatchObject({ status: 200, body: { is_protected: true, version: 1, updated_by: team.admin.user_id } });
  expect((await protect(automation)).status).toBe(200);
  const entries = await entriesByTeam(automation);
  expect(entries.map(({ action }) => action)).toEqual(['create', 'update']);
  expect(JSON.parse(entries[1].details)).toMatchObject({ changes: { is_protected: { from: false, to: true } } });
  expect((await protect(automation, false)).body).toMatchObject({ is_protected: false, version: 1 });
});

it('403 for everyone else who names a different value; the value that it has needs no right', async () => {
  const refused = await app.as(team.manager).post('/api/automations', {
    ...DEFINITION,
    team_id: team.team_id,
    is_protected: true,
  });
  expect(refused.status).toBe(403);
  const automation = await make();
  for (const person of [team.member, team.manager]) {
    expect((await protect(automation, true, person)).status).toBe(403);
    expect((await app.as(person).put(path(automation), { ...DEFINITION, is_protected: true })).status).toBe(403);
    expect((await app.as(person).patch(path(automation), { name: 'Renamed', is_protected: true })).status).toBe(403);
    expect((await app.as(person).patch(path(automation), { name: 'Renamed', is_protected: false })).status).toBe(200);
  }
  expect(await record(automation)).toMatchObject({ is_protected: false, version: 3 });
});

it('a personal automation has no admins who could protect it', async () => {
  const personal = await app.as(team.admin).post('/api/automations', DEFINITION);
  expect((await protect(personal.body)).status).toBe(400);
  expect((await app.as(team.admin).post('/api/automations', { ...DEFINITION, is_protected: true })).status).toBe(400);
});

describe('a protected automation', () => {
  let automation: { automation_id: string };
  beforeEach(async () => {
    automation = await make();
    await app.as(team.member).patch(path(automation), { name: 'Second' });
    await protect(automation);
  });

  it.each([
    ['PATCH', (p: Person) => app.as(p).patch(path(automation), { actions: [] })],
    ['PATCH without any field', (p: Person) => app.as(p).patch(path(automation), {})],
    ['PATCH of the protection', (p: Person) => app.as(p).patch(path(automation), { is_protected: false })],
    ['PUT', (p: Person) => app.as(p).put(path(automation), DEFINITION)],
    ['toggle', (p: Person) => app.as(p).post(`${path(automation)}/toggle`, { is_active: false, cancel_running: true })],
    ['rollback', (p: Person) => app.as(p).post(`${path(automation)}/rollback`, { version: 1 })],
    ['take-over', (p: Person) => app.as(p).post(`${path(automation)}/take-over`, {})],
    ['DELETE', (p: Person) => app.as(p).delete(path(automation))],
  ])('%s: 403 for its creator and for managers, nothing changed; admins may', async (_name, act) => {
    const before = await record(automation);
    for (const person of [team.member, team.manager]) {
      const { status, body } = await act(person);
      expect([status, body.error_code]).toEqual([403, 'PERMISSION_DENIED']);
    }
    expect(await record(automation)).toEqual(before);
    expect((await act(team.admin)).status).toBe(200);
  });

  it('stays protected when an admin replaces it or brings an old version back', async () => {
    expect((await app.as(team.admin).put(path(automation), DEFINITION)).body).toMatchObject({ is_protected: true });
    expect((await app.as(team.admin).put(path(automation), { ...DEFINITION, is_protected: null })).body).toMatchObject({
      is_protected: true,
    });
    expect((await app.as(team.admin).post(`${path(automation)}/rollback`, { version: 1 })).body.automation).toMatchObject({
      is_protected: true,
    });
  });

  it('is started, and its runs cancelled, as any other', async () => {
    const started = await app.as(team.member).post(`${path(automation)}/execute`, {});
    expect(started.status).toBe(202);
    expect((await app.as(team.manager).post(`/api/automations/runs/${started.body.run_id}/cancel`)).status).toBe(200);
  });

  it('an earlier version of it, which may have no gate, is replayed by admins only', async () => {
    const old = await buildRun(app, team, { automation, status: 'failed', fields: { automation_version: 1 } });
    const retry = (person: Person, version: string) =>
      app.as(person).post(`/api/automations/dead-letter/${old.run_id}/retry`, { version });
    expect((await retry(team.manager, 'original')).status).toBe(403);
    expect((await retry(team.member, 'original')).status).toBe(403);
    expect((await retry(team.admin, 'original')).body).toMatchObject({ success: true, automation_version: 1 });
  });

  it('the present version of it is replayed as any other’s', async () => {
    const old = await buildRun(app, team, { automation, status: 'failed', fields: { automation_version: 1 } });
    const answer = await app.as(team.manager).post(`/api/automations/dead-letter/${old.run_id}/retry`, {});
    expect(answer.body).toMatchObject({ success: true, automation_version: 2 });
  });

  it('is not deleted with its project by anyone but an admin', async () => {
    const { project_id } = await buildProject(app, team);
    await app.as(team.admin).patch(path(automation), { project_id });
    expect((await app.as(team.member).delete(`/api/projects/${project_id}`)).status).toBe(200);
    const purge = (person: Person) => app.as(person).delete(`/api/trash/project/${project_id}`);
    expect((await purge(team.manager)).status).toBe(403);
    expect(await record(automation)).toMatchObject({ is_protected: true });
    expect((await purge(team.admin)).status).toBe(200);
    expect((await app.as(team.admin).get(path(automation))).status).toBe(404);
  });

  it('is protected against 20 changes at the same moment: each is refused, or came before the protection', async () => {
    await protect(automation, false);
    const change = (n: number) => app.as(team.manager).patch(path(automation), { description: `change ${n}` });
    const [, ...answers] = await Promise.all([protect(automation), ...Array.from({ length: 20 }, (_, n) => change(n))]);
    const done = answers.filter(({ status }) => status === 200).length;
    expect(answers.filter(({ status }) => status === 403)).toHaveLength(20 - done);
    expect(await record(automation)).toMatchObject({ is_protected: true, version: 2 + done });
    const entries = await entriesByTeam(automation);
    const protectedAt = entries.findLast(({ details }) => details.includes('"to": true'));
    expect(
      entries.filter(({ user_id, timestamp }) => user_id === team.manager.user_id && timestamp > protectedAt.timestamp),
    ).toEqual([]);
  });

  it('is marked on the team’s page', async () => {
    const page = async (person: Person) =>
      (await fetch(`${app.url}/app/teams/${team.team_id}`, { headers: { cookie: await buildCookie(app, person) } })).text();
    expect(await page(team.guest)).toContain('>protected</span>');
  });
});
