import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');
const RELEASES = '@temporalio/core-bridge/releases';
/** The platforms that the SDK comes with today. */
const platforms = readdirSync(join(root, 'node_modules', RELEASES));

let modules: string;
beforeEach(() => {
  modules = mkdtempSync(join(tmpdir(), 'assent-prune-'));
});
afterEach(() => rmSync(modules, { recursive: true }));

const place = (names: string[]): void => {
  for (const name of names) {
    mkdirSync(join(modules, RELEASES, name), { recursive: true });
    writeFileSync(join(modules, RELEASES, name, 'index.node'), name);
  }
};
const prune = () => spawnSync(process.execPath, [join(root, 'deploy/prune-modules.mjs'), modules], { encoding: 'utf8' });
const left = (): string[] => readdirSync(join(modules, RELEASES));
/** The core that this very process would load. */
const ours = platforms.filter((name) => {
  const [arch, system] = [name.split('-')[0], name.replace(/^[^-]+-/, '')];
  const isArch = arch === (process.arch === 'x64' ? 'x86_64' : 'aarch64');
  return isArch && system.includes({ linux: 'linux', darwin: 'darwin', win32: 'windows' }[process.platform as 'linux']);
});

describe('the image’s native modules', () => {
  it('keeps only this platform’s core of Temporal', () => {
    place(platforms);
    expect(prune()).toMatchObject({ status: 0, stderr: '' });
    expect(platforms.length).toBeGreaterThan(3);
    expect(left()).toEqual(ours);
    expect(prune().status).toBe(0);
  });

  it('removes types, sources, maps and documents of packages, and keeps code, data and licenses', () => {
    place(platforms);
    const names = ['index.js', 'index.d.ts', 'index.ts', 'index.js.map', 'README.md', 'LICENSE.md', 'data.json', 'api.proto'];
    for (const name of names) writeFileSync(join(modules, name), name);
    expect(prune().status).toBe(0);
    const kept = readdirSync(modules).filter((name) => names.includes(name));
    expect(kept.toSorted()).toEqual(['LICENSE.md', 'api.proto', 'data.json', 'index.js']);
  });

  it('nothing is removed, and the build ends, where this platform’s is missing', () => {
    const foreign = platforms.filter((name) => !ours.includes(name));
    place(foreign);
    expect(prune()).toMatchObject({ status: 1, stderr: expect.stringContaining('holds no core for') });
    expect(left().toSorted()).toEqual(foreign.toSorted());
  });

  it('the build prunes after it has left out what development needs, and copies the rest only then', () => {
    const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');
    const step = /^RUN npm prune --omit=dev --ignore-scripts && node deploy\/prune-modules\.mjs node_modules\b/m.exec(dockerfile);
    expect(step).not.toBeNull();
    expect(dockerfile.indexOf('COPY --from=build /app/node_modules')).toBeGreaterThan(step?.index ?? Infinity);
    expect(readFileSync(join(root, '.dockerignore'), 'utf8')).toContain('!deploy/prune-modules.mjs');
  });
});
