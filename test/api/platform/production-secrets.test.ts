import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { loadConfig } from '../../../api/platform/config.js';

const makeKey = () => generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const production = {
  NODE_ENV: 'production',
  BASE_URL: 'https://assent.test',
  DATABASE_URL: 'postgresql://db/assent',
  JWT_SECRET: randomBytes(48).toString('base64'),
  SECRETS_MASTER_KEY: randomBytes(32).toString('base64'),
  AUDIT_SIGNING_KEY: makeKey(),
  RECEIPT_SIGNING_KEY: makeKey(),
  MAIL_URL: 'smtp://mail.test:25',
};
const load = (settings: Record<string, string>) => () => loadConfig({ ...production, ...settings });
const JWT = /^ {2}JWT_SECRET: can be guessed; make one: openssl rand -base64 48$/m;
const MASTER = /^ {2}SECRETS_MASTER_KEY: can be guessed;.*secrets:rotate; make one: openssl rand -base64 32$/m;
const HOOK = /^ {2}FORGE_WEBHOOK_SECRET: (?:can be guessed|must be at least 16 bytes); make one: openssl rand -hex 32$/m;

it.each([
  ['one letter', 'j'.repeat(32), JWT],
  ['two letters', 'ab'.repeat(40), JWT],
  ['a repeated part', 'k7Qz!m2x9PvL0cWd'.repeat(3), JWT],
  ['an alphabet', 'abcdefghijklmnopqrstuvwxyz012345', JWT],
  ['an alphabet backwards', '9876543210zyxwvutsrqponmlkjihgfedcba', JWT],
  ['one letter with a tail', `${'a'.repeat(40)}x7Qz!m2k`, JWT],
  ['a placeholder', 'change-me-change-me-change-me-please', JWT],
  ['common words', 'my-super-secret-jwt-secret-password-1234', JWT],
  ['the example that a web page shows', 'a-string-secret-at-least-256-bits-long', JWT],
  ['other words of examples', 'this-is-a-very-long-secret-key-for-jwt', JWT],
  ['a wish for later', 'super-secret-key-please-change-in-production', JWT],
  ['what it should be', 'your_jwt_secret_key_here_minimum_32_characters', JWT],
  ['a command that nobody ran', '$(openssl rand -base64 48 | tr -d "\\n")', JWT],
  ['a variable that nobody filled', '${JWT_SECRET:?set a long random value here}', JWT],
  ['a hint in brackets', '<48 bytes of chance, in base64, go here>', JWT],
])('production refuses a signing secret of %s', (_what, value, message) => {
  expect(load({ JWT_SECRET: value })).toThrow(message);
});

it.each([
  ['zeros', Buffer.alloc(32)],
  ['one byte', Buffer.alloc(32, 7)],
  ['a count', Buffer.from(Array.from({ length: 32 }, (_none, index) => index))],
  ['steps of eight', Buffer.from(Array.from({ length: 32 }, (_none, index) => index * 8))],
  ['digits twice', Buffer.from('0123456789abcdef'.repeat(2))],
])('production refuses a master key of %s', (_what, key) => {
  const weak = key.toString('base64');
  expect(load({ SECRETS_MASTER_KEY: weak })).toThrow(MASTER);
  expect(load({ SECRETS_MASTER_KEY_PREVIOUS: weak })().SECRETS_MASTER_KEY_PREVIOUS).toEqual([weak]);
});

it.each([
  'x',
  'short-one',
  'x'.repeat(64),
  'password12345678',
  '$(openssl rand -hex 32)',
  'openssl rand -hex 32',
  'github-webhook-secret-1',
  'mywebhooksecret2024',
  'letmein-letmein-1',
])('production refuses the webhook secret %s', (value) => {
  expect(load({ FORGE_WEBHOOK_SECRET: value })).toThrow(HOOK);
  expect(load({ FORGE_WEBHOOK_SECRET_PREVIOUS: value })).toThrow(/FORGE_WEBHOOK_SECRET_PREVIOUS: .*openssl rand -hex 32$/m);
});

it('the code host must not know what signs sign-ins', () => {
  expect(load({ FORGE_WEBHOOK_SECRET: production.JWT_SECRET })).toThrow(/FORGE_WEBHOOK_SECRET: must differ from JWT_SECRET/);
});

it.each(['RECEIPT_SIGNING_KEY', 'RECEIPT_SIGNING_KEY_NEXT', 'RECEIPT_SIGNING_KEY_PREVIOUS'])(
  '%s is an Ed25519 private key, and not that of the audit',
  (name) => {
    expect(load({ [name]: makeKey() })).not.toThrow();
    expect(load({ [name]: production.AUDIT_SIGNING_KEY })).toThrow(
      new RegExp(`^ {2}${name}: must differ from AUDIT_SIGNING_KEY; make one: openssl genpkey -algorithm ed25519$`, 'm'),
    );
    const { privateKey, publicKey } = generateKeyPairSync('x25519');
    for (const key of [
      privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      publicKey.export({ type: 'spki', format: 'pem' }).toString(),
      '-----BEGIN PRIVATE KEY-----',
    ])
      expect(load({ [name]: key })).toThrow(new RegExp(`^ {2}${name}: `, 'm'));
  },
);

it('every weak and every missing secret is named at once, each with its command', () => {
  const weak = { JWT_SECRET: '', AUDIT_SIGNING_KEY: '', RECEIPT_SIGNING_KEY: '', BASE_URL: '', FORGE_WEBHOOK_SECRET: 'x' };
  expect(load({ ...weak, SECRETS_MASTER_KEY: Buffer.alloc(32).toString('base64') })).toThrow(
    /JWT_SECRET: .*-base64 48\n.*AUDIT_SIGNING_KEY: .*ed25519\n.*RECEIPT_SIGNING_KEY: .*ed25519\n.*SECRETS_MASTER_KEY: .*-base64 32\n.*FORGE_WEBHOOK_SECRET: .*-hex 32\n.*BASE_URL: needed/,
  );
});

it('a master key of chance passes, whatever its bytes would be as text', () => {
  for (const text of ['$(', '${', 'openssl', '<>']) {
    const key = randomBytes(32);
    key.write(text, 8, 'latin1');
    expect(load({ SECRETS_MASTER_KEY: key.toString('base64') })).not.toThrow();
  }
});

it('accepts generated secrets and long random phrases', () => {
  for (let round = 0; round < 500; round += 1) {
    const settings = {
      JWT_SECRET: randomBytes(round % 2 === 0 ? 48 : 16).toString(round % 2 === 0 ? 'base64' : 'hex'),
      SECRETS_MASTER_KEY: randomBytes(32).toString('base64'),
      FORGE_WEBHOOK_SECRET: randomBytes(round % 2 === 0 ? 32 : 10).toString('hex'),
    };
    expect(load(settings)()).toMatchObject(settings);
  }
  expect(load({ JWT_SECRET: 'correct horse battery staple under 14 green lamps' })).not.toThrow();
});

it.each([
  'https://assent.example.com',
  'https://assent.example.com:8443/',
  'http://localhost:3000',
  'http://127.0.0.1:3000',
  'http://[::1]:3000',
])('production takes the address %s', (address) => expect(load({ BASE_URL: address })().BASE_URL).toBe(address));

it.each([
  ['', /BASE_URL: needed in production/],
  ['http://assent.example.com', /BASE_URL: must begin with https/],
  ['http://localhost.example.com', /BASE_URL: must begin with https/],
  ['ftp://localhost', /BASE_URL: must begin with https/],
  ['https://ada:pass@assent.example.com', /BASE_URL: must be an address without user, path or query/],
  ['https://assent.example.com/app', /BASE_URL: must be an address without user, path or query/],
  ['https://assent.example.com/?a=b', /BASE_URL: must be an address without user, path or query/],
])('production refuses the address "%s"', (address, message) => expect(load({ BASE_URL: address })).toThrow(message));

it('development asks for none of it', () => {
  const { BASE_URL: _none, ...rest } = production;
  expect(() => loadConfig({ ...rest, NODE_ENV: 'test', JWT_SECRET: 'j'.repeat(32), FORGE_WEBHOOK_SECRET: 'x' })).not.toThrow();
});
