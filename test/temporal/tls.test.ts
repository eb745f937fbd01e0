import { Writable } from 'node:stream';
import { startTemporalConnection, type TemporalLink } from '../../activities/worker/temporal-connection.js';
import { createLogger } from '../../api/platform/telemetry/log.js';
import { startApp, type TestApp, testConfig } from '../support/app.js';
import { queuePrefix, quietRuntime, until } from '../support/worker.js';
import { type Authority, createAuthority } from './certificates.js';
import { startTlsProxy, type TlsProxy } from './tls-proxy.js';

const SERVER = 'temporal.internal';
const API_KEY = 'a-key-for-temporal';
const temporal = process.env['ASSENT_TEST_TEMPORAL_ADDRESS'] as string;

let app: TestApp;
let ours: Authority;
let strangers: Authority;
const open: (() => Promise<void>)[] = [];

beforeAll(async () => {
  quietRuntime();
  app = await startApp();
  [ours, strangers] = await Promise.all([createAuthority('Ours'), createAuthority('Somebody else')]);
});
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});
afterAll(() => app.close());

/** A TLS server in front of the test's Temporal; `demands` a client certificate of this authority. */
async function proxy(demands?: Authority): Promise<TlsProxy> {
  const started = await startTlsProxy(temporal, await ours.sign(SERVER), demands?.cert);
  open.push(() => started.close());
  return started;
}

interface Linked {
  link: TemporalLink;
  /** Returns the log entries of failed attempts. */
  failures: string[];
}

/** Connects as the worker does, with these settings; `polling` resolves when Temporal itself names our workers. */
function linkWith(settings: Record<string, string>): Linked & { polling: Promise<void> } {
  const config = testConfig(app.database.url, app.services.config.DATA_DIR, { TASK_QUEUE_PREFIX: queuePrefix(), ...settings });
  const failures: string[] = [];
  const destination = new Writable({
    write(line: Buffer, _encoding, done) {
      const { msg, err } = JSON.parse(line.toString()) as { msg: string; err?: { message: string; stack: string } };
      if (err) failures.push(`${msg}: ${err.message}`);
      done();
    },
  });
  const log = createLogger({ ...config, LOG_LEVEL: 'warn' }, 'worker', destination);
  let link: TemporalLink | undefined;
  const polling = new Promise<void>((resolve) => {
    link = startTemporalConnection({ ...app.services, config, log }, { onPolling: resolve, localActivitySlots: 2 });
  });
  open.push(() => (link as TemporalLink).stop());
  return { link: link as TemporalLink, failures, polling };
}

const tls = ({ port }: TlsProxy, more: Record<string, string> = {}): Record<string, string> => ({
  TEMPORAL_ADDRESS: `127.0.0.1:${port}`,
  TEMPORAL_TLS: 'on',
  TEMPORAL_TLS_CA: ours.cert,
  TEMPORAL_TLS_SERVER_NAME: SERVER,
  ...more,
});

describe('the connection to Temporal', () => {
  it('goes over TLS, under the name that the certificate bears, and workers poll through it', async () => {
    const server = await proxy();
    const { link, polling, failures } = linkWith(tls(server));
    await polling;
    expect(link.client()).toBeDefined();
    expect([...server.serverNames]).toEqual([SERVER]);
    expect([...server.authorizations]).toEqual([undefined]);
    expect(failures).toEqual([]);
  });

  it('carries the API key with every call of the client and of the workers', async () => {
    const server = await proxy();
    const { polling } = linkWith(tls(server, { TEMPORAL_API_KEY: API_KEY }));
    await polling;
    expect([...server.authorizations]).toEqual([`Bearer ${API_KEY}`]);
  });

  it('shows its own certificate where the server demands one', async () => {
    const server = await proxy(ours);
    const { cert, key } = await ours.sign('assent-worker');
    const { polling } = linkWith(tls(server, { TEMPORAL_TLS_CERT: cert, TEMPORAL_TLS_KEY: key }));
    await polling;
    expect(server.refused()).toBe(0);
  });

  const refusals: [string, () => Promise<[TlsProxy, Record<string, string>]>][] = [
    [
      'no certificate, where the server demands one',
      async () => {
        const server = await proxy(ours);
        return [server, tls(server)];
      },
    ],
    [
      'a certificate of another authority',
      async () => {
        const server = await proxy(ours);
        const { cert, key } = await strangers.sign('assent-worker');
        return [server, tls(server, { TEMPORAL_TLS_CERT: cert, TEMPORAL_TLS_KEY: key })];
      },
    ],
    [
      'a server whose certificate another authority signed',
      async () => {
        const server = await proxy();
        return [server, tls(server, { TEMPORAL_TLS_CA: strangers.cert })];
      },
    ],
    [
      'a server whose certificate bears another name',
      async () => {
        const server = await proxy();
        return [server, tls(server, { TEMPORAL_TLS_SERVER_NAME: 'other.internal' })];
      },
    ],
    [
      'a server that speaks TLS, asked in the clear',
      async () => {
        const server = await proxy();
        return [server, { TEMPORAL_ADDRESS: `127.0.0.1:${server.port}` }];
      },
    ],
  ];
  it.each(refusals)('is refused with %s: no call gets through, and the log says why', async (_what, prepare) => {
    const [server, settings] = await prepare();
    const { link, failures } = linkWith(settings);
    await until(async () => failures.length > 0 && server.refused() > 0);
    expect(link.client()).toBeUndefined();
    expect(failures[0]).toMatch(/^Temporal unavailable, retrying: /);
    expect(server.authorizations.size).toBe(0);
  });

  it('never sends the API key to a server that it does not trust', async () => {
    const server = await proxy();
    const { failures } = linkWith(tls(server, { TEMPORAL_TLS_CA: strangers.cert, TEMPORAL_API_KEY: API_KEY }));
    await until(async () => failures.length > 0);
    expect(server.authorizations.size).toBe(0);
  });
});
