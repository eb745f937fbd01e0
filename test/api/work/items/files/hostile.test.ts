import { once } from 'node:events';
import { connect } from 'node:net';
import fc from 'fast-check';
import { cleanName, cleanType, sniffType } from '../../../../../api/work/items/files/rules.js';
import { buildTeam, type TestTeam } from '../../../../factories/people.js';
import { startApp, type TestApp } from '../../../../support/app.js';
import { until } from '../../../../support/worker.js';
import { buildForm, FORM_TYPE, onDisk, type Part, strays, upload, uploadParts } from './world.js';

/** Names, forms and bytes that no honest client sends. None may give a 5xx or leave anything. */

let app: TestApp;
let team: TestTeam;
beforeAll(async () => {
  app = await startApp();
  team = await buildTeam(app);
});
afterAll(() => app.close());
afterEach(async () => {
  // A refusal is sent while the bytes are being removed.
  await until(async () => (await onDisk(app)).unfinished.length === 0);
  expect(await strays(app)).toEqual({ orphans: [], lost: [] });
});

const place = () => ({ name: 'team_id', content: team.team_id });
const FILE: Part = { name: 'file', filename: 'a.txt', content: 'a' };

describe('a name', () => {
  it.each([
    ['../../etc/passwd', 'passwd'],
    ['C:\\Users\\ada\\plan.pdf', 'plan.pdf'],
    ['a\u0000b\u001b[31m\u0085c.txt', 'ab[31mc.txt'],
    ['e\u0301.txt', '\u00e9.txt'],
    ['invoice\u202Efdp.exe', 'invoicefdp.exe'],
    ['\u2066\u200Fa\u2069.txt', 'a.txt'],
    ['line\u2028break.txt', 'linebreak.txt'],
    ['  spaced .txt  ', 'spaced .txt'],
    [`${'x'.repeat(300)}.tar.gz`, `${'x'.repeat(252)}.gz`],
    ['😀'.repeat(300), '😀'.repeat(255)],
    ['.', ''],
    ['..', ''],
    ['folder/', ''],
    ['\u200b\u200d', ''],
    ['\ud800.txt', '\ufffd.txt'],
  ])('%j becomes %j', (given, expected) => expect(cleanName(given)).toBe(expected));

  it('never keeps what could leave a folder or a header', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 600 }), (given) => {
        const name = cleanName(given);
        expect(Array.from(name).length).toBeLessThanOrEqual(255);
        expect(name).not.toMatch(/[/\\\p{Cc}\p{Bidi_Control}]/u);
        expect(['.', '..']).not.toContain(name);
        expect(cleanName(name)).toBe(name);
      }),
    );
  });

  it.each([
    ['a%0D%0ASet-Cookie: x.txt', 201],
    ['quote%22.txt', 201],
    ['..', 422],
    ['', 422],
    ['a\u202Eb.txt', 201],
    ['x'.repeat(5000), 201],
  ])('%j in a form gives %i', async (filename, status) => {
    const answer = await upload(app, team.member, { fields: { team_id: team.team_id }, filename });
    expect(answer.status).toBe(status);
    if (status === 201) expect(answer.body.name.length).toBeLessThanOrEqual(255);
  });
});

it('keeps a media type only if it is one', () => {
  expect(['text/plain', 'text', 'a/b\r\nx: y', '../x', 'text/plain;x', '', `a/${'b'.repeat(99)}`].map(cleanType)).toEqual([
    'text/plain',
    ...Array.from({ length: 6 }, () => 'application/octet-stream'),
  ]);
});

it('sees what the first bytes are', () => {
  const types = ['\x89PNG\r\n\x1a\n', '%PDF-1.7', 'MZ\x90', '\n<!DOCTYPE html>', '<?xml version="1.0"?><svg>', 'hello'].map(
    (text) => sniffType(Buffer.from(text, 'latin1')),
  );
  expect(types).toEqual([
    'image/png',
    'application/pdf',
    'application/vnd.microsoft.portable-executable',
    'text/html',
    'image/svg+xml',
    null,
  ]);
});

describe('a form', () => {
  it.each<[string, () => Part[], string]>([
    ['without a file', () => [place()], 'file is required'],
    ['without parts', () => [], 'file is required'],
    ['with two files', () => [place(), FILE, FILE], 'Send one file in one request'],
    ['with a file of another name', () => [place(), { ...FILE, name: 'upload' }], 'The file part must be named file'],
    ['with the file as a field', () => [place(), { name: 'file', content: 'a' }], 'file must be a file part, with a file name'],
    ['with a field twice', () => [place(), place(), FILE], 'team_id is given twice'],
    ['with a long field', () => [{ name: 'team_id', content: 'x'.repeat(5000) }, FILE], 'team_id is longer than 1024 bytes'],
    [
      'with a flood of fields',
      () => [...Array.from({ length: 1000 }, (_, nth) => ({ name: `f${nth}`, content: 'x' })), place(), FILE],
      'The form has too many parts',
    ],
    ['with a field after the file', () => [place(), FILE, { name: 'note', content: 'x' }], 'note must come before the file'],
    ['with __proto__', () => [{ name: '__proto__', content: 'x' }, FILE], 'team_id is required before the file, or in the query'],
  ])('%s is a 422', async (_what, parts, message) => {
    const { status, body } = await uploadParts(app, team.member, parts());
    expect([status, body.error_code, body.detail.errors[0].message]).toEqual([422, 'VALIDATION_ERROR', message]);
  });

  it('names unknown fields, and refuses them on request', async () => {
    const parts = [place(), { name: 'tagg', content: 'x' }, FILE];
    const { status, headers } = await uploadParts(app, team.member, parts);
    expect([status, headers.get('x-ignored-fields')]).toEqual([201, 'body.tagg']);
    const strict = await uploadParts(app, team.member, parts, { headers: { prefer: 'handling=strict' } });
    expect(strict.status).toBe(422);
  });

  it.each([
    ['another boundary', { 'content-type': 'multipart/form-data; boundary=OTHER' }, 422],
    ['no boundary', { 'content-type': 'multipart/form-data' }, 422],
    ['an empty boundary', { 'content-type': 'multipart/form-data; boundary=' }, 422],
    ['a boundary inside of another parameter', { 'content-type': 'multipart/form-data; a="; boundary=x"' }, 422],
    ['a long boundary', { 'content-type': `multipart/form-data; boundary=${'x'.repeat(71)}` }, 422],
    ['JSON', { 'content-type': 'application/json' }, 415],
    ['another multipart', { 'content-type': 'multipart/mixed; boundary=XTESTX' }, 415],
    ['a web form', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['gzip', { 'content-encoding': 'gzip' }, 415],
  ])('with %s is refused', async (_what, headers, status) => {
    const answer = await uploadParts(app, team.member, [place(), FILE], { headers });
    expect(answer.status).toBe(status);
  });

  const send = (raw: Buffer | string) =>
    app.as(team.member).post('/api/files', undefined, { raw, headers: { 'content-type': FORM_TYPE } });

  it.each([
    ['empty', ''],
    ['without an end', buildForm([FILE]).subarray(0, -8)],
    ['that ends in the head of a part', '--XTESTX\r\nContent-Disposition: form-data; name="fi'],
    ['with a huge head', `--XTESTX\r\nX: ${'y'.repeat(100_000)}\r\n\r\na\r\n--XTESTX--\r\n`],
    ['with many heads', `--XTESTX\r\n${'X: y\r\n'.repeat(5000)}\r\na\r\n--XTESTX--\r\n`],
    ['without dispositions', '--XTESTX\r\n\r\na\r\n--XTESTX--\r\n'],
    ['with a nested form', '--XTESTX\r\nContent-Type: multipart/mixed; boundary=B\r\n\r\n--B\r\n\r\n--B--\r\n--XTESTX--\r\n'],
    ['with a long preamble', `${'p'.repeat(60_000)}\r\n--XTESTX--\r\n`],
  ])('%s is a 422', async (_what, raw) => expect((await send(raw)).status).toBe(422));

  it('reads past a long epilogue, within the limit', async () => {
    const parts = [place(), FILE];
    expect((await send(Buffer.concat([buildForm(parts), Buffer.alloc(30_000, 'e')]))).status).toBe(201);
    expect((await send(Buffer.concat([Buffer.alloc(26_300_000, 'p'), buildForm(parts)]))).status).toBe(413);
  });

  it('any request bytes get a defined response', async () => {
    const pieces = [
      '--XTESTX',
      '\r\n',
      '--',
      'Content-Disposition: form-data; name="file"; filename="a"',
      'name="team_id"',
      '\r\n\r\n',
      '\0',
      ';',
      '"',
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 20 })), { maxLength: 30 }),
        async (parts) => {
          const { status } = await send(parts.join(''));
          expect([422, 400]).toContain(status);
        },
      ),
      { numRuns: 60 },
    );
  });
});

/** A connection that sends an upload by hand. */
async function openUpload(target: TestApp, head: string[], body: string) {
  const socket = connect(Number(new URL(target.url).port), '127.0.0.1');
  await once(socket, 'connect');
  const received: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => received.push(chunk));
  socket.on('error', () => undefined);
  socket.write(
    [
      'POST /api/files HTTP/1.1',
      'Host: x',
      `Authorization: Bearer ${team.member.token}`,
      `Content-Type: ${FORM_TYPE}`,
      ...head,
      '',
      body,
    ].join('\r\n'),
  );
  return { socket, answer: () => Buffer.concat(received).toString() };
}

it('answers a refusal before the body has been sent, and the client can read it', async () => {
  const head = buildForm([{ name: 'team_id', content: 'unknown' }, FILE])
    .toString()
    .slice(0, 200);
  const { socket, answer } = await openUpload(app, ['Content-Length: 20000000'], head);
  await once(socket, 'data');
  expect(answer()).toMatch(/^HTTP\/1\.1 404 /);
  socket.destroy();
});

it('ends a connection that sends without end after it was refused', async () => {
  const { socket, answer } = await openUpload(app, ['Transfer-Encoding: chunked'], '');
  const chunk = Buffer.alloc(65_536, 'x');
  const closed = new Promise((resolve) => socket.on('close', resolve));
  const pump = () => {
    while (!socket.destroyed && socket.write(Buffer.concat([Buffer.from('10000\r\n'), chunk, Buffer.from('\r\n')])));
  };
  socket.on('drain', pump);
  pump();
  await closed;
  expect(answer()).toMatch(/^HTTP\/1\.1 413 /);
});
