import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { loadConfig } from '../../../../api/platform/config.js';
import { type OutboundRequest, sendRequest } from '../../../../api/platform/http-client/send-request.js';
import { isAllowedAddress, type OutboundPolicy } from '../../../../api/platform/http-client/policy.js';
import type { Address } from '../../../../api/platform/http-client/resolve.js';

// No network needed; names are resolved by a stub.

let hits = 0;
let trap: Server;
let trap6: Server | undefined;
let port: number;
let answerWith: RequestListener = (_request, response) => response.end('trapped');
const open = new Set<Socket>();

async function listen(server: Server, host: string, at = 0): Promise<number> {
  server.listen(at, host);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
const trapServer = (): Server => {
  const server = createHttpServer((request, response) => answerWith(request, response));
  server.on('connection', () => {
    hits += 1;
  });
  return server;
};

beforeAll(async () => {
  trap = trapServer();
  port = await listen(trap, '0.0.0.0');
  trap6 = trapServer();
  await listen(trap6, '::1', port).catch(() => {
    trap6 = undefined; // a machine without IPv6
  });
});
afterAll(() => {
  for (const socket of open) socket.destroy();
  for (const server of [trap, trap6]) {
    server?.closeAllConnections();
    server?.close();
  }
});
beforeEach(() => {
  hits = 0;
  answerWith = (_request, response) => response.end('trapped');
});

/** Names as an attacker's name server answers them. */
const NAMES: Record<string, string[]> = {
  localhost: ['127.0.0.1', '::1'],
  'localhost.': ['127.0.0.1'],
  'inside.example': ['10.0.0.1'],
  'metadata.example': ['169.254.169.254'],
  'loop.example': ['127.0.0.1'],
  'loop6.example': ['::1'],
  'mapped.example': ['::ffff:127.0.0.1'],
  'mixed.example': ['93.184.216.34', '127.0.0.1'],
  'nowhere.example': [],
  'nat64.example': ['64:ff9b::7f00:1'],
  'azure.example': ['168.63.129.16'],
};
const toAddress = (address: string): Address => ({ address, family: address.includes(':') ? 6 : 4 });
const resolve = (host: string): Promise<Address[]> => {
  const found = NAMES[host];
  return found ? Promise.resolve(found.map(toAddress)) : Promise.reject(new Error('ENOTFOUND'));
};
const strict = (): OutboundPolicy => ({ allowLoopback: false, ports: [80, 443, port], resolve });
const loose = (): OutboundPolicy => ({ ...strict(), allowLoopback: true });

const get = (url: string, more: Partial<OutboundRequest> = {}): OutboundRequest => ({
  method: 'GET',
  url,
  headers: {},
  timeoutMs: 3_000,
  ...more,
});
const here = (path = '/') => `http://127.0.0.1:${port}${path}`;

/** `PORT` becomes the trap's. */
const HOSTILE = [
  // This machine, in every spelling.
  'http://127.0.0.1:PORT/',
  'https://127.0.0.1:PORT/',
  'http://localhost:PORT/',
  'http://LOCALHOST:PORT/',
  'http://localhost.:PORT/',
  'http://127.1:PORT/',
  'http://127.0.1:PORT/',
  'http://127.255.255.254:PORT/',
  'http://0:PORT/',
  'http://0.0.0.0:PORT/',
  'http://2130706433:PORT/',
  'http://0x7f000001:PORT/',
  'http://0x7f.1:PORT/',
  'http://0x7f.0.0.0x1:PORT/',
  'http://0177.0.0.1:PORT/',
  'http://017700000001:PORT/',
  'http://127.0.0.1.:PORT/',
  'http://①②⑦.⓪.⓪.①:PORT/',
  'http://127。0。0。1:PORT/',
  'http://%31%32%37.0.0.1:PORT/',
  'http://[::1]:PORT/',
  'http://[0:0:0:0:0:0:0:1]:PORT/',
  'http://[::]:PORT/',
  'http://[::ffff:127.0.0.1]:PORT/',
  'http://[::ffff:7f00:1]:PORT/',
  'http://[0:0:0:0:0:ffff:127.0.0.1]:PORT/',
  'http://[::127.0.0.1]:PORT/',
  'http://[::7f00:1]:PORT/',
  'http://[64:ff9b::127.0.0.1]:PORT/',
  'http://[64:ff9b:1::7f00:1]:PORT/',
  'http://[2002:7f00:1::]:PORT/',
  'http://[2001:0:7f00:1::]:PORT/',
  'http://[::1%25lo]:PORT/',
  // The network around it, and what clouds keep there.
  'http://10.0.0.1/',
  'http://172.16.0.1/',
  'http://172.31.255.255/',
  'http://192.168.0.1/',
  'http://100.64.0.1/',
  'http://100.100.100.200/',
  'http://169.254.169.254/latest/meta-data/',
  'http://[::ffff:169.254.169.254]/',
  'http://[fd00:ec2::254]/',
  'http://[fe80::1]/',
  'http://[fec0::1]/',
  'http://[fc00::1]/',
  'http://168.63.129.16/',
  'http://192.0.0.192/',
  'http://198.18.0.1/',
  'http://192.0.2.1/',
  'http://203.0.113.1/',
  'http://224.0.0.1/',
  'http://[ff02::1]/',
  'http://[2001:db8::1]/',
  'http://240.0.0.1/',
  'http://255.255.255.255/',
  // Names that lead there.
  'http://inside.example/',
  'http://metadata.example/',
  'http://loop.example:PORT/',
  'http://loop6.example:PORT/',
  'http://mapped.example:PORT/',
  'http://mixed.example:PORT/',
  'http://nat64.example:PORT/',
  'http://azure.example/',
  // Another scheme, another port, somebody else's eyes.
  'file:///etc/passwd',
  'ftp://127.0.0.1:PORT/',
  'gopher://127.0.0.1:PORT/_GET',
  'data:text/plain,hello',
  'javascript:alert(1)',
  'unix:/var/run/docker.sock',
  'http+unix://%2Fvar%2Frun%2Fdocker.sock/',
  'ws://127.0.0.1:PORT/',
  'http://example.com:22/',
  'http://example.com:5432/',
  'http://example.com@127.0.0.1:PORT/',
  'http://127.0.0.1:PORT\\@example.com/',
  'http://user:password@example.com/',
  'http://example.com#@127.0.0.1:PORT/',
  '//127.0.0.1:PORT/',
  '/etc/passwd',
  'http://',
  'http://:PORT/',
  'http:127.0.0.1:PORT/',
  'http:///127.0.0.1:PORT/',
  'http://127.0.0.1:99999/',
  'http://a b/',
  ' http://127.0.0.1:PORT/',
  'ht\ntp://127.0.0.1:PORT/',
  '',
  `http://example.com/${'x'.repeat(9_000)}`,
];

it('holds enough of them', () => expect(new Set(HOSTILE).size).toBeGreaterThanOrEqual(60));

it.each(HOSTILE)('%s is refused, and nobody is called', async (url) => {
  const target = url.replaceAll('PORT', String(port));
  const thrown: unknown = await sendRequest(strict(), get(target)).catch((error: unknown) => error);
  // example.com has no address in this world: what gets as far as its name fails there.
  expect(thrown).toMatchObject({ name: 'OutboundFailure', reason: expect.stringMatching(/^(url_|connection_failed)/) });
  expect(hits).toBe(0);
});

it('a redirect into the inside is an answer, not a way', async () => {
  answerWith = (_request, response) => response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
  expect(await sendRequest(loose(), get(here()))).toMatchObject({ status: 302, body: '' });
  expect(hits).toBe(1);
});

it('a name that answers otherwise the next time gains nothing: it is asked once, and what was judged is dialled', async () => {
  let asked = 0;
  const rebinding = (...answers: string[]) => ({
    ...strict(),
    resolve: () => Promise.resolve([toAddress(answers[Math.min(asked++, answers.length - 1)] as string)]),
  });
  await expect(sendRequest(rebinding('127.0.0.1', '93.184.216.34'), get(`http://rebind.example:${port}/`))).rejects.toMatchObject(
    {
      reason: 'url_blocked',
    },
  );
  expect([asked, hits]).toEqual([1, 0]);
  asked = 0;
  const answer = await sendRequest(
    { ...rebinding('127.0.0.1', '192.0.2.1'), allowLoopback: true },
    get(`http://rebind.example:${port}/`),
  );
  expect([answer.status, asked, hits]).toEqual([200, 1, 1]);
});

it('the switch opens this machine and nothing else, and production refuses it', async () => {
  expect(await sendRequest(loose(), get(here()))).toMatchObject({
    status: 200,
    body: 'trapped',
    isCut: false,
    retryAfterMs: null,
  });
  expect(await sendRequest(loose(), get(`http://localhost:${port}/`))).toMatchObject({ status: 200 });
  for (const url of ['http://10.0.0.1/', 'http://169.254.169.254/', 'http://0.0.0.0/', 'http://inside.example/']) {
    await expect(sendRequest(loose(), get(url))).rejects.toMatchObject({ reason: 'url_blocked' });
  }
  expect(() => loadConfig({ NODE_ENV: 'production', OUTBOUND_LOOPBACK: 'allow' })).toThrow(
    'OUTBOUND_LOOPBACK: for development only',
  );
});

it('the open net is open', () => {
  for (const address of ['93.184.216.34', '8.8.8.8', '2606:2800:220:1:248:1893:25c8:1946', '::ffff:93.184.216.34']) {
    expect(isAllowedAddress({ allowLoopback: false }, address)).toBe(true);
  }
  for (const address of ['not an address', '', '93.184.216.34%eth0'])
    expect(isAllowedAddress({ allowLoopback: true }, address)).toBe(false);
});

describe('what is sent', () => {
  it('arrives as it was written, without cookies and without a connection kept', async () => {
    const seen: unknown[] = [];
    answerWith = (request, response) => {
      const { host, authorization, connection, cookie, 'accept-encoding': encoding } = request.headers;
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        seen.push({ method: request.method, url: request.url, host, authorization, connection, cookie, encoding, body });
        response.setHeader('set-cookie', 'session=1').end();
      });
    };
    const sent = get(here('/a%20b?q=1#part'), { method: 'POST', headers: { Authorization: 'Bearer é' }, body: 'ü' });
    for (let i = 0; i < 2; i += 1) await sendRequest(loose(), sent);
    const arrived = { method: 'POST', url: '/a%20b?q=1', host: `127.0.0.1:${port}`, body: 'ü', encoding: 'identity' };
    expect(seen).toEqual([0, 1].map(() => ({ ...arrived, connection: 'close', cookie: undefined, authorization: 'Bearer é' })));
    expect(hits).toBe(2);
  });

  it.each([
    ['a\r\nX-Injected: 1', 'v'],
    ['', 'v'],
    ['a b', 'v'],
    ['X-A', 'v\r\nX-Injected: 1'],
    ['X-A', 'v\n'],
    ['X-A', 'v\0'],
    ['X-A', '☃'],
    ['Host', 'inside.example'],
    ['Transfer-Encoding', 'chunked'],
    ['content-length', '0'],
    ['Connection', 'X-A'],
    ['Upgrade', 'h2c'],
    ['proxy-authorization', 'x'],
    ['Traceparent', '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'],
    ['tracestate', 'a=b'],
  ])('header %j: %j is refused without showing its value', async (name, value) => {
    const thrown: unknown = await sendRequest(loose(), get(here(), { headers: { [name]: value } })).catch(
      (error: unknown) => error,
    );
    expect(thrown).toMatchObject({ reason: 'header_invalid' });
    expect(hits).toBe(0);
  });
});

describe('what comes back', () => {
  const respond = async (listener: RequestListener, more: Partial<OutboundRequest> = {}) => {
    answerWith = listener;
    return sendRequest(loose(), get(here(), more));
  };

  it('is read to 64 kB, however long it is, and the connection closed on the rest', async () => {
    let closed: Promise<unknown> = Promise.resolve();
    const chunk = Buffer.alloc(16_384, 'x');
    const answer = await respond((_request, response) => {
      closed = once(response, 'close');
      const more = (): void => {
        while (response.writable && response.write(chunk));
      };
      response.on('drain', more);
      more();
    });
    expect({ ...answer, body: answer.body.length }).toEqual({
      status: 200,
      body: 65_536,
      isCut: true,
      retryAfterMs: null,
      headers: {},
    });
    await closed;
    const whole = await respond((_request, response) => response.end(Buffer.alloc(65_536, 'x')));
    expect(whole.isCut).toBe(false);
  });

  it('is given up when it does not end in time: silence, headers without a body, a byte at a time', async () => {
    const timeout = { timeoutMs: 300 };
    await expect(respond(() => undefined, timeout)).rejects.toMatchObject({ reason: 'timeout', isRetryable: true });
    await expect(respond((_request, response) => response.writeHead(200).flushHeaders(), timeout)).rejects.toMatchObject({
      reason: 'timeout',
    });
    const drip: RequestListener = (_request, response) => {
      const timer = setInterval(() => response.write('x'), 20);
      response.on('close', () => clearInterval(timer));
    };
    await expect(respond(drip, timeout)).rejects.toMatchObject({ reason: 'timeout' });
  });

  it('is never unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(32 * 1024 * 1024));
    const answer = await respond((_request, response) => response.setHeader('content-encoding', 'gzip').end(bomb));
    expect(answer).toMatchObject({ status: 200, body: '' });
  });

  it('becomes text that the database can hold', async () => {
    const bytes = Buffer.concat([Buffer.from('a\0b'), Buffer.from([0xff, 0xfe, 0xc3])]);
    expect((await respond((_request, response) => response.end(bytes))).body).toBe('ab\ufffd\ufffd\ufffd');
    expect((await respond((_request, response) => response.end(randomBytes(500)))).body).not.toContain('\0');
  });

  it.each([
    ['120', 120_000],
    ['0', 0],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
    ['-5', 0],
    ['soon', null],
  ])('Retry-After %j', async (value, ms) => {
    const answer = await respond((_request, response) => response.writeHead(503, { 'retry-after': value }).end());
    if (value !== '-5') expect(answer).toMatchObject({ status: 503, retryAfterMs: ms });
  });

  it('is no answer when the headers are huge, or it is not HTTP, or nobody listens', async () => {
    const huge: RequestListener = (_request, response) => response.writeHead(200, { 'x-huge': 'x'.repeat(20_000) }).end();
    await expect(respond(huge)).rejects.toMatchObject({ reason: 'response_invalid', isRetryable: false });
    const raw = createTcpServer((socket) => {
      open.add(socket);
      socket
        .on('error', () => undefined)
        .resume()
        .end('SSH-2.0-OpenSSH_9.9\r\n');
    });
    raw.listen(0, '127.0.0.1');
    await once(raw, 'listening');
    const other = (raw.address() as AddressInfo).port;
    await expect(sendRequest(loose(), get(`http://127.0.0.1:${other}/`))).rejects.toMatchObject({
      reason: expect.stringMatching(/response_invalid|connection_failed/),
    });
    raw.close();
    await once(raw, 'close');
    await expect(sendRequest(loose(), get(`http://127.0.0.1:${other}/`))).rejects.toMatchObject({
      reason: 'connection_failed',
      isRetryable: true,
    });
  });
});
