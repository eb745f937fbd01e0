import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { workflowLists, WORKFLOW_QUERIES } from '../../../api/web/pages/work/temporal-lists.js';
import { buildTeam, type Person, type TestTeam } from '../../factories/people.js';
import { buildRun } from '../../factories/runs.js';
import { startApp, type TestApp } from '../../support/app.js';
import { givePasswords, signIn } from './browser.js';

describe('lists of the Temporal UI', () => {
  let app: TestApp;
  let team: TestTeam;
  beforeAll(async () => {
    app = await startApp({ TEMPORAL_UI_URL: 'https://temporal.test:8443' });
    team = await buildTeam(app);
    await givePasswords(app);
  });
  afterAll(() => app.close());

  it('filter as the page for operators says, by attributes that the server has', () => {
    const root = resolve(import.meta.dirname, '../../..');
    const guide = readFileSync(resolve(root, 'docs/operate/runs.md'), 'utf8');
    const attributes = JSON.parse(readFileSync(resolve(root, 'scripts/embedded/search-attributes.json'), 'utf8'));
    const known = new Set(['ExecutionStatus', ...attributes.map(({ name }: { name: string }) => name)]);
    const queries = Object.values(WORKFLOW_QUERIES).flatMap((lists) => lists.map(({ query }) => query));
    expect(queries.length).toBeGreaterThan(3);
    for (const query of queries) {
      expect(guide).toContain(`\`${query}\``);
      for (const [, name] of query.matchAll(/(\w+)(?:=| >| IN)/g)) expect(known).toContain(name);
    }
  });

  it('are linked from the tabs of Runs that they belong to', async () => {
    const browser = await signIn(app, team.manager);
    const failed = (await browser.get('/app/runs?show=failed')).html;
    const query = 'RunState%3D%22failed%22+AND+IsTest%3Dfalse';
    expect(failed).toContain(`href="https://temporal.test:8443/namespaces/default/workflows?query=${query}"`);
    expect((await browser.get('/app/runs?show=waiting')).html).toContain('waiting for an approval');
    expect((await browser.get('/app/runs')).html).not.toContain('temporal.test');
  });

  it('are for those who operate runs, as is the link of a run', async () => {
    const { run_id } = await buildRun(app, team);
    const addresses = [`/app/runs/${run_id}`, '/app/runs?show=failed'];
    const seen = async (who: Person) => {
      const browser = await signIn(app, who);
      return Promise.all(addresses.map(async (address) => (await browser.get(address)).html.includes('temporal.test')));
    };
    expect(await seen(team.manager)).toEqual([true, true]);
    expect(await seen(team.member)).toEqual([false, false]);
  });

  it('are absent where the address of the UI is not set', () => {
    expect(
      workflowLists({ ...app.services.config, TEMPORAL_UI_URL: undefined }, { role: 'admin', teams: [] } as never, 'failed'),
    ).toEqual([]);
  });
});
