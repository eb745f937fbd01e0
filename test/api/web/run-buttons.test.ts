import { buildCookie, buildTeam, type Person, type TestTeam } from '../../factories/people.js';
import { buildRun, GATE, GATED } from '../../factories/runs.js';
import { startApp, type TestApp } from '../../support/app.js';

// A run's page offers what its reader may do, as the verbs behind the buttons judge it, and nothing else.

let app: TestApp;
let team: TestTeam;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
});

const asked = (message: string) => [GATED[0], { ...GATE, params: { message } }, GATED[2]] as typeof GATED;
async function pageOf(person: Person, { run_id }: { run_id: string }): Promise<string> {
  const answer = await fetch(`${app.url}/app/runs/${run_id}`, { headers: { cookie: await buildCookie(app, person) } });
  expect(answer.status).toBe(200);
  return answer.text();
}
const offers = async (person: Person, run: { run_id: string }) => {
  const html = await pageOf(person, run);
  return ['approve', 'reject', 'replay', 'cancel'].filter((verb) => html.includes(`/app/runs/${run.run_id}/${verb}"`));
};
it('shows the gate’s own message however many gates wait before it, and asks nobody else', async () => {
  const automation = await buildRun(app, team, { actions: asked('Read this first') });
  for (let n = 0; n < 200; n += 1) await buildRun(app, team, { automation, expiresIn: 60 + n });
  const last = await buildRun(app, team, { automation, expiresIn: 7200 });
  expect(await pageOf(team.manager, last)).toContain('<h2>Read this first</h2>');
  expect(await offers(team.manager, last)).toEqual(['approve', 'reject', 'cancel']);
  expect(await offers(team.guest, last)).not.toContain('approve');
});
