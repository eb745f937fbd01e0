/** What PostgreSQL does for the reads of a log that is not small, once a connection has settled on a plan: index ranges only. */
import { v7 as uuidv7 } from 'uuid';
import { sealEntries } from '../../../../api/audit/seal-entries.js';
import { buildTeam, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { explain, nodesOf } from '../../../support/plans.js';
import { statementsOf } from '../../../support/statements.js';
import { withQuery, writeEntry, writeMany } from './entries.js';

let app: TestApp;
let team: TestTeam;
beforeAll(async () => {
  app = await startApp({}, 30_000);
  team = await buildTeam(app);
  const others = Array.from({ length: 10 }, () => uuidv7());
  for (const other of others) await writeMany(app, other, 3_000);
  await writeMany(app, team.team_id, 12_000);
  for (let n = 0; n < 20; n += 1)
    await writeEntry(app, { team_id: team.team_id, severity: 'HIGH', entity_id: 'rare', ip: '192.0.2.1' });
  await sealEntries(app.services.db);
  await app.services.db.raw('vacuum (analyze)');
}, 120_000);
afterAll(() => app.close());

const LARGE = /^audit_(entries_\d|seals)/;
/** Entries that a read may look at: a total of 10,001, or as many as a page wants of each kind. */
const MOST = 10_100;

it.each([
  ['no filter', {}],
  ['an actor', { user_id: uuidv7() }],
  ['a rare severity', { severity: 'HIGH' }],
  ['a frequent severity', { severity: 'LOW' }],
  ['a feature', { feature: 'tasks' }],
  ['an action', { action: 'update' }],
  ['a type', { entity_type: 'task' }],
  ['an entity', { entity_id: 'rare' }],
  ['an address', { ip_address: '192.0.2.1' }],
  ['a correlation', { correlation_id: uuidv7() }],
  ['the statistics', 'stats'],
])('%s', async (_name, query) => {
  const path = query === 'stats' ? '/api/audit/stats?days=90' : withQuery('/api/audit/logs', query as Record<string, string>);
  const statements = await statementsOf(() => app.as(team.admin).get(path));
  const reads = statements.filter(({ name }) => name.startsWith('audit_'));
  expect(reads.length).toBeGreaterThan(1);
  const slow: string[] = [];
  for (const statement of reads) {
    for (const node of nodesOf(await explain(app.database.url, statement))) {
      const table = node['Relation Name'] ?? '';
      if (!LARGE.test(table)) continue;
      const rows = (node['Actual Rows'] ?? 0) * (node['Actual Loops'] ?? 0) + (node['Rows Removed by Filter'] ?? 0);
      // The partitions of the next months are empty.
      if ((node['Node Type'] === 'Seq Scan' && rows > 0) || rows > MOST)
        slow.push(`${statement.name}: ${node['Node Type']} ${table}, ${rows}`);
    }
  }
  expect(slow).toEqual([]);
});
