import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MIGRATION_NAMES } from '../../../db/migrations/index.js';
import {
  findChangedFiles,
  hashMigrations,
  listMigrationNames,
  readReleased,
} from '../../../scripts/schema/released-migrations.mjs';

const root = join(import.meta.dirname, '../../..');
const released = readReleased();
const hashes = hashMigrations();
const releasedFiles = Object.values(released).flatMap((files) => Object.keys(files));

it('a released file never changes: write a new migration instead', () => {
  expect(findChangedFiles(released, hashes)).toEqual([]);
});

it('finds a change of one character, and a file that is gone', () => {
  const [first, second] = Object.keys(hashes) as [string, string];
  const { [first]: hash, [second]: _gone, ...others } = hashes;
  expect(findChangedFiles(released, { [first]: `${hash}0`, ...others })).toEqual([
    `${first} of version 0.2.0 has changed`,
    `${second} of version 0.2.0 is missing`,
  ]);
});

it('every released migration still runs, before those that are not released', () => {
  const names = listMigrationNames(releasedFiles);
  expect(MIGRATION_NAMES.slice(0, names.length)).toEqual(names);
});

it('every file belongs to a migration that runs, and every migration has one', () => {
  expect(listMigrationNames(Object.keys(hashes))).toEqual(MIGRATION_NAMES);
});

it('a migration is a module, one file of SQL, or a folder of them', () => {
  const files = ['0100_one/01_first.sql', '0100_one/02_second.sql', '0100_one.ts', '0102_two.sql'];
  expect(listMigrationNames(files)).toEqual(['0100_one', '0102_two']);
});

it('the image has the SQL of the migrations beside their code', () => {
  expect(readFileSync(join(root, 'Dockerfile'), 'utf8')).toContain(
    `cd db/migrations && find . -name '*.sql' -exec cp --parents {} ../../dist/db/migrations/ ';'`,
  );
});
