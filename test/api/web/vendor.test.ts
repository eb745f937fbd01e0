import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const folder = resolve(import.meta.dirname, '../../../api/web/assets/vendor');
const read = (name: string): string => readFileSync(join(folder, name), 'utf8');

/** What each file was when it was published: SHA-256 of `css/pico.min.css` in the npm package @picocss/pico 2.1.1. */
const PUBLISHED = { 'pico.min.css': 'fbc9a63fc9fc9f72d12fd7fc9806e11fa9f77ae4f9cad146b27003a1119ba3db' };

describe('files of others that we keep a copy of', () => {
  it('are as they were published, each with its license beside it', () => {
    const licenses = Object.keys(PUBLISHED).map((name) => `${name.split('.')[0]}.LICENSE.md`);
    expect(readdirSync(folder).toSorted()).toEqual([...Object.keys(PUBLISHED), ...licenses].toSorted());
    for (const [name, hash] of Object.entries(PUBLISHED))
      expect(createHash('sha256').update(read(name)).digest('hex')).toBe(hash);
    for (const license of licenses) expect(read(license)).toMatch(/MIT License[\s\S]+Copyright/);
  });

  it('reach for nothing elsewhere', () => {
    for (const name of Object.keys(PUBLISHED)) expect(read(name)).not.toMatch(/@import|url\(\s*["']?(?:https?:)?\/\//);
  });
});
