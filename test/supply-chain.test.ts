import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

// What an installation downloads is fixed, complete for every platform, runs nothing, and is free to use.
// Known vulnerabilities are not looked up here: that needs the network (`npm audit --omit=dev`).

const root = resolve(import.meta.dirname, '..');
const read = (name: string): string => readFileSync(join(root, name), 'utf8');

interface Locked {
  version?: string;
  resolved?: string;
  integrity?: string;
  license?: string;
  dev?: boolean;
  devOptional?: boolean;
  hasInstallScript?: boolean;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
}
const manifest = JSON.parse(read('package.json')) as {
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  overrides: Record<string, string>;
  allowScripts: Record<string, boolean>;
};
const lock = JSON.parse(read('package-lock.json')) as { lockfileVersion: number; packages: Record<string, Locked> };
const packages = Object.entries(lock.packages).filter(([path]) => path !== '');
const getName = (path: string): string => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

/** The entry that a package at `path` would load under this name: its own, or that of a directory above. */
function entryFor(path: string, name: string): Locked | undefined {
  for (
    let place = path;
    ;
    place = place.includes('node_modules/') ? place.slice(0, place.lastIndexOf('node_modules/')).replace(/\/$/, '') : ''
  ) {
    const found = lock.packages[`${place === '' ? '' : `${place}/`}node_modules/${name}`];
    if (found || place === '') return found;
  }
}

describe('versions', () => {
  it.each(['dependencies', 'devDependencies', 'overrides'] as const)('%s are exact', (kind) => {
    const loose = Object.entries(manifest[kind]).filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version));
    expect(loose).toEqual([]);
  });

  it('the lock is of this package.json', () => {
    const locked = lock.packages[''];
    expect(locked?.dependencies).toEqual(manifest.dependencies);
    expect(locked?.devDependencies).toEqual(manifest.devDependencies);
    for (const [name, version] of Object.entries({
      ...manifest.dependencies,
      ...manifest.devDependencies,
      ...manifest.overrides,
    })) {
      expect([name, entryFor('', name)?.version]).toEqual([name, version]);
    }
  });

  it('installs exactly the locked versions', () => {
    const names = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies });
    const installed = names.map((name) => [name, (JSON.parse(read(`node_modules/${name}/package.json`)) as Locked).version]);
    expect(Object.fromEntries(installed)).toEqual(Object.fromEntries(names.map((name) => [name, entryFor('', name)?.version])));
  });
});

describe('the lock file', () => {
  it('is of format 3, with a checksum for everything and no address of any registry', () => {
    expect(lock.lockfileVersion).toBe(3);
    expect(packages.length).toBeGreaterThan(500);
    expect(packages.filter(([, { integrity }]) => integrity?.startsWith('sha512-') !== true).map(([path]) => path)).toEqual([]);
    expect(packages.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path)).toEqual([]);
    expect(read('.npmrc')).not.toMatch(/registry\s*=/);
  });

  it('is complete for every platform: each optional dependency has an entry', () => {
    const missing = packages.flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies)
        .filter((name) => !entryFor(path, name))
        .map((name) => `${name} of ${path}`),
    );
    expect(missing).toEqual([]);
  });

  it('is complete: each dependency has an entry', () => {
    const missing = packages.flatMap(([path, { dependencies = {} }]) =>
      Object.keys(dependencies)
        .filter((name) => !entryFor(path, name))
        .map((name) => `${name} of ${path}`),
    );
    expect(missing).toEqual([]);
  });

  it('holds the platforms that people use', () => {
    for (const platform of [
      'darwin-arm64',
      'darwin-x64',
      'linux-arm64-gnu',
      'linux-x64-gnu',
      'linux-x64-musl',
      'win32-x64-msvc',
    ]) {
      expect(lock.packages[`node_modules/@swc/core-${platform}`]).toBeDefined();
      expect(lock.packages[`node_modules/@node-rs/argon2-${platform}`]).toBeDefined();
    }
  });
});

it('no package may run a script while it is installed', () => {
  const scripted = [...new Set(packages.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => getName(path)))];
  expect(scripted.length).toBeGreaterThan(5);
  expect(scripted.filter((name) => manifest.allowScripts[name] !== false)).toEqual([]);
  expect(Object.entries(manifest.allowScripts).filter(([, allowed]) => allowed)).toEqual([]);
  // npm 10 knows no allowScripts: this holds for an `npm ci` by hand, whatever the version.
  expect(read('.npmrc')).toMatch(/^ignore-scripts=true$/m);
});

describe('licences of what production runs', () => {
  const FREE = [
    'MIT',
    'PSF-2.0',
    'MIT-0',
    'ISC',
    'Apache-2.0',
    'Apache-2.0 AND MIT',
    'BSD-2-Clause',
    'BSD-3-Clause',
    '0BSD',
    'BlueOak-1.0.0',
    'Unlicense',
  ];
  /** Read by hand. */
  const KNOWN: Record<string, string> = {
    'caniuse-lite': 'CC-BY-4.0: a table of browser versions, no code; only webpack inside @temporalio/worker reads it',
    'json-schema': 'AFL-2.1 or BSD-3-Clause, at our choice: BSD-3-Clause',
    'htmx.org': 'BSD-0-Clause, another spelling of 0BSD: its LICENSE file is the Zero-Clause BSD',
    unionfs: 'Unlicense: its package.json does not say so, its LICENSE file does',
  };
  const production = packages.filter(([, { dev, devOptional }]) => !dev && !devOptional);

  it('are all on the list', () => {
    expect(production.length).toBeGreaterThan(100);
    const others = production.filter(([path, { license }]) => !FREE.includes(license ?? '') && !(getName(path) in KNOWN));
    expect(others.map(([path, { license }]) => `${path}: ${license}`)).toEqual([]);
  });

  it('exceptions are still there, and still as they were read', () => {
    expect(Object.keys(KNOWN).filter((name) => !production.some(([path]) => getName(path) === name))).toEqual([]);
    expect(read('node_modules/unionfs/LICENSE')).toMatch(/free and unencumbered software released into the public domain/);
  });

  it('no development package is loaded in production', () => {
    const direct = Object.keys(manifest.dependencies).filter((name) => entryFor('', name)?.dev);
    expect(direct).toEqual([]);
  });
});

describe('the image', () => {
  const text = read('Dockerfile');
  const lines = text.split('\n');
  const bases = new Map([...text.matchAll(/^ARG (\w+)=(\S+)$/gm)].map(([, name, image]) => [name, image] as const));
  const images = [...text.matchAll(/^FROM (\S+)/gm)].map(
    ([, image = '']) => bases.get(/^\$\{(\w+)\}$/.exec(image)?.[1]) ?? image,
  );

  it('builds on bases that are pinned to a line', () => {
    expect(images).toHaveLength(2);
    for (const image of images) expect(image).toMatch(/^[\w./-]+(?::(?!latest$)[\w.-]+|@sha256:[0-9a-f]{64})$/);
    for (const image of images) expect(image).toMatch(/(node:|nodejs)(20|22|24)\b/);
  });

  it('installs from the lock, and runs no script of a package', () => {
    const installs = lines.filter((line) => /\bnpm (ci|i|install|prune)\b/.test(line));
    expect(installs.length).toBeGreaterThan(0);
    for (const line of installs) expect(line).toMatch(/npm (ci|prune)\b.*--ignore-scripts/);
    expect(text).not.toMatch(/curl|wget|ADD https?:/);
    expect(existsSync(join(root, '.dockerignore'))).toBe(true);
  });
});
