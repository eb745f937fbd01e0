import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createApp } from '../../api/http/app.js';
import { answerRawErrors } from '../../api/http/raw-errors.js';
import { buildTeam, type TestTeam } from '../factories/people.js';
import { startApp, type TestApp } from '../support/app.js';
import { expectEnvelope } from './expect-envelope.js';
import { overTheWire } from './wire.js';

// Errors over raw sockets: what Node's parser rejects itself, and bodies that never arrive as announced.

let app: TestApp;
let team: TestTeam;
beforeAll(async () => {
  app = await startApp();
  team = await buildTeam(app);
});
afterAll(() => app.close());

const lines = (...all: string[]) => `${all.join('\r\n')}\r\n\r\n`;
const send = (bytes: string, options?: { end?: boolean }) => overTheWire(app.url, bytes, options);
const authorized = () => `Authorization: Bearer ${team.member.token}`;
const post = (path: string, ...headers: string[]) =>
  lines(`POST ${path} HTTP/1.1`, 'Host: x', authorized(), 'Content-Type: application/json', ...headers);

it.each([
  ['no HTTP', 'GARBAGE\r\n\r\n', 400],
  ['a TLS hello', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n', 400],
  ['a version to come', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  ['an unknown method', lines('EAT /api/tasks HTTP/1.1', 'Host: x'), 400],
  ['a header without a colon', lines('GET /api/tasks HTTP/1.1', 'Host: x', 'nonsense'), 400],
  ['a space in a header name', lines('GET /api/tasks HTTP/1.1', 'Host: x', 'Bad Name: x'), 400],
  ['a header that is folded', 'GET /api/tasks HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n', 400],
  ['two lengths', lines('POST /api/tasks HTTP/1.1', 'Host: x', 'Content-Length: 1', 'Content-Length: 2'), 400],
  ['a length and chunks', lines('POST /api/tasks HTTP/1.1', 'Host: x', 'Content-Length: 3', 'Transfer-Encoding: chunked'), 400],
  ['a length that is no number', lines('POST /api/tasks HTTP/1.1', 'Host: x', 'Content-Length: many'), 400],
  ['an address without a path', lines('GET ?x=y HTTP/1.1', 'Host: x'), 400],
  ['no Host', lines('GET /api/tasks HTTP/1.1'), 400],
  ['20 kB of headers', lines('GET /api/tasks HTTP/1.1', 'Host: x', `X-Long: ${'x'.repeat(20_000)}`), 431],
  ['20 kB of address', lines(`GET /api/tasks?${'x'.repeat(20_000)} HTTP/1.1`, 'Host: x'), 431],
  ['a tunnel', lines('CONNECT example.test:443 HTTP/1.1', 'Host: example.test:443'), 405],
  ['an expectation nobody meets', lines('GET /api/tasks HTTP/1.1', 'Host: x', 'Expect: miracles'), 417],
])('%s', async (_what, bytes, status) => {
  const answer = await send(bytes);
  expectEnvelope(answer, status);
  expect(answer.rest).toBe('');
});

it.each([
  ['an absolute address', 'GET http://elsewhere.example/api/nothing HTTP/1.1', 404],
  ['an address of a host', 'GET //elsewhere.example/api/tasks HTTP/1.1', 404],
  ['a star', 'OPTIONS * HTTP/1.1', 404],
  ['an odd query', 'GET /api/tasks?[=%%& HTTP/1.1', 401],
])('%s is an address like others', async (_what, first, status) => {
  expectEnvelope(await send(lines(first, 'Host: x', 'Connection: close')), status);
});

it('an upgrade that nobody offers is an ordinary request', async () => {
  const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGVzdA=='];
  expectEnvelope(await send(lines('GET /api/tasks HTTP/1.1', 'Host: x', ...upgrade)), 401);
});

it('413 by the length announced, before a byte of the body', async () => {
  expectEnvelope(await send(post('/api/tasks', `Content-Length: ${1024 * 1024 + 1}`)), 413);
});

it('413 by what was sent, where nothing was announced', async () => {
  const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
  expectEnvelope(await send(`${post('/api/tasks', 'Transfer-Encoding: chunked')}${chunk.repeat(17)}`), 413);
});

it('returns 413 for a delivery over 10 MB, signed or not', async () => {
  expectEnvelope(
    await send(lines('POST /api/forge/webhooks HTTP/1.1', 'Host: x', `Content-Length: ${10 * 1024 * 1024 + 1}`)),
    413,
  );
});

it('a body of exactly 1 MB is read', async () => {
  const body = `{"title":"${'x'.repeat(1024 * 1024 - 12)}"}`;
  expect(Buffer.byteLength(body)).toBe(1024 * 1024);
  expectEnvelope(await send(`${post('/api/tasks', `Content-Length: ${body.length}`, 'Connection: close')}${body}`), 422);
});

it.each([
  ['a body that ends too early', () => `${post('/api/tasks', 'Content-Length: 100')}{"title"`],
  ['chunks that end too early', () => `${post('/api/tasks', 'Transfer-Encoding: chunked')}5\r\n{"ti`],
])('400 for %s, once', async (_what, bytes) => {
  const answer = await send(bytes(), { end: true });
  expectEnvelope(answer, 400);
  expect(answer.rest).toBe('');
});

it('400 for a chunk that is none, once', async () => {
  const answer = await send(`${post('/api/tasks', 'Transfer-Encoding: chunked')}xyz\r\n`);
  expectEnvelope(answer, 400);
  expect(answer.rest).toBe('');
});

it('Expect: 100-continue is met', async () => {
  const body = '{"title":"x"}';
  const answer = await send(
    `${post('/api/tasks', `Content-Length: ${body.length}`, 'Expect: 100-continue', 'Connection: close')}${body}`,
  );
  expect(answer.continued).toBe(true);
  expectEnvelope(answer, 422);
});

it('408 for headers that never end', async () => {
  const handle = createApp(app.services).callback();
  const server = createServer(
    { headersTimeout: 50, requestTimeout: 100, connectionsCheckingInterval: 25 },
    (request, response) => void handle(request, response),
  );
  answerRawErrors(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const answer = await overTheWire(
    `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    'GET /api/tasks HTTP/1.1\r\nHost: x\r\n',
  );
  server.close();
  expectEnvelope(answer, 408);
});
