import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig, Settings } from '../../../api/platform/config.js';
import { type Authority, type Certificate, createAuthority } from '../../temporal/certificates.js';

const PEM = '-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----';
const production = {
  NODE_ENV: 'production',
  BASE_URL: 'https://assent.test',
  DATABASE_URL: 'postgresql://db/assent',
  JWT_SECRET: randomBytes(48).toString('base64'),
  SECRETS_MASTER_KEY: randomBytes(32).toString('base64'),
  AUDIT_SIGNING_KEY: PEM,
  RECEIPT_SIGNING_KEY: generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  MAIL_URL: 'smtp://mail.test:25',
};

it('.env.example names every setting, and no other', () => {
  const text = readFileSync(new URL('../../../.env.example', import.meta.url), 'utf8');
  const named = [...text.matchAll(/^(?:# )?([A-Z][A-Z0-9_]+)=/gm)].map((match) => match[1]);
  expect(new Set(named)).toEqual(new Set(Object.keys(Settings.shape)));
});

it('.env.example gives the defaults', () => {
  const text = readFileSync(new URL('../../../.env.example', import.meta.url), 'utf8');
  const given = Object.fromEntries([...text.matchAll(/^([A-Z][A-Z0-9_]+)=(.+)$/gm)].map((match) => [match[1], match[2]]));
  const defaults = loadConfig(production) as unknown as Record<string, unknown>;
  for (const [name, value] of Object.entries(given)) expect([name, String(defaults[name])]).toEqual([name, value]);
});

it('lists every problem at once', () => {
  expect(() => loadConfig({ NODE_ENV: 'production', DATABASE_URL: 'mysql://x', PORT: 'many' })).toThrow(
    /PORT[\s\S]*DATABASE_URL[\s\S]*JWT_SECRET[\s\S]*SECRETS_MASTER_KEY[\s\S]*AUDIT_SIGNING_KEY[\s\S]*RECEIPT_SIGNING_KEY/,
  );
});

it.each([
  ['a short signing secret', { JWT_SECRET: 'short' }, /JWT_SECRET/],
  ['a changed limit of the contract', { RATE_LIMIT_LOGIN: '1000' }, /RATE_LIMIT_LOGIN: fixed/],
  ['a master key of the wrong length', { SECRETS_MASTER_KEY: 'YWJj' }, /SECRETS_MASTER_KEY/],
])('production refuses %s', (_what, settings, message) => {
  expect(() => loadConfig({ ...production, ...settings })).toThrow(message);
});

it.each([
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'grpc://collector:4317'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'https://ada:hidden@collector'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'authorization: hidden'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'authorization=hidden%2'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'authorization=hidden\r\nx: y'],
  ['OTEL_TRACES_SAMPLER_ARG', '1.1'],
])('refuses %s=%s without its value', (name, value) => {
  expect(() => loadConfig({ ...production, [name]: value })).toThrow(new RegExp(`^  ${name}: (?!.*hidden)`, 'm'));
});

it('reads NAME_FILE, and makes development secrets once', () => {
  const dir = mkdtempSync(join(tmpdir(), 'assent-config-'));
  try {
    writeFileSync(join(dir, 'jwt'), `${production.JWT_SECRET}\n`);
    const { JWT_SECRET } = loadConfig({ ...production, JWT_SECRET: '', JWT_SECRET_FILE: join(dir, 'jwt') });
    expect(JWT_SECRET).toBe(production.JWT_SECRET);
    const development = { NODE_ENV: 'development', DATABASE_URL: production.DATABASE_URL, DATA_DIR: dir };
    const first = loadConfig(development);
    expect(first.FORGE_WEBHOOK_SECRET).toBeTruthy();
    expect(loadConfig(development).JWT_SECRET).toBe(first.JWT_SECRET);
    // As on a machine that began before receipts were signed.
    rmSync(join(dir, 'receipt-secrets.json'));
    const later = loadConfig(development);
    expect(later.JWT_SECRET).toBe(first.JWT_SECRET);
    expect(loadConfig(development).RECEIPT_SIGNING_KEY).toBe(later.RECEIPT_SIGNING_KEY);
  } finally {
    rmSync(dir, { recursive: true });
  }
});

it('production refuses to start without mail, unless signing in needs none', () => {
  const { MAIL_URL: _none, ...without } = production;
  expect(() => loadConfig(without)).toThrow(/MAIL_URL: needed/);
  expect(loadConfig({ ...without, LOGIN_OTP: 'off' }).MAIL_URL).toBeUndefined();
});

it('a malformed MAIL_URL is refused without being shown', () => {
  for (const MAIL_URL of ['smtp://bot:hunter2/#1@mail.test:x', 'smtps://bot:hunter2@mail test']) {
    const refusal = /MAIL_URL: is malformed/;
    expect(() => loadConfig({ ...production, MAIL_URL })).toThrow(refusal);
    expect(() => loadConfig({ ...production, MAIL_URL })).not.toThrow(/hunter2/);
  }
  const MAIL_URL = 'smtps://bot:pass%2Fword@mail.test';
  expect(loadConfig({ ...production, MAIL_URL })).toMatchObject({ MAIL_URL });
});

it('refuses a DATABASE_URL with several hosts, or a malformed one, without showing it', () => {
  for (const [DATABASE_URL, refusal] of [
    ['postgres://a:hunter2@h1,h2/assent', /DATABASE_URL: names several hosts/],
    ['postgres://a:hunter2@h1:5432,h2:5432/assent?target_session_attrs=read-write', /DATABASE_URL: names several hosts/],
    ['postgres://a:hunter2@/assent?host=h1,h2', /DATABASE_URL: names several hosts/],
    ['postgres://a:hunter2/#1@h1/assent', /DATABASE_URL: is malformed/],
  ] as const) {
    expect(() => loadConfig({ ...production, DATABASE_URL })).toThrow(refusal);
    expect(() => loadConfig({ ...production, DATABASE_URL })).not.toThrow(/hunter2/);
  }
  const DATABASE_URL = 'postgres://a:b,c@h1:5432/assent?application_name=a,b';
  expect(loadConfig({ ...production, DATABASE_URL })).toMatchObject({ DATABASE_URL });
});

it('production does not make up a missing webhook secret', () => {
  expect(loadConfig(production).FORGE_WEBHOOK_SECRET).toBeUndefined();
});

describe('TLS to Temporal', () => {
  let dir: string;
  let authority: Authority;
  let client: Certificate;
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'assent-tls-'));
    authority = await createAuthority('Ours');
    client = await authority.sign('assent-worker');
    writeFileSync(join(dir, 'ca'), authority.cert);
    writeFileSync(join(dir, 'cert'), client.cert);
    writeFileSync(join(dir, 'key'), client.key);
  });
  afterAll(() => rmSync(dir, { recursive: true }));
  const load = (settings: Record<string, string>) => () => loadConfig({ ...production, ...settings });

  it('is read from files', () => {
    const files = ['CA', 'CERT', 'KEY'].map((name) => [`TEMPORAL_TLS_${name}_FILE`, join(dir, name.toLowerCase())] as const);
    const config = load({ TEMPORAL_TLS: 'on', TEMPORAL_API_KEY: 'key', ...Object.fromEntries(files) })();
    expect(config.TEMPORAL_TLS_CA).toBe(authority.cert.trim());
    expect(config.TEMPORAL_TLS_KEY).toBe(client.key.trim());
  });

  it('a certificate without its key, a key without its certificate, and a key of another certificate are refused', async () => {
    const [cert, key] = [{ TEMPORAL_TLS_CERT: client.cert }, { TEMPORAL_TLS_KEY: client.key }];
    const other = { TEMPORAL_TLS_KEY: (await authority.sign('another')).key };
    expect(load({ TEMPORAL_TLS: 'on', ...cert })).toThrow(/^ {2}TEMPORAL_TLS_KEY: needed with TEMPORAL_TLS_CERT$/m);
    expect(load({ TEMPORAL_TLS: 'on', ...key })).toThrow(/^ {2}TEMPORAL_TLS_CERT: needed with TEMPORAL_TLS_KEY$/m);
    expect(load({ TEMPORAL_TLS: 'on', ...cert, ...other })).toThrow(/TEMPORAL_TLS_KEY: is not the key of the certificate/);
    expect(load({ TEMPORAL_TLS: 'on', ...cert, ...key })).not.toThrow();
  });

  it('rejects settings that need TLS without it: an API key would be sent unencrypted', () => {
    expect(load({ TEMPORAL_API_KEY: 'key', TEMPORAL_TLS_SERVER_NAME: 'x' })).toThrow(
      /TEMPORAL_TLS_SERVER_NAME: used only with TEMPORAL_TLS=on[\s\S]*TEMPORAL_API_KEY: used only with TEMPORAL_TLS=on/,
    );
    expect(load({ TEMPORAL_TLS_CA: authority.cert })).toThrow(/TEMPORAL_TLS_CA: used only with TEMPORAL_TLS=on/);
  });

  it('files that cannot be read, or hold something else, are named, all at once', () => {
    expect(
      load({ TEMPORAL_TLS: 'on', TEMPORAL_TLS_CA_FILE: join(dir, 'none'), TEMPORAL_TLS_CERT: 'x', TEMPORAL_TLS_KEY: 'y' }),
    ).toThrow(/TEMPORAL_TLS_CA_FILE: .*none cannot be read \(ENOENT\)[\s\S]*TEMPORAL_TLS_CERT: holds no certificate/);
    expect(load({ TEMPORAL_TLS: 'yes' })).toThrow(/TEMPORAL_TLS: /);
  });
});

describe('the model of the AI workspace', () => {
  const load = (settings: Record<string, string>) => () => loadConfig({ ...production, ...settings });
  const hosted = { AI_PROVIDER: 'anthropic', AI_MODEL: 'm', AI_API_KEY: 'k' };
  const local = { AI_PROVIDER: 'openai_compatible', AI_MODEL: 'm', AI_BASE_URL: 'http://ollama:11434/v1' };

  it('is our rules, unless a setting names another one', () => {
    expect(load({})()).toMatchObject({ AI_PROVIDER: 'rules', AI_MAX_OUTPUT_TOKENS: 2_000, AI_CONTEXT_TOKENS: 12_000 });
    expect(load(hosted)().AI_MODEL).toBe('m');
    expect(load(local)().AI_API_KEY).toBeUndefined();
  });

  it('a provider without its settings is refused, all at once', () => {
    expect(load({ AI_PROVIDER: 'openai_compatible' })).toThrow(/AI_MODEL: needed.*\n.*AI_BASE_URL: needed/);
    expect(load({ AI_PROVIDER: 'anthropic' })).toThrow(/AI_MODEL: needed.*\n.*AI_API_KEY: needed/);
    expect(load({ ...hosted, AI_MONTHLY_COST_PER_TEAM: '10' })).toThrow(/AI_MONTHLY_COST_PER_TEAM: needs AI_PRICE_INPUT/);
    expect(load({ ...hosted, AI_API_KEY: 'a key' })).toThrow(/^ {2}AI_API_KEY: must be printable[^\n]*$/m);
  });

  it.each([
    'http://127.0.0.1:11434/v1',
    'http://[fd00::1]/v1',
    'http://10.1.2.3/v1',
    'http://model.internal/v1',
    'https://api.example.com',
  ])('accepts %s', (url) => expect(load({ ...local, AI_BASE_URL: url })().AI_BASE_URL).toBe(url));

  it.each([
    ['http://api.example.com/v1', /must be https/],
    ['http://8.8.8.8/v1', /must be https/],
    ['http://0x08080808/v1', /must be https/],
    ['http://[2001:4860::1]/v1', /must be https/],
    ['https://user:pass@api.example.com', /without credentials/],
    ['https://api.example.com/v1?key=x', /without credentials/],
    ['ftp://api.example.com', /AI_BASE_URL/],
  ])('refuses %s', (url, message) => {
    expect(load({ ...local, AI_BASE_URL: url })).toThrow(message);
  });
});
