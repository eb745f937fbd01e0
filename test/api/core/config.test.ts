import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig, Settings } from '../../../api/core/config.js';

const PEM = '-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----';
const production = {
  NODE_ENV: 'production',
  DATABASE_URL: 'postgresql://db/assent',
  JWT_SECRET: 'j'.repeat(32),
  SECRETS_MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
  AUDIT_SIGNING_KEY: PEM,
  MAIL_URL: 'smtp://mail.test:25',
};

it('.env.example names every setting, and no other', () => {
  const text = readFileSync(new URL('../../../.env.example', import.meta.url), 'utf8');
  const named = [...text.matchAll(/^(?:# )?([A-Z][A-Z_]+)=/gm)].map((match) => match[1]);
  expect(new Set(named)).toEqual(new Set(Object.keys(Settings.shape)));
});

it('.env.example gives the defaults', () => {
  const text = readFileSync(new URL('../../../.env.example', import.meta.url), 'utf8');
  const given = Object.fromEntries([...text.matchAll(/^([A-Z][A-Z_]+)=(.+)$/gm)].map((match) => [match[1], match[2]]));
  const defaults = loadConfig(production) as unknown as Record<string, unknown>;
  for (const [name, value] of Object.entries(given)) expect([name, String(defaults[name])]).toEqual([name, value]);
});

it('lists every problem at once', () => {
  expect(() => loadConfig({ NODE_ENV: 'production', DATABASE_URL: 'mysql://x', PORT: 'many' })).toThrow(
    /PORT[\s\S]*DATABASE_URL[\s\S]*JWT_SECRET[\s\S]*SECRETS_MASTER_KEY[\s\S]*AUDIT_SIGNING_KEY/,
  );
});

it.each([
  ['a short signing secret', { JWT_SECRET: 'short' }, /JWT_SECRET/],
  ['a changed limit of the contract', { RATE_LIMIT_LOGIN: '1000' }, /RATE_LIMIT_LOGIN: fixed/],
  ['a master key of the wrong length', { SECRETS_MASTER_KEY: 'YWJj' }, /SECRETS_MASTER_KEY/],
])('production refuses %s', (_what, settings, message) => {
  expect(() => loadConfig({ ...production, ...settings })).toThrow(message);
});

it('reads NAME_FILE, and makes development secrets once', () => {
  const dir = mkdtempSync(join(tmpdir(), 'assent-config-'));
  try {
    writeFileSync(join(dir, 'jwt'), `${'k'.repeat(40)}\n`);
    expect(loadConfig({ ...production, JWT_SECRET: '', JWT_SECRET_FILE: join(dir, 'jwt') }).JWT_SECRET).toBe('k'.repeat(40));
    const development = { NODE_ENV: 'development', DATABASE_URL: production.DATABASE_URL, DATA_DIR: dir };
    const first = loadConfig(development);
    expect(first.FORGE_WEBHOOK_SECRET).toBeTruthy();
    expect(loadConfig(development).JWT_SECRET).toBe(first.JWT_SECRET);
  } finally {
    rmSync(dir, { recursive: true });
  }
});

it('production refuses to start without mail, unless signing in needs none', () => {
  const { MAIL_URL: _none, ...without } = production;
  expect(() => loadConfig(without)).toThrow(/MAIL_URL: needed/);
  expect(loadConfig({ ...without, LOGIN_OTP: 'off' }).MAIL_URL).toBeUndefined();
});

it('production does not make up a missing webhook secret', () => {
  expect(loadConfig(production).FORGE_WEBHOOK_SECRET).toBeUndefined();
});
