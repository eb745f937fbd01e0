/** `npm run release:migrations`: adds the checksums of this version's migrations to the list. From then on their files never change. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from '../embedded/settings.mjs';

const FOLDER = join(root, 'db', 'migrations');
const LIST = join(FOLDER, 'released.json');

/** Returns the SHA-256 of each file of a migration, by its path below the folder. @returns {Record<string, string>} */
export function hashMigrations() {
  const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => /^\d{4}_.*\.(ts|sql)$/.test(file))
    .sort();
  // A checkout on Windows may end lines with CR LF.
  const readText = (file) => readFileSync(join(FOLDER, file), 'utf8').replaceAll('\r\n', '\n');
  return Object.fromEntries(files.map((file) => [file, createHash('sha256').update(readText(file)).digest('hex')]));
}

/** Returns the checksums of the released files, by the version that released them. @returns {Record<string, Record<string, string>>} */
export const readReleased = () => JSON.parse(readFileSync(LIST, 'utf8'));

/**
 * Returns the released files that are missing or have changed, one line each.
 * @param {Record<string, Record<string, string>>} released
 * @param {Record<string, string>} hashes
 * @returns {string[]}
 */
export function findChangedFiles(released, hashes) {
  return Object.entries(released).flatMap(([version, files]) =>
    Object.entries(files)
      .filter(([file, hash]) => hashes[file] !== hash)
      .map(([file]) => `${file} of version ${version} ${file in hashes ? 'has changed' : 'is missing'}`),
  );
}

/**
 * Returns the names of the migrations that the files belong to, in order: `0100_x` of `0100_x.ts`, of `0100_x.sql` and of `0100_x/01_y.sql`.
 * @param {string[]} files
 */
export const listMigrationNames = (files) => [...new Set(files.map((file) => /^\w+/.exec(file)?.[0] ?? file))].sort();

/** Adds the files that no version has released yet to the version of package.json. @returns {string[]} the added files */
function release() {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const [released, hashes] = [readReleased(), hashMigrations()];
  const changed = findChangedFiles(released, hashes);
  if (changed.length > 0) throw new Error(`A released file never changes: write a new migration.\n${changed.join('\n')}`);
  const known = Object.values(released).flatMap((files) => Object.keys(files));
  const added = Object.entries(hashes).filter(([file]) => !known.includes(file));
  if (added.length > 0) released[version] = { ...released[version], ...Object.fromEntries(added) };
  writeFileSync(LIST, `${JSON.stringify(released, null, 2)}\n`);
  return added.map(([file]) => file);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const added = release();
  process.stdout.write(added.length > 0 ? `added ${added.join(', ')}\n` : 'every migration is listed already\n');
}
