import { spawnSync } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { loadConfig, Settings } from '../../api/platform/config.js';
import {
  allContainers,
  containersOf,
  environmentOf,
  type Labels,
  mainOf,
  pod,
  pods,
  read,
  root,
  servicePods,
  settingsIn,
} from './kubernetes-manifests.js';

const compose = parse(read('docker-compose.yml'), { merge: true }) as {
  services: Record<string, { environment: Labels; secrets: string[] }>;
};

describe('settings', () => {
  const withoutFile = (name: string) => name.replace(/_FILE$/, '');
  const handedOn = (component: string) => Object.keys(environmentOf(mainOf(component))).map(withoutFile);

  test('all that compose hands on are handed on; the API lacks only how to sign in at Temporal', () => {
    const ofCompose = Object.keys(compose.services['api']?.environment ?? {}).map(withoutFile);
    expect(ofCompose.length).toBeGreaterThan(70);
    expect(handedOn('worker').toSorted()).toEqual(ofCompose.toSorted());
    const notForApi = ofCompose.filter((name) => !handedOn('api').includes(name));
    expect(notForApi.toSorted()).toEqual(Object.keys(settingsIn('base/worker.env')).map(withoutFile).toSorted());
    expect(notForApi.filter((name) => !/^TEMPORAL_(TLS|API_KEY)/.test(name))).toEqual([]);
  });

  test('are known, once, in both files and in the example', () => {
    for (const file of ['base/settings.env', 'base/worker.env', 'example/settings.env']) {
      const names = Object.keys(settingsIn(file));
      expect([file, names.filter((name) => !(withoutFile(name) in Settings.shape))]).toEqual([file, []]);
      const lines = read(`deploy/kubernetes/${file}`).match(/^[A-Z][A-Z0-9_]*(?==)/gm) ?? [];
      expect([file, lines]).toEqual([file, names]);
    }
    const base = settingsIn('base/settings.env');
    expect(Object.keys(settingsIn('example/settings.env')).filter((name) => !(name in base))).toEqual([]);
  });

  test('are checked by a container of its own, with the same settings and files, before the service starts', () => {
    for (const component of servicePods) {
      const [check, ...others] = pod(component).spec.initContainers ?? [];
      expect(others).toEqual([]);
      expect(check?.args).toEqual(['dist/scripts/check-settings.js']);
      expect([check?.envFrom, check?.volumeMounts]).toEqual([mainOf(component).envFrom, mainOf(component).volumeMounts]);
    }
  });

  test.each(servicePods)('of %s and the example are a complete production configuration', (component) => {
    const folder = mkdtempSync(join(tmpdir(), 'assent-kubernetes-'));
    try {
      const environment = (changes: Labels): Labels =>
        Object.fromEntries(
          Object.entries(environmentOf(mainOf(component), changes)).map(([name, value]) => [
            name,
            value.replace('/run/secrets', folder),
          ]),
        );
      const values: Labels = {
        database_url: 'postgres://assent_app:x@postgres.example.com/assent',
        jwt_secret: randomBytes(48).toString('base64'),
        secrets_master_key: randomBytes(32).toString('base64'),
        audit_signing_key: generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
        receipt_signing_key: generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
        forge_webhook_secret: randomBytes(32).toString('hex'),
        mail_url: 'smtps://mail.example.com',
        s3_secret_access_key: randomBytes(30).toString('base64'),
      };
      for (const name of compose.services['api']?.secrets ?? []) writeFileSync(join(folder, name), values[name] ?? '');
      expect(() => loadConfig(environment({}))).toThrow(/BASE_URL: needed/);
      expect(() => loadConfig(environment({}))).toThrow(/S3_BUCKET: needed/);
      expect(loadConfig(environment(settingsIn('example/settings.env')))).toMatchObject({
        NODE_ENV: 'production',
        BIND_ADDRESS: '0.0.0.0',
        FILE_STORE: 's3',
        TRUST_PROXY_HOPS: 1,
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('secrets', () => {
  /** Runs create-secrets.sh with a kubectl that only notes its arguments. Returns the keys of each Secret. */
  function createdSecrets(): Record<string, string[]> {
    const copy = mkdtempSync(join(tmpdir(), 'assent-kubernetes-'));
    try {
      cpSync(join(root, 'deploy'), join(copy, 'deploy'), { recursive: true });
      spawnSync('sh', [join(copy, 'deploy/create-secrets.sh')]);
      mkdirSync(join(copy, 'bin'));
      const note = `#!/bin/sh\nprintf '%s\\n' "$*" >>${join(copy, 'calls')}\n[ "$1" != apply ] || cat >/dev/null\n`;
      writeFileSync(join(copy, 'bin/kubectl'), note, { mode: 0o755 });
      const env = { PATH: `${join(copy, 'bin')}:${process.env['PATH']}` };
      const run = () =>
        spawnSync('sh', [join(copy, 'deploy/kubernetes/create-secrets.sh'), '--namespace', 'x'], { encoding: 'utf8', env });
      expect(run()).toMatchObject({ status: 0, stderr: '' });
      const calls = readFileSync(join(copy, 'calls'), 'utf8').trim().split('\n');
      expect(calls.filter((call) => call === 'apply --server-side --filename=- --namespace x')).toHaveLength(2);
      rmSync(join(copy, 'secrets/jwt_secret'), { force: true });
      expect(run()).toMatchObject({ status: 1, stderr: expect.stringContaining('secrets/jwt_secret is missing') });
      return Object.fromEntries(
        calls.flatMap((call) => {
          const [, name] = /^create secret generic (\S+)/.exec(call) ?? [];
          return name ? [[name, [...call.matchAll(/--from-file=secrets\/(\w+)/g)].map(([, key]) => key as string)]] : [];
        }),
      );
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
  }

  test('every file that a setting names is a key of a mounted Secret, and each Secret has no other key', () => {
    const created = createdSecrets();
    const used: Record<string, Set<string>> = {};
    for (const [component, each] of pods) {
      const secretAt = new Map(
        containersOf(each)
          .flatMap(({ volumeMounts = [] }) => volumeMounts)
          .map(({ name, mountPath }) => [mountPath, each.spec.volumes.find((volume) => volume.name === name)?.secret]),
      );
      for (const container of containersOf(each)) {
        for (const [name, path] of Object.entries(environmentOf(container)).filter(
          ([name, path]) => name.endsWith('_FILE') && path,
        )) {
          const secret = secretAt.get(dirname(path))?.secretName ?? '';
          expect([component, name, created[secret]]).toEqual([
            component,
            name,
            expect.arrayContaining([path.slice(dirname(path).length + 1)]),
          ]);
          (used[secret] ??= new Set()).add(path.slice(dirname(path).length + 1));
        }
      }
      const required = [...secretAt.values()].flatMap((secret) => (secret && !secret.optional ? [secret.secretName] : []));
      expect([component, required.filter((name) => !(name in created))]).toEqual([component, []]);
    }
    const sorted = (keys: Iterable<string>) => [...keys].toSorted();
    expect(Object.fromEntries(Object.entries(used).map(([name, keys]) => [name, sorted(keys)]))).toEqual(
      Object.fromEntries(Object.entries(created).map(([name, keys]) => [name, sorted(keys)])),
    );
    expect(sorted(created['assent-service'] ?? [])).toEqual(sorted(compose.services['api']?.secrets ?? []));
  });

  test('only the migrations get the owner of the tables, and nothing else', () => {
    const secretsOf = (component: string) =>
      pod(component).spec.volumes.flatMap(({ secret }) => (secret ? [secret.secretName] : []));
    expect(secretsOf('migrate')).toEqual(['assent-migrate']);
    for (const component of servicePods) expect(secretsOf(component)).not.toContain('assent-migrate');
    expect(mainOf('migrate').envFrom).toBeUndefined();
  });

  test('no variable holds a value that belongs into a file', () => {
    const secretName = /PASSWORD|PWD|SECRET|TOKEN(?!S)|_KEY|DATABASE_URL|MAIL_URL/;
    for (const [name, container] of allContainers) {
      const open = Object.keys(environmentOf(container)).filter(
        (variable) => secretName.test(variable) && !/_FILE$|_ID$/.test(variable),
      );
      expect([name, open]).toEqual([name, []]);
    }
  });
});
