import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import pg from 'pg';
import { listStatements, type Statement } from '../../db/statement.js';
import { startApp, type TestApp } from '../support/app.js';
import { listCalls, type Shape, type StatementCall } from './statement-calls.js';

/** Prepares every statement on PostgreSQL and compares what it takes and returns with the types of those who run it. */

const root = resolve(import.meta.dirname, '../..');
const FOLDERS = ['api', 'activities', 'db'];

interface Described {
  parameters: number[];
  columns: Map<string, number>;
}

/** Asks PostgreSQL to parse and describe a statement; it is not executed. */
const describeStatement = (client: pg.Client, { text }: Statement): Promise<Described> =>
  new Promise((done, fail) => {
    const described: Described = { parameters: [], columns: new Map() };
    let error: Error | undefined;
    // The shape that pg asks of a query; https://github.com/brianc/node-postgres has it in cursors.
    const query = {
      submit(connection: pg.Connection) {
        connection.once('parameterDescription', ({ dataTypeIDs }: { dataTypeIDs: number[] }) => {
          described.parameters = dataTypeIDs;
        });
        connection.parse({ name: '', text, types: [] }, true);
        connection.describe({ type: 'S', name: '' }, true);
        connection.sync();
      },
      handleRowDescription({ fields }: { fields: { name: string; dataTypeID: number }[] }) {
        for (const { name, dataTypeID } of fields) described.columns.set(name, dataTypeID);
      },
      handleError(failure: Error) {
        error = failure;
      },
      handleReadyForQuery() {
        if (error) fail(error);
        else done(described);
      },
    };
    (client as unknown as { query(query: object): void }).query(query);
  });

/** Shapes in which a type of PostgreSQL arrives (db/connection.ts), by its name. */
const ARRIVES: Record<string, Shape> = {
  bool: 'boolean',
  bytea: 'Buffer',
  timestamptz: 'Date',
  ...Object.fromEntries(['int2', 'int4', 'int8', 'float4', 'float8', 'numeric', 'oid'].map((name) => [name, 'number'])),
  ...Object.fromEntries(['json', 'jsonb', 'record', 'interval'].map((name) => [name, 'unknown'])),
};
const arrivesAs = (type: string): Shape => (type.startsWith('_') ? 'array' : (ARRIVES[type] ?? 'string'));

/** Whether a parameter of this type takes what JavaScript passes: pg sends all but arrays, buffers and dates as text. */
function takes(type: string, passed: Shape): boolean {
  if (passed === 'unknown' || type.startsWith('json')) return true;
  if (type.startsWith('_')) return passed === 'array' || passed === 'string';
  const arrives = arrivesAs(type);
  if (arrives === 'unknown') return passed === 'string';
  return (
    passed === arrives ||
    passed === 'string' ||
    (passed === 'number' && type === 'interval') ||
    (passed === 'Date' && type === 'date')
  );
}

let app: TestApp;
let client: pg.Client | undefined;
let types: Map<number, string>;
const described = new Map<string, Described>();
const refused: string[] = [];

beforeAll(async () => {
  app = await startApp();
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((file) => `${folder}/${file}`)
      .filter((file) => file.endsWith('.ts') && readFileSync(join(root, file), 'utf8').includes('defineStatement(')),
  );
  for (const file of files) await import(`../../${file.replace(/\.ts$/, '.js')}`);
  await import('../../activities/processes.js');
  const connected = new pg.Client({ connectionString: app.services.config.DATABASE_URL });
  client = connected;
  await connected.connect();
  const { rows } = await connected.query<{ oid: number; typname: string }>('select oid::int4, typname from pg_type');
  types = new Map(rows.map(({ oid, typname }) => [oid, typname]));
  for (const statement of listStatements().values())
    await describeStatement(connected, statement).then(
      (found) => described.set(statement.name, found),
      (error: unknown) => refused.push(`${statement.name}: ${(error as Error).message}`),
    );
}, 120_000);
afterAll(async () => {
  await client?.end();
  await app.close();
});

/** Faults of one call against one of its statements. */
function findFaults({ place, columns, values }: StatementCall, name: string): string[] {
  const found = described.get(name);
  if (!found) return [];
  const read = [...columns].flatMap(([column, shapes]) => {
    const type = types.get(found.columns.get(column) ?? 0);
    if (type === undefined) return [`${place}: ${name} returns no ${column}`];
    const arrives = arrivesAs(type);
    const fits = arrives === 'unknown' || shapes.size === 0 || shapes.has(arrives) || shapes.has('unknown');
    return fits ? [] : [`${place}: ${column} of ${name} is ${type}, not ${[...shapes].join(' or ')}`];
  });
  if (!values) return read;
  if (values.length !== found.parameters.length)
    return [...read, `${place}: ${name} takes ${found.parameters.length} parameters, not ${values.length}`];
  const passed = values.flatMap((shapes, at) => {
    const type = types.get(found.parameters[at] ?? 0) ?? 'text';
    return [...shapes]
      .filter((shape) => !takes(type, shape))
      .map((shape) => `${place}: $${at + 1} of ${name} is ${type}, not ${shape}`);
  });
  return [...read, ...passed];
}

it('PostgreSQL accepts every statement', () => {
  expect(described.size).toBeGreaterThan(500);
  expect(refused).toEqual([]);
});

it('every caller reads columns that exist, by their types, and passes parameters that fit', () => {
  const calls = listCalls(FOLDERS, new Set(listStatements().keys()));
  expect(calls.length).toBeGreaterThan(450);
  // A function that is given its statement, or builds it for each call, names none: at most one call of ten.
  expect(calls.filter(({ names }) => names.length === 0).length).toBeLessThan(calls.length / 10);
  expect(calls.flatMap((call) => call.names.flatMap((name) => findFaults(call, name)))).toEqual([]);
}, 120_000);

it('tells a column that is missing or of another type, and parameters that do not fit', () => {
  const call = (columns: Record<string, Shape>, values: Shape[] | null): StatementCall => ({
    place: 'here',
    names: ['seat_of'],
    columns: new Map(Object.entries(columns).map(([name, shape]) => [name, new Set([shape])])),
    values: values && values.map((shape) => new Set([shape])),
  });
  expect(findFaults(call({ role: 'string' }, ['string', 'string']), 'seat_of')).toEqual([]);
  expect(findFaults(call({ role: 'number', seat: 'string' }, ['string', 'boolean']), 'seat_of')).toEqual([
    'here: role of seat_of is text, not number',
    'here: seat_of returns no seat',
    'here: $2 of seat_of is uuid, not boolean',
  ]);
  expect(findFaults(call({}, ['string']), 'seat_of')).toEqual(['here: seat_of takes 2 parameters, not 1']);
});
