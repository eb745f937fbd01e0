import { buildTeam } from '../../factories/people.js';
import { buildRequest, OPERATION } from '../../factories/requests.js';
import { startApp, type TestApp } from '../../support/app.js';
import { givePasswords, signIn } from './browser.js';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

it('shows the first twelve lines of an argument as lines, and the rest folded', async () => {
  const team = await buildTeam(app);
  await givePasswords(app);
  const manifest = Array.from({ length: 20 }, (_, at) => `line-${at + 1}: x`).join('\n');
  const operation = { ...OPERATION, arguments: { manifest } };
  const { request_id } = await buildRequest(app, team, team.member, { operation });
  const browser = await signIn(app, team.manager);
  const { html } = await browser.get(`/app/approvals/request/${request_id}`);
  const head = /<bdi class="head lines">([^<]*)</.exec(html)?.[1] ?? '';
  expect(head).toBe(`${manifest.split('\n').slice(0, 12).join('\n')}…`);
  expect(html).toContain(manifest);
});
