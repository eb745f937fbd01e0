import { spawnSync } from 'node:child_process';
import { createPrivateKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { KEEP_ALIVE_MS } from '../../api/http/serving/serving.js';
import { FIXED_IN_PRODUCTION, loadConfig, Settings } from '../../api/platform/config.js';

/** Where the list of search attributes is kept that the development server registers. */
const SEARCH_ATTRIBUTES = 'scripts/embedded/search-attributes.json';

interface Mount {
  source: string;
  target: string;
}
interface Service {
  image: string;
  command?: string | string[];
  build?: { context: string };
  restart: string;
  profiles?: string[];
  environment?: Record<string, string | null>;
  ports?: string[];
  networks?: string[];
  network_mode?: string;
  pull_policy?: string;
  secrets?: string[];
  configs?: Mount[];
  volumes?: string[];
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test?: string[]; disable?: boolean };
  read_only?: boolean;
  mem_limit?: string;
  cap_drop?: string[];
  security_opt?: string[];
}
interface Compose {
  services: Record<string, Service>;
  networks: Record<string, { internal?: boolean }>;
  volumes: Record<string, unknown>;
  configs: Record<string, { file: string }>;
  secrets: Record<string, { file: string }>;
}

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const text = read('docker-compose.yml');
const compose = parse(text, { merge: true }) as Compose;
/** The file that adds a replica of PostgreSQL, and its secret. */
const replica = parse(read('deploy/compose.replica.yml')) as Compose;
const services = Object.entries(compose.services);
const service = (name: string): Service => compose.services[name] as Service;
const runsForEver = ({ restart }: Service): boolean => restart === 'unless-stopped';
const usesOurImage = ({ image }: Service): boolean => image.startsWith('assent:');
/** `${NAME:-value}` as compose reads it with an empty environment. */
const withDefaults = (value: string): string => value.replace(/\$\{\w+:-([^}]*)\}/g, '$1');
/** The services that must be well, or through, before this one starts. */
const actionableApprovals = (name: string): string[] => {
  const direct = Object.keys(service(name).depends_on ?? {});
  return [...new Set([...direct, ...direct.flatMap(actionableApprovals)])].sort();
};
/** Everything that installs the service: the compose file, the image and what is mounted. */
const deployed = ['docker-compose.yml', 'Dockerfile', ...filesBelow('deploy')];

function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length));
}

describe('what the outside can reach', () => {
  test('only the API, the Temporal UI and what two profiles add are published, all on loopback unless told otherwise', () => {
    const published = services.flatMap(([name, { ports = [] }]) => ports.map((port) => `${name} ${withDefaults(port)}`));
    expect(published.sort()).toEqual([
      'api 127.0.0.1:3000:3000',
      'mailpit 127.0.0.1:8025:8025',
      'prometheus 127.0.0.1:9090:9090',
      'temporal-ui 127.0.0.1:8233:8080',
    ]);
    expect([service('mailpit').profiles, service('prometheus').profiles]).toEqual([['dev'], ['monitoring']]);
    expect(service('temporal-ui').ports).toEqual([expect.stringMatching(/^127\.0\.0\.1:/)]);
  });

  test('PostgreSQL and Temporal are on internal networks alone', () => {
    const internal = Object.keys(compose.networks).filter((name) => compose.networks[name]?.internal);
    for (const name of ['postgres', 'temporal']) expect(internal).toEqual(expect.arrayContaining(service(name).networks ?? []));
  });

  test('no container can gain rights, and none may write outside its volumes and tmpfs', () => {
    for (const [name, { read_only, cap_drop, security_opt }] of services) {
      expect({ name, read_only, cap_drop, security_opt }).toEqual({
        name,
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
      });
    }
  });

  test('a container that runs for good has a limit of memory', () => {
    for (const [name, each] of services)
      if (runsForEver(each))
        expect([name, withDefaults(each.mem_limit ?? '')]).toEqual([name, expect.stringMatching(/^\d+[mg]$/)]);
  });
});

describe('secrets', () => {
  test('every variable that holds one names a mounted file, and nothing else', () => {
    const secretName = /PASSWORD|PWD|SECRET|TOKEN(?!S)|_KEY|DATABASE_URL/;
    for (const [name, { environment = {}, secrets = [] }] of services) {
      for (const [variable, value] of Object.entries(environment).filter(
        ([name]) => secretName.test(name) && !name.endsWith('_ID'),
      )) {
        expect(`${name} ${variable}`).toMatch(/_FILE$/);
        if (value !== null) expect(secrets.map((secret) => `/run/secrets/${secret}`)).toContain(value);
      }
    }
  });

  test('no file of the installation holds a password, literal or as a default', () => {
    const literal = /(?:password|pwd|secret|token)\w*(?:=|:\s)\s*['"]?\w|password\s+'|(?:password|pwd|secret|token)\w*:-/i;
    const inAddress = /:\/\/\w+:(?!%s)[^\s/@]+@/;
    // Fields of Kubernetes that name a Secret or refuse a token.
    const withoutNames = (line: string) => line.replace(/\bsecretName: [\w-]+|\bautomountServiceAccountToken: false\b/g, '');
    const found = deployed.flatMap((file) =>
      read(file)
        .split('\n')
        .filter((line) => literal.test(withoutNames(line)) || inAddress.test(line))
        .map((line) => `${file}: ${line.trim()}`),
    );
    expect(found).toEqual([]);
  });

  test('a mounted script finds every secret that it reads', () => {
    for (const [name, { configs = [], secrets = [] }] of services) {
      const paths = configs.flatMap(
        ({ source }) => read(compose.configs[source]?.file ?? '').match(/\/run\/secrets\/\w+/g) ?? [],
      );
      for (const path of paths) expect([name, ...secrets.map((secret) => `/run/secrets/${secret}`)]).toContain(path);
    }
  });

  test('create-secrets.sh makes exactly the named ones without openssl, keeps them on a second run, and the service accepts them', () => {
    const copy = mkdtempSync(join(tmpdir(), 'assent-secrets-'));
    try {
      cpSync(join(root, 'deploy'), join(copy, 'deploy'), { recursive: true });
      const made = join(copy, 'secrets');
      const env = withoutOpenssl(copy);
      const run = () => spawnSync('sh', [join(copy, 'deploy/create-secrets.sh')], { encoding: 'utf8', env });
      expect(run()).toMatchObject({ status: 0, stderr: '' });
      const files = readdirSync(made).filter((name) => name !== '.gitignore');
      const contents = files.map((name) => readFileSync(join(made, name), 'utf8'));
      expect(files.map((name) => `secrets/${name}`).sort()).toEqual(
        [compose, replica]
          .flatMap(({ secrets }) => Object.values(secrets))
          .map(({ file }) => file)
          .sort(),
      );
      const filled = contents.filter((content) => content !== '');
      expect(filled).toHaveLength(
        files.filter(
          (name) =>
            !/_(?:next|previous)$|^forge_client_secret$|^s3_secret_access_key$|^ai_api_key$|^mail_url$|otlp_headers$/.test(name),
        ).length,
      );
      expect(new Set(filled).size).toBe(filled.length);
      expect(statSync(made).mode & 0o777).toBe(0o700);
      expect(readFileSync(join(made, '.gitignore'), 'utf8')).toBe('*\n');
      expect(run().status).toBe(0);
      expect(files.map((name) => readFileSync(join(made, name), 'utf8'))).toEqual(contents);
      // The mail server and the address are what nobody can make up.
      expect(() => loadConfig(buildEnvironment('api', made))).toThrow(
        /^Invalid configuration:\n {2}MAIL_URL: needed[^\n]*\n {2}BASE_URL: needed[^\n]*$/,
      );
      rmSync(join(made, 'mail_url'), { force: true });
      writeFileSync(join(made, 'mail_url'), 'smtps://mail.example.com');
      const config = loadConfig({ ...buildEnvironment('api', made), BASE_URL: 'https://assent.example.com' });
      for (const key of [config.AUDIT_SIGNING_KEY, config.RECEIPT_SIGNING_KEY])
        expect(createPrivateKey(key).asymmetricKeyType).toBe('ed25519');
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
  });

  test('the mailbox is the mail server only where the settings select it', () => {
    const copy = mkdtempSync(join(tmpdir(), 'assent-secrets-'));
    try {
      cpSync(join(root, 'deploy'), join(copy, 'deploy'), { recursive: true });
      spawnSync('sh', [join(copy, 'deploy/create-secrets.sh'), '--mailpit']);
      expect(readFileSync(join(copy, 'secrets/mail_url'), 'utf8')).toBe('smtp://mailpit:1025');
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
  });
});

/** An environment whose PATH has the tools that every Linux has, and no openssl. */
function withoutOpenssl(folder: string): NodeJS.ProcessEnv {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  for (const tool of ['sh', 'dirname', 'mkdir', 'chmod', 'cat', 'rm', 'mv', 'head', 'od', 'tr', 'base64']) {
    const path = ['/usr/bin', '/bin'].map((dir) => join(dir, tool)).find((file) => existsSync(file));
    if (path) symlinkSync(path, join(bin, tool));
  }
  return { PATH: bin };
}

/** The environment that a container of ours starts with, its secrets read from another folder. */
function buildEnvironment(name: string, secretsFolder: string): NodeJS.ProcessEnv {
  const given = Object.entries(service(name).environment ?? {}).filter(([, value]) => value !== null);
  return Object.fromEntries(given.map(([variable, value]) => [variable, String(value).replace('/run/secrets', secretsFolder)]));
}

describe('settings', () => {
  const ours = services.filter(([, definition]) => usesOurImage(definition));

  test('the service knows every variable that it is given', () => {
    const known = Object.keys(Settings.shape);
    for (const [, { environment = {} }] of ours) {
      for (const variable of Object.keys(environment)) expect(known).toContain(variable.replace(/_FILE$/, ''));
    }
  });

  test('every setting is handed on that is not the image’s own or fixed in production', () => {
    const ofTheImage = [
      'PORT',
      'METRICS_PORT',
      'WORKER_METRICS_PORT',
      'MAINTENANCE_SCHEDULES',
      'WORKFLOW_BUNDLE',
      'OUTBOUND_LOOPBACK',
    ];
    const free = Object.keys(Settings.shape).filter((name) => ![...FIXED_IN_PRODUCTION, ...ofTheImage].includes(name));
    for (const name of ['api', 'worker', 'tools', 'settings']) {
      const { environment = {} } = service(name);
      const missing = free.filter((setting) => !(setting in environment || `${setting}_FILE` in environment));
      expect([name, missing]).toEqual([name, []]);
    }
  });

  test.each(['api', 'worker', 'tools', 'settings'])('%s gets a complete production configuration', (name) => {
    const folder = mkdtempSync(join(tmpdir(), 'assent-settings-'));
    try {
      const values: Record<string, string> = {
        database_url: 'postgres://assent_app:x@postgres:5432/assent',
        jwt_secret: randomBytes(48).toString('base64'),
        secrets_master_key: randomBytes(32).toString('base64'),
        audit_signing_key: generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
        receipt_signing_key: generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
        forge_webhook_secret: randomBytes(32).toString('hex'),
        mail_url: 'smtp://mailpit:1025',
      };
      for (const [secret, value] of Object.entries(values)) writeFileSync(join(folder, secret), value);
      expect(() => loadConfig(buildEnvironment(name, folder))).toThrow(/BASE_URL: needed/);
      const [, BASE_URL = ''] = /^BASE_URL=(.+)$/m.exec(read('deploy/production.env.example')) ?? [];
      expect(loadConfig({ ...buildEnvironment(name, folder), BASE_URL })).toMatchObject({
        NODE_ENV: 'production',
        BIND_ADDRESS: '0.0.0.0',
        DATA_DIR: '/data',
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test('the example of a production .env names only what the compose file hands on', () => {
    const names = [...read('deploy/production.env.example').matchAll(/^#?([A-Z][A-Z_]+)=/gm)].map((match) => match[1] as string);
    const handedOn = Object.entries(service('api').environment ?? {})
      .filter(([, value]) => value === null)
      .map(([name]) => name);
    for (const name of names) expect([...handedOn, ...[...text.matchAll(/\$\{(\w+)/g)].map((match) => match[1])]).toContain(name);
  });
});

describe('start and health', () => {
  test('one service builds the image, and the others take what it built', () => {
    const ours = services.filter(([, definition]) => usesOurImage(definition));
    expect(ours.filter(([, { build }]) => build).map(([name]) => name)).toEqual(['settings']);
    expect(ours.filter(([, { build, pull_policy }]) => !build && pull_policy !== 'never').map(([name]) => name)).toEqual([]);
    expect(new Set(ours.map(([, { image }]) => image)).size).toBe(1);
  });

  test('checks the settings in a container without network before anything is migrated or started', () => {
    expect(service('settings').network_mode).toBe('none');
    expect(service('settings').environment).toEqual(service('api').environment);
    expect(service('settings').secrets).toEqual(service('api').secrets);
    for (const name of ['migrate', 'api', 'worker']) expect(actionableApprovals(name)).toContain('settings');
  });

  test('every long-running service has a health check', () => {
    const unchecked = services.filter(([, definition]) => runsForEver(definition) && !definition.healthcheck?.test?.length);
    expect(unchecked.map(([name]) => name)).toEqual([]);
    expect(services.filter(([, definition]) => runsForEver(definition)).map(([name]) => name)).toEqual(
      expect.arrayContaining(['postgres', 'temporal', 'temporal-ui', 'api', 'worker']),
    );
  });

  test('every service that waits for another waits for a reachable condition', () => {
    for (const [name, { depends_on = {} }] of services) {
      for (const [other, { condition }] of Object.entries(depends_on)) {
        const expected = runsForEver(service(other)) ? 'service_healthy' : 'service_completed_successfully';
        expect({ name, other, condition }).toEqual({ name, other, condition: expected });
      }
    }
  });

  test('the API waits for PostgreSQL and the migrations only; the worker for Temporal and its namespace too', () => {
    expect(actionableApprovals('api')).toEqual(['migrate', 'postgres', 'settings']);
    expect(actionableApprovals('worker')).toEqual([
      'migrate',
      'postgres',
      'settings',
      'temporal',
      'temporal-namespace',
      'temporal-schema',
    ]);
  });

  test('secrets, configurations, networks and volumes are declared, used, and their files are there', () => {
    const used = (pick: (definition: Service) => string[]): string[] =>
      [...new Set(services.flatMap(([, definition]) => pick(definition)))].sort();
    expect(used(({ secrets = [] }) => secrets)).toEqual(Object.keys(compose.secrets).sort());
    expect(used(({ configs = [] }) => configs.map(({ source }) => source))).toEqual(Object.keys(compose.configs).sort());
    expect(used(({ networks = [] }) => networks)).toEqual(Object.keys(compose.networks).sort());
    expect(used(({ volumes = [] }) => volumes.map((volume) => volume.split(':')[0] as string))).toEqual(
      Object.keys(compose.volumes).sort(),
    );
    for (const { file } of Object.values(compose.configs))
      expect({ file, there: existsSync(join(root, file)) }).toEqual({ file, there: true });
  });
});

describe('files for a second one of each part', () => {
  const override = (name: string): Compose => parse(read(`deploy/${name}`)) as Compose;

  test('the archive starts PostgreSQL as without it, and adds its settings', () => {
    const { postgres, ...jobs } = override('compose.archive.yml').services;
    const base = service('postgres').command as string[];
    expect(base.length).toBeGreaterThan(1);
    expect(postgres?.command?.slice(0, base.length)).toEqual(base);
    expect(Object.values(jobs).map(({ image }) => image)).toEqual([service('postgres').image]);
  });

  test('several servers of Temporal tell each other an address of their own', () => {
    expect(service('temporal').environment?.['TEMPORAL_BROADCAST_ADDRESS']).toBe('127.0.0.1');
    expect(override('compose.temporal.yml').services['temporal']?.environment).toEqual({ TEMPORAL_BROADCAST_ADDRESS: '' });
    expect(read('deploy/temporal/start-server.sh')).toMatch(/"\$\{TEMPORAL_BROADCAST_ADDRESS:=/);
  });
});

describe('images', () => {
  const images = [
    ...services.map(([, { image }]) => withDefaults(image)),
    ...[...read('Dockerfile').matchAll(/^ARG \w+_IMAGE=(\S+)$/gm)].map((match) => match[1] as string),
  ];

  test('are pinned to a tag that is not latest', () => {
    expect(images.length).toBeGreaterThan(services.length);
    for (const image of images) expect(image).toMatch(/^[\w./-]+:(?!latest$)[\w.-]+$/);
  });

  test('the Temporal server and its tools are of one version', () => {
    const versions = images
      .filter((image) => /^temporalio\/(server|admin-tools):/.test(image))
      .map((image) => image.split(':')[1]);
    expect(new Set(versions).size).toBe(1);
  });

  test('the build sees no secret, no data and no local file', () => {
    const [first, ...rest] = read('.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    expect(first).toBe('*');
    expect(rest.filter((line) => !line.startsWith('!'))).toEqual([]);
    expect(rest).not.toEqual(expect.arrayContaining([expect.stringMatching(/secrets|\.env|\.data|\.git/)]));
  });
});

describe('Temporal', () => {
  test('the namespace job registers the search attributes of development, in their order', () => {
    const script = read('deploy/temporal/setup-namespace.sh');
    const list = /^search_attributes='\n([^']+)'$/m.exec(script)?.[1]?.trim().split('\n');
    const expected = JSON.parse(read(SEARCH_ATTRIBUTES)) as { name: string; type: string }[];
    expect(list).toEqual(expected.map(({ name, type }) => `${name}:${type}`));
  });

  test('the dynamic configuration keeps the settings that latency depends on', () => {
    expect(parse(read('deploy/temporal/dynamicconfig.yaml'))).toMatchObject({
      'history.transferProcessorMaxPollRPS': [{ value: 200 }],
      'matching.useNewMatcher': [{ value: true }],
      'system.enableActivityEagerExecution': [{ value: true }],
    });
  });

  test('our containers and the jobs agree on address and namespace', () => {
    const told = services.flatMap(([, { environment = {} }]) => (environment['TEMPORAL_NAMESPACE'] ? [environment] : []));
    expect(
      new Set(told.map((environment) => withDefaults(`${environment['TEMPORAL_ADDRESS']} ${environment['TEMPORAL_NAMESPACE']}`)))
        .size,
    ).toBe(1);
    expect(service('temporal-ui').environment).toMatchObject({
      TEMPORAL_ADDRESS: 'temporal:7233',
      TEMPORAL_DEFAULT_NAMESPACE: 'assent',
    });
  });
});

test('the balancer keeps an idle connection at least as long as the API tells clients that it stays open', () => {
  const seconds = /^ *timeout http-keep-alive (\d+)s$/m.exec(read('deploy/haproxy/haproxy.cfg'))?.[1];
  expect(Number(seconds) * 1_000).toBeGreaterThan(KEEP_ALIVE_MS);
});

test('the balancer drops a replica that stops before it ends, and not one that is slow for two seconds', () => {
  const config = read('deploy/haproxy/haproxy.cfg');
  const [, seconds] = /^ *timeout check (\d+)s$/m.exec(config) ?? [];
  expect(Number(seconds)).toBeGreaterThan(2);
  const [, first, next, looks] = /inter (\d+)s fastinter (\d+)ms fall (\d+)/.exec(config) ?? [];
  expect(Number(looks)).toBeGreaterThan(1);
  // A replica that stops answers 503 for SHUTDOWN_DELAY_SECONDS.
  expect(Number(first) * 1_000 + Number(next) * (Number(looks) - 1)).toBeLessThan(5_000);
});
