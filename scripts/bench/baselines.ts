import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { fileURLToPath } from 'node:url';
import { Client } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import Koa from 'koa';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { handleFile } from './baseline-files.js';
import { itemStatements } from './baseline-items.js';
import { type FoundView, plainSearch, viewQuery, viewStatement } from './baseline-views.js';
import type { BaselineActivities, BaselineKind, BaselineOrder, baselineRun } from './baseline-workflow.js';

/**
 * Every baseline of `npm run bench`, in a separate process: for a request a bare Koa handler and one prepared statement, for a run
 * a bare workflow with one local activity per action. Tables, pool size and Node flags equal the product's; there is no validation,
 * router, logging, limits, metrics or correlation. A baseline is the best this stack can do, so the ratio shows the cost of the
 * product's own work.
 */

const env = (name: string): string => {
  const value = process.env[name];
  if (value === undefined) throw new Error(`Set ${name}`);
  return value;
};

const pool = new pg.Pool({
  connectionString: env('DATABASE_URL'),
  max: 8,
  application_name: 'bench-floor',
  options: '-c timezone=UTC',
});

/** Finds the caller by the SHA-256 of the token ($1), in the statement that does the work. */
const CALLER = /* sql */ `caller as (
  select u.user_id, u.email, t.token_id from personal_access_tokens t join users u using (user_id)
  where t.token_hash = $1 and t.revoked_at is null and (t.expires_at is null or t.expires_at > now()) and u.status = 'active'
)`;

/**
 * The benchmark's writes have no subscribers, so the product writes no event; with `npm run bench -- --events` the baseline writes
 * one.
 */
const WITH_EVENTS = process.env['FLOOR_EVENTS'] === 'on';
const queued = (event: string) => /* sql */ `, queued as (
  insert into outbox (kind, subject, team_id, project_id, payload, correlation_id)
  select 'event', '${event}', m.team_id, m.project_id, jsonb_build_object('actor_id', c.user_id, 'task', m.json), $2::uuid
  from made m, caller c
)`;

/** Audit entry of a change, and its event if enabled, from `made` and `caller`. $2 = request id. */
const traces = (action: string, event: string, details: string) => /* sql */ `audited as (
  insert into audit_entries (audit_id, correlation_id, timestamp, team_id, user_id, user_email, actor_type, token_id, feature,
    action, severity, outcome, entity_type, entity_id, details)
  select $2::uuid, $2::uuid, to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US'), m.team_id, c.user_id,
    c.email, 'pat', c.token_id, 'tasks', '${action}', 'LOW', 'success', 'task', m.task_id, ${details}::text
  from made m, caller c
)${WITH_EVENTS ? queued(event) : ''}`;

/** The same for update and status; `set` lists the columns. $3 = task id, $4 = version or null, from $5 the values. */
const change = (set: string) => /* sql */ `
with ${CALLER}, made as (
  update tasks t set ${set}, version = t.version + 1, updated_at = now()
  from caller c, memberships m
  where t.task_id = $3 and t.deleted_at is null and ($4::int is null or t.version = $4)
    and m.team_id = t.team_id and m.user_id = c.user_id and m.role <> 'guest'
  returning t.task_id, t.team_id, t.project_id, t.version, task_json(t) as json
), ${traces('update', 'task.updated', `jsonb_build_object('version', m.version)`)}
select version from made`;

const SQL = {
  delivery: /* sql */ `
with receipt as (
  insert into forge_deliveries (delivery_id, event, normalized, repo, body_sha256, payload) values ($1, $2, $2, $3, $4, $5)
  on conflict (delivery_id) where outcome is distinct from 'duplicate' do nothing returning receipt_id
), work as (
  insert into outbox (kind, subject, payload, correlation_id)
  select 'forge.delivery', $2, jsonb_build_object('receipt_id', receipt_id), $6::uuid from receipt
)
select count(*)::int as fresh from receipt`,
  create: /* sql */ `
with ${CALLER}, place as (
  select p.project_id, p.team_id from caller c, projects p join memberships m using (team_id)
  where p.project_id = $3 and p.deleted_at is null and m.user_id = c.user_id and m.role <> 'guest'
), key as (
  insert into item_keys (item_id, item_type) select uuidv7()::text, 'task' from place returning item_id
), made as (
  insert into tasks (task_id, project_id, team_id, title, description, priority, tags, created_by)
  select k.item_id, p.project_id, p.team_id, $4, $5, $6, $7, c.user_id from key k, place p, caller c
  returning task_id, title, team_id, project_id, task_json(tasks) as json
), ${traces('create', 'task.created', `jsonb_build_object('title', m.title)`)}
select json::text as json from made`,
  update: change('title = $5, priority = $6'),
  status: change('status = $5'),
  get: /* sql */ `
with ${CALLER}
select t.version, task_json(t)::text as json from caller c, tasks t join memberships m using (team_id)
where t.task_id = $2 and t.deleted_at is null and m.user_id = c.user_id`,
  list: /* sql */ `
with ${CALLER}
select t.json from caller c join memberships m using (user_id) join projects p on p.team_id = m.team_id
cross join lateral (
  select task_json(t)::text as json from tasks t where t.project_id = p.project_id and t.deleted_at is null
  order by t.position nulls last, t.created_at, t.task_id limit 10000
) t
where p.project_id = $2 and p.deleted_at is null`,
  search: plainSearch(CALLER),
  view: viewStatement(CALLER),
  me: /* sql */ `
with ${CALLER}
select u.user_id, u.email, u.name, u.role, u.username, u.display_name, u.avatar, u.status, u.preferences,
  coalesce(json_agg(json_build_object('team_id', t.team_id, 'name', t.name, 'role', m.role)) filter (where t.team_id is not null), '[]') as teams
from caller c join users u using (user_id) left join memberships m using (user_id) left join teams t on t.team_id = m.team_id
group by u.user_id`,
  ...itemStatements(CALLER, traces),
};

async function run<Row extends pg.QueryResultRow>(name: keyof typeof SQL, values: unknown[]): Promise<Row> {
  const { rows } = await pool.query<Row>({ name, text: SQL[name], values });
  if (!rows[0]) throw new Error(`${name} found nothing`);
  return rows[0];
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
}

const readBody = async (request: IncomingMessage) => JSON.parse((await readBytes(request)).toString()) as Record<string, unknown>;
const computeHash = (authorization = '') => createHash('sha256').update(authorization.slice(7)).digest();

/** Stores a signed delivery. The HMAC replaces the hash of the body, which the column requires. */
async function acceptDelivery({ req }: Koa.Context): Promise<unknown> {
  const bytes = await readBytes(req);
  const digest = createHmac('sha256', env('FORGE_WEBHOOK_SECRET')).update(bytes).digest();
  const given = Buffer.from(String(req.headers['x-hub-signature-256']).slice(7), 'hex');
  if (!timingSafeEqual(digest, given)) throw new Error('not signed');
  const text = bytes.toString();
  const { repository } = JSON.parse(text) as { repository: { full_name: string } };
  const { 'x-forge-delivery': id, 'x-forge-event': event } = req.headers;
  const { fresh } = await run<{ fresh: number }>('delivery', [id, event, repository.full_name, digest, text, uuidv7()]);
  return { received: true, duplicate: fresh === 0 };
}

async function createTask({ req }: Koa.Context): Promise<string> {
  const { project_id, title, description, priority, tags } = await readBody(req);
  const values = [computeHash(req.headers.authorization), uuidv7(), project_id, title, description, priority, tags];
  return (await run<{ json: string }>('create', values)).json;
}

async function changeTask({ req }: Koa.Context, taskId: string, what: 'update' | 'status'): Promise<unknown> {
  const { title, priority, status, version } = await readBody(req);
  const fields = what === 'status' ? [status] : [title, priority];
  return run(what, [computeHash(req.headers.authorization), uuidv7(), taskId, version ?? null, ...fields]);
}

async function listTasks({ req, query }: Koa.Context): Promise<string> {
  const values = [computeHash(req.headers.authorization), query['project_id']];
  const { rows } = await pool.query<{ json: string }>({ name: 'list', text: SQL.list, values });
  return `[${rows.map((row) => row.json).join(',')}]`;
}

async function listItems({ req, query }: Koa.Context): Promise<string> {
  const { project_id, team_id, limit, status } = query;
  const token = computeHash(req.headers.authorization);
  const found = project_id
    ? await run<{ json: string }>('itemsByStatus', [token, project_id, limit, status])
    : await run<{ json: string }>('items', [token, team_id, limit]);
  return `[${found.json}]`;
}

async function viewResults({ req, path, query }: Koa.Context): Promise<string> {
  const view = await run<FoundView>('view', [computeHash(req.headers.authorization), path.split('/')[3]]);
  const found = await pool.query<{ records: string }>(viewQuery(view, Number(query['limit'])));
  return `[${found.rows[0]?.records}]`;
}

async function search({ req }: Koa.Context): Promise<unknown> {
  const { query, limit } = await readBody(req);
  const words = String(query).trim().replaceAll(' ', ' & ');
  const { rows } = await pool.query({
    name: 'search',
    text: SQL.search,
    values: [computeHash(req.headers.authorization), words, limit],
  });
  return { query, results: rows };
}

async function createNote({ req }: Koa.Context): Promise<string> {
  const { project_id, title, content } = await readBody(req);
  const values = [computeHash(req.headers.authorization), uuidv7(), project_id, title, content];
  return (await run<{ json: string }>('note', values)).json;
}

/** Paths equal the product's, so both receive the same bytes. */
async function answer(ctx: Koa.Context): Promise<unknown> {
  const { method, path, req } = ctx;
  if (path === '/api/forge/webhooks') return acceptDelivery(ctx);
  if (path === '/api/auth/me') return run('me', [computeHash(req.headers.authorization)]);
  if (path === '/api/tasks') return method === 'POST' ? createTask(ctx) : listTasks(ctx);
  if (path === '/api/work-items') return listItems(ctx);
  if (path.startsWith('/api/saved-views')) return viewResults(ctx);
  if (path === '/api/notes') return createNote(ctx);
  if (path === '/api/search') return search(ctx);
  if (path.startsWith('/api/files')) return handleFile(ctx);
  const [, , , taskId = '', last] = path.split('/');
  if (method === 'PATCH') return changeTask(ctx, taskId, last === 'status' ? 'status' : 'update');
  return (await run<{ json: string }>('get', [computeHash(req.headers.authorization), taskId])).json;
}

/** Calls back for the run whose row was committed, with its index and the time. */
type Waiting = Map<string, (index: number, at: number) => void>;

const buildActivities = (waiting: Waiting): BaselineActivities => ({
  async insertEffect(id, index) {
    await pool.query({
      name: 'effect',
      text: 'insert into bench_effects (run_id, index) values ($1, $2)',
      values: [id, index],
    });
    waiting.get(id)?.(index, performance.now());
  },
});

/** Handles `POST /runs` with a `BaselineOrder`; returns the milliseconds of each run. */
async function startRunner(): Promise<(ctx: Koa.Context) => Promise<unknown>> {
  Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] });
  const workflowsPath = fileURLToPath(import.meta.resolve('./baseline-workflow.js'));
  const { code } = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('WARN') });
  const connection = await NativeConnection.connect({ address: env('TEMPORAL_ADDRESS'), grpcCompression: { codec: 'none' } });
  const waiting: Waiting = new Map();
  const taskQueue = 'bench-floor';
  const worker = await Worker.create({
    connection,
    taskQueue,
    workflowBundle: { code },
    activities: { ...buildActivities(waiting) },
    maxCachedWorkflows: 500,
    maxConcurrentWorkflowTaskExecutions: 40,
    maxConcurrentLocalActivityExecutions: 8,
    workflowTaskPollerBehavior: { type: 'autoscaling', initial: 2, maximum: 10 },
    activityTaskPollerBehavior: { type: 'simple-maximum', maximum: 2 },
  });
  void worker.run();
  const client = new Client({ connection });
  /** Resolves after the last row; returns the time from the start call to the first commit. */
  const once = async (inserts: number, kind: BaselineKind): Promise<number> => {
    const id = uuidv7();
    let first = 0;
    const last = new Promise<void>((done) =>
      waiting.set(id, (index, at) => {
        if (index === 0) first = at;
        if (index === inserts - 1) done();
      }),
    );
    const started = performance.now();
    await client.workflow.start<typeof baselineRun>('baselineRun', {
      workflowId: `floor:${id}`,
      taskQueue,
      args: [id, inserts, kind],
      requestEagerStart: kind === 'local',
    });
    await last;
    waiting.delete(id);
    return first - started;
  };
  return async ({ req }) => {
    const { count, inFlight, pauseMs, inserts, kind } = (await readBody(req)) as unknown as BaselineOrder;
    const latencies: number[] = [];
    let begun = 0;
    const started = performance.now();
    const lane = async () => {
      while (begun++ < count) {
        latencies.push(await once(inserts, kind));
        if (pauseMs > 0) await new Promise((done) => setTimeout(done, pauseMs));
      }
    };
    await Promise.all(Array.from({ length: inFlight }, lane));
    return { latencies, seconds: (performance.now() - started) / 1_000 };
  };
}

const handle = process.env['FLOOR'] === 'temporal' ? await startRunner() : answer;
const app = new Koa();
app.use(async (ctx) => {
  ctx.body = await handle(ctx);
  if (ctx.method === 'POST' && /^\/api\/(tasks|notes|files)$/.test(ctx.path)) ctx.status = 201;
  ctx.type = 'application/json';
});
const handler = app.callback();
const server = createServer((request, response) => void handler(request, response));
server.listen(Number(env('PORT')), '127.0.0.1');
await once(server, 'listening');
process.on('SIGTERM', () => process.exit(0));
process.send?.({ type: 'ready' });
