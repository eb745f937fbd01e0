/** What PostgreSQL does for the reads of a log that is not small, once a connection has settled on a plan: index ranges only. */
import { v7 as uuidv7 } from 'uuid';
import { byKind, countQuery, keysQuery } from '../../../../api/audit/log/entries.sql.js';
import { sealEntries } from '../../../../api/audit/seal-entries.js';
import { run } from '../../../../db/statement.js';
import { buildTeam, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { rowsRead } from '../../../support/rows-read.js';
import { explain, nodesOf } from '../../../support/plans.js';
import { captureStatements } from '../../../support/statements.js';
import { withQuery, writeEntry, writeMany } from './entries.js';

let app: TestApp;
let team: TestTeam;
beforeAll(async () => {
  app = await startApp({}, 60_000);
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
  const statements = await captureStatements(() => app.as(team.admin).get(path));
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

// What PostgreSQL does not know yet of the entries decides no more than what it knows.
it.each([
  ['known', 'analyze'],
  ['not known', "delete from pg_statistic where starelid in (select oid from pg_class where relname like 'audit_%')"],
])('a team with few entries reads its own only, with statistics %s', async (_name, sql) => {
  const { db } = app.services;
  const quiet = await buildTeam(app);
  for (let n = 0; n < 20; n += 1)
    await writeEntry(app, { team_id: quiet.team_id, severity: 'HIGH', entity_id: 'rare', ip: '192.0.2.1' });
  await sealEntries(db);
  await db.raw(sql);
  const since = await db('audit_entries').orderBy('audit_id', 'desc').offset(4_000).first('timestamp');
  const from_time = since.timestamp as string;
  const kinds = { severity: 'HIGH', feature: 'tasks', action: 'update', entity_type: 'task' };
  const equal = { entity_id: 'rare', ip_address: '192.0.2.1', user_id: uuidv7(), correlation_id: uuidv7() };
  const single = Object.entries({ ...kinds, ...equal }).map(([name, value]) => ({ [name]: value }));
  const over: string[] = [];
  for (const filters of [{}, { from_time }, { ...kinds, from_time }, kinds, ...single]) {
    const search = { teams: [quiet.team_id], filters };
    const calls = [countQuery(search, 10_001), keysQuery(search, { limit: 50, offset: 0, slack: 100 })];
    if (byKind(search)) calls.push(keysQuery(search, { limit: 50, offset: 0, slack: 0, walk: true }));
    for (const { statement, values } of calls) {
      const read = await rowsRead(db, 'audit_entries_%', (trx) => run(trx, statement, values));
      if (read > 20) over.push(`${JSON.stringify(filters)}: ${statement.text} ${read}`);
    }
  }
  expect(over).toEqual([]);
});
