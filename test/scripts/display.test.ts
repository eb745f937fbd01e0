import { readFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import { createSteps, type Facts, screen } from '../../scripts/embedded/display.mjs';

const demo = JSON.parse(readFileSync('scripts/embedded/demo-facts.json', 'utf8')) as NonNullable<Facts['demo']>;
const facts: Facts = {
  name: 'assent',
  version: '0.1.0',
  ready_ms: 1_800,
  app: 'http://localhost:3000/app',
  api: 'http://localhost:3000/api',
  docs: {
    swagger: 'http://localhost:3000/api/docs',
    redoc: 'http://localhost:3000/api/redoc',
    openapi: 'http://localhost:3000/api/openapi.json',
  },
  mailbox: 'http://localhost:3000/dev/mailbox',
  ops: 'http://localhost:4000',
  temporal_ui: 'http://localhost:8233',
  temporal_address: '127.0.0.1:7233',
  database: 'postgres://assent@127.0.0.1:15432/assent',
  password_file: './.data/postgres-password',
  data_dir: './.data',
  demo,
};
const lines = screen(facts).map(stripVTControlCharacters);
const text = lines.join('\n');

test('the first screen promises no approval: by the second start there may be none', () => {
  expect(text).toContain('http://localhost:3000/app/approvals   pending approvals');
});

test('the first screen says where the password of the embedded PostgreSQL lies, and of no other', () => {
  expect(text).toContain('postgres://assent@127.0.0.1:15432/assent');
  expect(text).toContain('its password is in ./.data/postgres-password');
  expect(screen({ ...facts, password_file: null }).join('\n')).not.toContain('its password');
});

test('the first screen fits 80 columns, with ports of five digits too', () => {
  const far = JSON.parse(JSON.stringify(facts).replaceAll(':3000', ':13000').replaceAll(':4000', ':14000')) as Facts;
  const long = screen({ ...far, ready_ms: 227_000 }).map(stripVTControlCharacters);
  for (const line of [...lines, ...long]) expect([line, line.length <= 80]).toEqual([line, true]);
});

test('the first screen names every demo account, also who administers the installation', () => {
  for (const { email, role } of demo.accounts) expect(text).toContain(`${email} ${role}`);
  expect(text).toContain('root@demo.test administers the installation');
});

test('that a step still goes on is a line of its own only where no counter shows it', () => {
  for (const [isTTY, expected] of [
    [true, ''],
    [false, '  · still building\n'],
  ] as const) {
    let written = '';
    const write = (chunk: string): void => {
      written += stripVTControlCharacters(chunk);
    };
    const steps = createSteps({ stream: { isTTY, write } });
    steps.still('still building');
    steps.end();
    expect([isTTY, written]).toEqual([isTTY, expected]);
  }
});
