import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findSchemaProblem, VERSION } from '../../../db/schema/check-schema.js';
import { MIGRATION_NAMES } from '../../../db/migrations/index.js';
import { NAMES } from '../../../db/schema/version-0-1-0.js';

const root = join(import.meta.dirname, '../../..');

it.each(['package.json', 'clients/typescript/package.json'])('the version is that of %s', (file) => {
  expect(JSON.parse(readFileSync(join(root, file), 'utf8'))).toMatchObject({ version: VERSION });
});

it('the numbers of migrations rise, and stay above those of version 0.1.0, which compares names as texts', () => {
  expect([...NAMES, ...MIGRATION_NAMES]).toEqual([...NAMES, ...MIGRATION_NAMES].toSorted());
});

describe('a process', () => {
  const [newest, next] = [MIGRATION_NAMES.at(-1) as string, '9999_next'];

  it.each([
    ['its own schema', MIGRATION_NAMES, VERSION],
    ['a newer schema that it can run on', [...MIGRATION_NAMES, next], VERSION],
    ['a newer schema that an older version can run on', [...MIGRATION_NAMES, next], '0.1.9'],
  ])('runs on %s', (_what, applied, oldestVersion) => {
    expect(findSchemaProblem({ applied, oldestVersion })).toBeNull();
  });

  it.each([
    ['no schema', [], null, /^The database has no schema\. Run the migrate step/],
    [
      'the schema of version 0.1.0',
      NAMES,
      null,
      new RegExp(
        `older than this build: it is at 0058_if_changed, and version ${VERSION} needs ${newest}\\. Run the migrate step`,
      ),
    ],
    ['an older schema', MIGRATION_NAMES.slice(0, -1), '0.1.0', /older than this build: .* Run the migrate step/],
    ['a newer schema that needs the next patch', [...MIGRATION_NAMES, next], '0.2.1', /newer .* needs version 0\.2\.1 or later/],
    [
      'a newer schema that needs version 0.10.0',
      [...MIGRATION_NAMES, next],
      '0.10.0',
      /Start that version, or restore the backup/,
    ],
    ['a newer schema that needs version 1.0.0', [...MIGRATION_NAMES, next], '1.0.0', /newer than this build/],
    [
      'the schema of another build',
      [...MIGRATION_NAMES.slice(0, -1), next],
      '0.1.0',
      /another build: it has 9999_next, and lacks/,
    ],
  ])('refuses %s, and says what to do', (_what, applied, oldestVersion, words) => {
    expect(findSchemaProblem({ applied, oldestVersion })).toMatch(words);
  });
});
