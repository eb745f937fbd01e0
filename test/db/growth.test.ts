import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Settings } from '../../api/platform/config.js';
import { startApp, type TestApp } from '../support/app.js';

// The page of operators that tells what each table grows by.

const page = readFileSync(fileURLToPath(new URL('../../docs/operate/growth.md', import.meta.url)), 'utf8');
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|').map((cell) => cell.trim()));

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

it('lists every table once, with what keeps it', async () => {
  const tables = await app.services
    .db('pg_class')
    .whereRaw(`relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`)
    .orderBy('relname')
    .pluck('relname');
  expect(rows.map(([, table = '']) => table.replaceAll('`', '')).toSorted()).toEqual(tables);
  expect(rows.filter(([, , , , kept]) => !kept)).toEqual([]);
});

it('names only settings that exist', async () => {
  const named = new Set([...page.matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)].map(([, name]) => name));
  expect([...named].filter((name) => !Object.hasOwn(Settings.shape, name ?? ''))).toEqual([]);
  expect(named.size).toBeGreaterThan(10);
});
