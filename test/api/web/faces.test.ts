import { createFormatter } from '../../../api/web/wording/formatter.js';
import { buildProject, buildTask, buildTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { givePasswords, signIn } from './browser.js';

// Initials beside names, coloured by the user: a picture only, the name stays as text.

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
});
afterAll(() => app.close());

it('stand beside the assignee in lists, boards and on the task, and beside who wrote and changed', async () => {
  const team = await buildTeam(app);
  const project = await buildProject(app, team);
  const { user_id } = team.manager;
  const { task_id } = await buildTask(app, team, project, { assigned_to: user_id });
  await app.as(team.manager).post(`/api/tasks/${task_id}/comments`, { content: 'Hello' });
  await givePasswords(app);
  const browser = await signIn(app, team.member);
  const { display_name } = await app.services.db('users').where({ user_id }).first();
  const { hue, initials } = createFormatter(null);
  const face = `<span class="avatar face ${hue(user_id)}" aria-hidden="true">${initials(display_name)}</span> `;
  const list = (await browser.get(`/app/projects/${project.project_id}`)).html;
  expect(list).toMatch(new RegExp(`${face}\\s*${display_name}`));
  expect((await browser.get(`/app/projects/${project.project_id}/board`)).html).toContain(face);
  const page = (await browser.get(`/app/items/${task_id}`)).html;
  const comments = page.slice(page.indexOf('id="h-comments"'));
  expect(page.slice(0, page.indexOf('id="h-comments"'))).toContain(face);
  expect(comments.slice(0, comments.indexOf('id="h-activity"'))).toMatch(
    new RegExp(`${face}\\s*<strong>${display_name}</strong>`),
  );
  expect(comments.slice(comments.indexOf('id="h-activity"'))).toContain('class="avatar face hue-');
});

it('are of eight colours, the same one for a user everywhere', () => {
  const { hue } = createFormatter(null);
  const found = new Set(Array.from('0123456789abcdef').map((digit) => hue(`0197a000-0000-7000-8000-00000000000${digit}`)));
  expect(found.size).toBe(8);
});
