import { buildCookie, buildPerson, buildTeam, type Person, type TestTeam } from '../../factories/people.js';
import { buildRun, GATE, GATED } from '../../factories/runs.js';
import { startApp, type TestApp } from '../../support/app.js';

// A run's page offers what its reader may do, as the verbs behind the buttons judge it, and nothing else.

let app: TestApp;
let team: TestTeam;
/** A member who made none of the automations. */
let colleague: Person;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  colleague = await buildPerson(app);
  await app.services.db('memberships').insert({ team_id: team.team_id, user_id: colleague.user_id, role: 'member' });
});

const asked = (message: string) => [GATED[0], { ...GATE, params: { message } }, GATED[2]] as typeof GATED;
async function getPageUrl(person: Person, { run_id }: { run_id: string }): Promise<string> {
  const answer = await fetch(`${app.url}/app/runs/${run_id}`, { headers: { cookie: await buildCookie(app, person) } });
  expect(answer.status).toBe(200);
  return answer.text();
}
const offers = async (person: Person, run: { run_id: string }) => {
  const html = await getPageUrl(person, run);
  return ['approve', 'reject', 'replay', 'cancel'].filter((verb) => html.includes(`/app/runs/${run.run_id}/${verb}"`));
};
const offersEach = async (run: { run_id: string }) => {
  const people = { ...team, colleague };
  const names = ['guest', 'colleague', 'member', 'manager', 'admin'] as const;
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await offers(people[name], run)])));
};

it('of a run that waits: the decision to whom the gate asks, cancelling to its creator and managers', async () => {
  const all = ['approve', 'reject', 'cancel'];
  const run = await buildRun(app, team);
  expect(await offersEach(run)).toEqual({ guest: [], colleague: [], member: ['cancel'], manager: all, admin: all });
});

it('of a failed run: the replay to its creator and managers; of a personal one to its creator', async () => {
  const failed = { status: 'failed', statuses: ['failed', 'skipped', 'skipped'] } as const;
  const build = (inTeam: boolean) => buildRun(app, team, { ...failed, statuses: [...failed.statuses], inTeam });
  const may = ['replay'];
  expect(await offersEach(await build(true))).toEqual({ guest: [], colleague: [], member: may, manager: may, admin: may });
  expect(await offers(team.member, await build(false))).toEqual(may);
});

it('of a failed run with a secret without allowed hosts: the replay to team admins', async () => {
  const request = { method: 'POST', url: 'https://example.com/', body: '{{secret:KEY}}' };
  const failed = await buildRun(app, team, {
    actions: [{ type: 'http_request', params: request }],
    status: 'failed',
    statuses: ['failed'],
  });
  const may = ['replay'];
  expect(await offersEach(failed)).toEqual({ guest: [], colleague: [], member: may, manager: may, admin: may });
  const secret = { team_id: team.team_id, name: 'KEY', value: 'v' };
  expect((await app.as(team.admin).post('/api/automations/secrets', secret)).status).toBe(200);
  expect(await offersEach(failed)).toEqual({ guest: [], colleague: [], member: [], manager: [], admin: may });
});

it('shows the gate’s own message however many gates wait before it, and asks only whom it concerns', async () => {
  const automation = await buildRun(app, team, { actions: asked('Read this first') });
  for (let n = 0; n < 200; n += 1) await buildRun(app, team, { automation, expiresIn: 60 + n });
  const last = await buildRun(app, team, { automation, expiresIn: 7200 });
  expect(await getPageUrl(team.manager, last)).toContain('<p class="ask">Read this first</p>');
  expect(await offers(team.manager, last)).toEqual(['approve', 'reject', 'cancel']);
  expect(await offers(team.guest, last)).toEqual([]);
});
