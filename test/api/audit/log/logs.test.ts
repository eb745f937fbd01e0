import { buildTeam, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { type Entry, hashOfEntry, withQuery, writeEntry } from './entries.js';

const PATH = '/api/audit/logs';
let app: TestApp;
let team: TestTeam;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
});

const list = async (query: Record<string, string> = {}, admin: { token: string } = team.admin) => {
  const { status, body } = await app.as(admin).get(withQuery(PATH, query));
  expect([status, body.message]).toEqual([200, undefined]);
  return body as { entries: Entry[]; total: number; count: number; has_more: boolean; offset: number; skip: number };
};
const idsOf = ({ entries }: { entries: Entry[] }) => entries.map(({ audit_id }) => audit_id);

it('lists the entries of the team, newest first, each with its place in the chain', async () => {
  const details = { title: 'Zoë', nested: { n: 1.5, list: [1, 'two', null] } };
  const ids = [];
  for (let n = 0; n < 3; n += 1) ids.push(await writeEntry(app, { team_id: team.team_id, details }));
  const page = await list();
  expect(idsOf(page)).toEqual(ids.toReversed());
  expect(page).toMatchObject({ total: 3, count: 3, limit: 50, offset: 0, skip: 0, has_more: false });
  expect(page).not.toHaveProperty('total_capped');
  expect(page.entries[0]).toMatchObject({
    correlation_id: ids[2],
    team_id: team.team_id,
    sequence: 3,
    feature: 'tasks',
    action: 'update',
    severity: 'LOW',
    outcome: 'success',
    details,
  });
  expect(page.entries[0]?.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/);
  // The chain, from nothing but this answer.
  expect(page.entries.map(hashOfEntry)).toEqual(page.entries.map(({ entry_hash }) => entry_hash));
  expect(page.entries[0]?.prev_hash).toBe(page.entries[1]?.entry_hash);
  expect(page.entries[2]?.prev_hash).toBe('0'.repeat(64));
  const one = await app.as(team.admin).get(`${PATH}/${ids[1]}`);
  expect([one.status, one.body]).toEqual([200, page.entries[1]]);
});
