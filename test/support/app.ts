import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, type Dispatcher, request } from 'undici';
import { AUDIT_ACTIONS } from '../../api/platform/changes/audit-actions.js';
import { FEATURES } from '../../api/platform/changes/change-kinds.js';
import { createRelayNotifier } from '../../api/platform/outbox/relay-notifier.js';
import { UNLIMITED } from '../../api/platform/endpoint/limits.js';
import { type Config, loadConfig } from '../../api/platform/config.js';
import type { Services } from '../../api/platform/context.js';
import { createLogger } from '../../api/platform/telemetry/log.js';
import { createApp } from '../../api/http/app.js';
import { answerRawErrors } from '../../api/http/raw-errors.js';
import { openDatabase, SERVING } from '../../db/connection.js';
import { cloneDatabase, type Patience, type TestDatabase } from './database.js';
import { checkAgainstDocument } from './contract-check.js';

export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint: a test reads whatever came back
  body: any; // oxlint-disable-line typescript/no-explicit-any
}

type Options = { headers?: Record<string, string>; raw?: string | Buffer };
type Call = (path: string, body?: unknown, options?: Options) => Promise<Answer>;
export type Client = Record<'get' | 'post' | 'put' | 'patch' | 'delete', Call>;

export interface TestApp {
  services: Services;
  database: TestDatabase;
  url: string;
  /** A client with this credential; without one, a stranger's. */
  as: (credential?: string | { token: string }) => Client;
  close: () => Promise<void>;
}

/** The product's settings for tests: quiet, without limits unless a test sets its own. */
export function testConfig(url: string, dataDir: string, settings: Record<string, string> = {}): Config {
  return loadConfig({
    NODE_ENV: 'test',
    DATABASE_URL: url,
    DATA_DIR: dataDir,
    LOG_LEVEL: 'silent',
    ...UNLIMITED,
    AI_CHAT_BEGIN_SECONDS: '60',
    // They cost the Temporal server half a second of CPU at each start of a worker; tests run the jobs themselves.
    MAINTENANCE_SCHEDULES: 'skip',
    TEMPORAL_ADDRESS: process.env['ASSENT_TEST_TEMPORAL_ADDRESS'] ?? '127.0.0.1:1',
    WORKFLOW_BUNDLE: process.env['ASSENT_TEST_BUNDLE'] ?? '',
    ...settings,
  });
}

const buildHeaders = (received: Record<string, string | string[] | undefined>): Headers =>
  new Headers(
    Object.entries(received).flatMap(([name, value]) => [value ?? []].flat().map((each): [string, string] => [name, each])),
  );

/** Connections of all clients. The requests go without fetch, whose streams cost twice the CPU of a request and its answer. */
const connections = new Agent();

function createClient(base: string, credential: string | undefined): Client {
  const call =
    (method: string): Call =>
    async (path, body, { headers = {}, raw } = {}) => {
      // Before two hexadecimal digits, which random text has at times, it would silently be an escape.
      if (/\?.*%(?![0-9a-f]{2})/i.test(path)) throw new Error(`The query holds a % that is not encoded: ${path}`);
      const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body));
      const response = await request(`${base}${path}`, {
        dispatcher: connections,
        method: method.toUpperCase() as Dispatcher.HttpMethod,
        headers: {
          'user-agent': 'test',
          ...(credential ? { authorization: `Bearer ${credential}` } : {}),
          ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(sent === undefined ? {} : { body: sent }),
      });
      const text = await response.body.text();
      const answer = {
        status: response.statusCode,
        headers: buildHeaders(response.headers),
        body: text === '' ? undefined : (JSON.parse(text) as unknown),
      };
      checkAgainstDocument(method, path, answer);
      return answer;
    };
  return { get: call('get'), post: call('post'), put: call('put'), patch: call('patch'), delete: call('delete') };
}

/** Unknown features and actions in the audit log; the compiler checks operations, but not SQL. */
const unknownAuditWords = async (db: Services['db']): Promise<string[]> => {
  const words = async (column: string, known: readonly string[]) =>
    db('audit_entries').distinct().whereNotIn(column, known).pluck<string[]>(column);
  try {
    return [...(await words('feature', FEATURES)), ...(await words('action', AUDIT_ACTIONS))];
  } catch {
    // A test has taken the database away.
    return [];
  }
};

/** Serves the product on a free port. */
async function serve(services: Services): Promise<{ url: string; server: Server }> {
  const handle = createApp(services).callback();
  const server: Server = createServer((request, response) => void handle(request, response));
  answerRawErrors(server);
  // A client on a busy machine would take a connection again that the server is about to close after its usual five seconds.
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

const clientsOf =
  (url: string): TestApp['as'] =>
  (credential) =>
    createClient(url, typeof credential === 'object' ? credential.token : credential);

/** A real server on a free port over a database of its own. Close it in afterAll. `patience`: longer where a test sends very much at once. */
export async function startApp(settings: Record<string, string> = {}, patience?: Patience): Promise<TestApp> {
  const database = await cloneDatabase(patience);
  const dataDir = mkdtempSync(join(tmpdir(), 'assent-test-data-'));
  const config = testConfig(database.url, dataDir, settings);
  const services: Services = {
    db: database.db,
    config,
    log: createLogger(config, 'api'),
    notifyRelay: createRelayNotifier(database.db),
  };
  const { url, server } = await serve(services);
  return {
    services,
    database,
    url,
    as: clientsOf(url),
    async close() {
      server.closeAllConnections();
      server.close();
      const odd = await unknownAuditWords(database.db);
      await database.drop();
      rmSync(dataDir, { recursive: true, force: true });
      if (odd.length > 0)
        throw new Error(
          `The audit log says what no vocabulary knows (api/platform/changes/change-kinds.ts, api/platform/changes/audit-actions.ts): ${odd.join(', ')}`,
        );
    },
  };
}

/** A second process of the same installation, as far as memory goes: another pool, nothing shared but the database. */
export async function startSibling(app: TestApp, settings: Partial<Config> = {}): Promise<Pick<TestApp, 'as' | 'close'>> {
  const db = openDatabase({
    url: app.database.url,
    poolSize: 4,
    name: 'assent-test-sibling',
    ...SERVING,
    acquireTimeoutMs: 60_000,
    lockTimeout: 60_000,
  });
  const { url, server } = await serve({
    ...app.services,
    config: { ...app.services.config, ...settings },
    db,
    notifyRelay: createRelayNotifier(db),
  });
  return {
    as: clientsOf(url),
    async close() {
      server.closeAllConnections();
      server.close();
      await db.destroy();
    },
  };
}
