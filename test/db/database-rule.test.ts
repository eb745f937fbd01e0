import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

const sources = new Map(
  ['api', 'activities', 'db'].flatMap((room) =>
    readdirSync(join(root, room), { recursive: true, encoding: 'utf8' })
      .map((file) => `${room}/${file.replaceAll('\\', '/')}`)
      .filter((file) => file.endsWith('.ts') && !file.startsWith('db/migrations/'))
      .map((file) => [file, readFileSync(join(root, file), 'utf8')] as const),
  ),
);

const filesWith = (test: (text: string, file: string) => boolean) =>
  [...sources].flatMap(([file, text]) => (test(text, file) ? [file] : [])).sort();

const isLong = ([, sql = '']: RegExpExecArray) => sql.trim().split('\n').length > 10;

describe('the database rule of docs/architecture.md', () => {
  it('raw SQL fragments occur only in migrations', () => {
    expect(filesWith((text) => /\braw\s*[(<]/.test(text))).toEqual([]);
  });

  it('queries are built by models, not by knex', () => {
    expect(filesWith((text) => /\b(?:db|trx|\w+Db)\('/.test(text))).toEqual([]);
  });

  it('a statement of more than ten lines has a .sql.ts file', () => {
    const long = filesWith(
      (text, file) => !file.endsWith('.sql.ts') && [...text.matchAll(/\/\* sql \*\/ `([^`]*)`/g)].some(isLong),
    );
    expect(long).toEqual([]);
  });
});
