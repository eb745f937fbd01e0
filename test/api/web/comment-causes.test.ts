import { performAction } from '../../../api/automation/runs/execution/perform-action.js';
import { buildProject, buildTask, buildTeam } from '../../factories/people.js';
import { buildRun } from '../../factories/runs.js';
import { startApp, type TestApp } from '../../support/app.js';
import { givePasswords, signIn } from './browser.js';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

it('the page of a task says which comments an automation wrote in the name of its creator', async () => {
  const team = await buildTeam(app);
  const task = await buildTask(app, team, await buildProject(app, team));
  const say = { type: 'add_comment', params: { task_id: task.task_id, content: 'By the machine' } };
  const run = await buildRun(app, team, { actions: [say], status: 'running', statuses: ['pending'], gateIndex: 99 });
  await performAction(app.services, { runId: run.run_id, incarnation: 1, execution: 'an-execution' }, 0);
  await app.as(team.member).post(`/api/tasks/${task.task_id}/comments`, { content: 'By hand' });
  await givePasswords(app);
  const { html } = await (await signIn(app, team.manager)).get(`/app/items/${task.task_id}`);
  const [machine, hand] = ['By the machine', 'By hand'].map((text) =>
    html.split('<article').find((part) => part.startsWith(' class="comment') && part.includes(text)),
  );
  expect(machine).toMatch(/written by automation <a href="\/app\/runs\/[^"]+"><bdi>Deploy on merge<\/bdi>/);
  expect(hand).not.toContain('written by');
});
