import { buildProject, buildTask, buildTeam, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { givePasswords, signIn } from './browser.js';

/** The trash in the web app. */
let app: TestApp;
let team: TestTeam;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  await givePasswords(app);
});

const TRASH = '/app/trash';

it('lists what members deleted, and gives it back', async () => {
  const project = await buildProject(app, team, { name: 'Crane 4' });
  await buildTask(app, team, project, { title: 'Grease the bearing' });
  const browser = await signIn(app, team.member);
  const about = await browser.get(`/app/items/${project.project_id}`);
  expect(about.html).toContain('All its tasks go to the trash with it');
  const version = /action="[^"]*\/delete">[\s\S]*?name="version" value="(\d+)"/.exec(about.html)?.[1] as string;
  await browser.post(`/app/items/${project.project_id}/delete`, { version }, { from: `/app/items/${project.project_id}` });
  const { html } = await browser.get(TRASH);
  expect(html).toMatch(/<strong>Crane 4<\/strong><small>project with 1 other · [^<]+ · deleted by You/);
  const restored = await browser.post(`${TRASH}/restore`, { type: 'project', id: project.project_id }, { from: TRASH });
  expect([restored.status, restored.headers.get('location')]).toEqual([303, TRASH]);
  expect((await browser.get(TRASH)).html).toContain('Restored, with 1 more of the same deletion.');
  expect((await app.as(team.member).get(`/api/projects/${project.project_id}`)).status).toBe(200);
});

it('shows guests no button, strangers nothing, and restores for neither', async () => {
  const { task_id } = await buildTask(app, team, await buildProject(app, team), { title: 'Lift plan' });
  await app.as(team.member).delete(`/api/tasks/${task_id}`);
  const other = await buildTeam(app);
  await givePasswords(app);
  for (const [person, sees] of [
    [team.guest, true],
    [other.admin, false],
  ] as const) {
    const browser = await signIn(app, person);
    const { html } = await browser.get(TRASH);
    expect([html.includes('Lift plan'), html.includes('Restore<span')]).toEqual([sees, false]);
    for (const form of [
      { type: 'task', id: task_id },
      { type: 'task', id: ' ' },
      { type: 'project', id: 'x' },
    ]) {
      const answer = await browser.post(`${TRASH}/restore`, form, { from: TRASH });
      expect(answer.status).toBeLessThan(500);
    }
    expect((await app.services.db('tasks').where({ task_id }).first()).deleted_at).not.toBeNull();
  }
});
