import { buildCookie, buildPerson, buildTeam, type Person, type TestTeam } from '../../../factories/people.js';
import { type Answer, startApp, type TestApp } from '../../../support/app.js';
import { type OAuthServer, startOAuthServer } from '../../../support/oauth-server.js';
import { relay, send } from './deliver.js';

// FORGE_BINDING=verified: binding a repository requires push permission at the code host.

const PATH = '/api/forge/repositories';
const REPO = 'bigcorp/private-payroll';
const PROOF = 'Binding a repository requires push permission';

let app: TestApp;
let remote: OAuthServer;
let team: TestTeam;
beforeAll(async () => {
  remote = await startOAuthServer();
  app = await startApp({ ...remote.settings, FORGE_BINDING: 'verified', FORGE_WEBHOOK_SECRET: 'proof-secret' });
});
afterAll(async () => {
  remote.close();
  await app.close();
});
beforeEach(async () => {
  team = await buildTeam(app);
  remote.person = { login: 'octo-ada' };
  remote.expiresIn = undefined;
  remote.faults.repository = [];
  remote.repositories.clear();
  remote.repositories.set(REPO, { full_name: 'BigCorp/Private-Payroll', readers: ['octo-reader'], writers: ['octo-ada'] });
  await db()('forge_repositories').delete();
});

const db = () => app.services.db;
const bind = (person: Person, fields: object = {}) => app.as(person).post(PATH, { repo: REPO, team_id: team.team_id, ...fields });
const bindings = () => db()('forge_repositories').select('repo', 'team_id');
/** Connects an account at the code host, as a browser does. */
async function connect(person: Person, login: string): Promise<void> {
  remote.person = { login };
  const begun = await app.as(person).post('/api/integrations/forge/connect', {});
  const there = await fetch(begun.body.authorize_url, { redirect: 'manual' });
  const back = new URL(there.headers.get('location') ?? '');
  const cookie = await buildCookie(app, person);
  expect((await fetch(`${app.url}${back.pathname}${back.search}`, { headers: { cookie } })).status).toBe(200);
}
const splitWords = ({ status, body }: Answer) => [status, body.error_code, body.message, body.detail];
const ofDeliveries = async () => (await app.as(team.admin).get(`/api/forge/deliveries?team_id=${team.team_id}`)).body;

it('a stranger’s team cannot bind first what only its owners may push to; they still can', async () => {
  const stranger = await buildTeam(app);
  const squatting = () => bind(stranger.admin, { team_id: stranger.team_id });
  expect(splitWords(await squatting())).toEqual([
    403,
    'PERMISSION_DENIED',
    PROOF,
    expect.stringContaining('connect your account'),
  ]);
  await connect(stranger.admin, 'octo-mallory');
  expect(splitWords(await squatting())).toEqual([403, 'PERMISSION_DENIED', PROOF, expect.stringContaining('cannot push to')]);
  expect(await bindings()).toEqual([]);
  await connect(team.admin, 'octo-ada');
  expect(await bind(team.admin)).toMatchObject({ status: 201, body: { repo: REPO } });
  // Only users with push permission learn whether the repository is bound.
  expect(splitWords(await squatting())[3]).toContain('cannot push to');
});

it('a repository that only others read, that all read, and that is not there are refused in the same words', async () => {
  remote.repositories.set('bigcorp/public', { full_name: 'BigCorp/public', readers: ['octo-mallory'], writers: ['octo-ada'] });
  await connect(team.admin, 'octo-mallory');
  const refusals = await Promise.all(
    [REPO, 'bigcorp/public', 'bigcorp/nothing'].map(async (repo) => {
      const answer = await bind(team.admin, { repo });
      const headers = [...answer.headers].filter(([name]) => !['date', 'x-correlation-id', 'content-length'].includes(name));
      return JSON.stringify([...splitWords(answer), headers]).replaceAll(repo, 'REPO');
    }),
  );
  expect(new Set(refusals).size).toBe(1);
  expect(await bindings()).toEqual([]);
});

it('a repository that was renamed or transferred is not bound under its old name', async () => {
  await connect(team.admin, 'octo-ada');
  remote.repositories.set('bigcorp/old', { full_name: 'bigcorp/new', readers: [], writers: ['octo-ada'] });
  expect(splitWords(await bind(team.admin, { repo: 'bigcorp/old' }))[2]).toBe(PROOF);
  remote.faults.repository = [
    { status: 200, body: JSON.stringify({ full_name: 'octo-ada/mine', permissions: { push: true } }) },
    { status: 200, body: JSON.stringify({ full_name: REPO }) },
    { status: 200, body: '[]' },
    { status: 451 },
  ];
  for (const _answer of Array.from(remote.faults.repository)) expect((await bind(team.admin)).status).toBe(403);
  expect(await bindings()).toEqual([]);
});

it('503 while the code host is away, and nothing is written; the same call succeeds later', async () => {
  await connect(team.admin, 'octo-ada');
  remote.faults.repository = [{ status: 503 }, { status: 429 }, { status: 403, headers: { 'retry-after': '60' } }];
  for (const _answer of Array.from(remote.faults.repository)) {
    const answer = await bind(team.admin);
    expect([answer.status, answer.body.message, answer.headers.get('retry-after')]).toEqual([
      503,
      'The code host is unavailable',
      '30',
    ]);
  }
  expect(await bindings()).toEqual([]);
  expect((await bind(team.admin)).status).toBe(201);
});

it('a connection that no longer works is no proof, and says to connect again', async () => {
  await connect(team.admin, 'octo-ada');
  remote.revokeAll();
  expect(splitWords(await bind(team.admin))).toEqual([
    403,
    'PERMISSION_DENIED',
    PROOF,
    'The code host no longer accepts your connection: connect your account first, with POST /api/integrations/forge/connect',
  ]);
});

it('the code host is asked for nobody who may not bind for the team', async () => {
  await connect(team.manager, 'octo-ada');
  remote.faults.repository = [{ status: 503 }];
  expect((await bind(team.manager)).status).toBe(403);
  expect((await bind(team.admin, { team_id: '019a9f00-0000-7000-8000-000000000001' })).status).toBe(404);
  expect(remote.faults.repository).toHaveLength(1);
});

it('an administrator of the installation binds without a connection', async () => {
  const root = await buildPerson(app, { role: 'admin' });
  expect((await bind(root)).status).toBe(201);
});

it.each(['../user', 'user/..', './x', 'x/.'])('422 for %s, which is a step elsewhere', async (repo) => {
  expect((await bind(team.admin, { repo })).status).toBe(422);
});

describe('deliveries from before a binding', () => {
  const issue = (id: string) => send(app, 'issues.opened', { 'repository.full_name': 'BigCorp/Private-Payroll' }, { id });

  it('are not listed for the team, whatever was bound and ended before', async () => {
    await connect(team.admin, 'octo-ada');
    await issue(`before-${team.team_id}`);
    const { binding_id } = (await bind(team.admin)).body;
    await issue(`while-${team.team_id}`);
    expect((await ofDeliveries()).map((each: { delivery_id: string }) => each.delivery_id)).toEqual([`while-${team.team_id}`]);
    await app.as(team.admin).delete(`${PATH}/${binding_id}`);
    await issue(`between-${team.team_id}`);
    await bind(team.admin);
    expect(await ofDeliveries()).toEqual([]);
  });

  it('are not applied for the team, nor for all, when they wait until after it', async () => {
    await connect(team.admin, 'octo-ada');
    const before = `waiting-${team.team_id}`;
    await issue(before);
    await bind(team.admin);
    await db()('outbox').where({ team_id: team.team_id }).delete();
    await relay(app);
    expect(await db()('forge_deliveries').where({ delivery_id: before }).first()).toMatchObject({
      outcome: 'ignored',
      reason: expect.stringMatching(/No team had bound the repository$/),
    });
    expect(await db()('outbox').where({ subject: 'forge.issue_opened', team_id: team.team_id })).toEqual([]);
  });
});
