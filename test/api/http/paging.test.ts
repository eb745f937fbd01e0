import { v7 as uuidv7 } from 'uuid';
import type { z } from 'zod';
import { ENDPOINTS } from '../../../api/http/router.js';
import { buildAutomation } from '../../factories/automations.js';
import { buildPerson, buildProject, buildTask, buildTeam, type TestTeam } from '../../factories/people.js';
import { buildRunner } from '../../factories/runners.js';
import { buildRun } from '../../factories/runs.js';
import { buildSession, staged } from '../../factories/agent.js';
import { buildWebhook, PUBLIC_URL } from '../../factories/webhooks.js';
import { createOpenApi } from '../../../api/http/openapi.js';
import { getPages, rowsFields } from '../../../api/platform/endpoint/pages.js';
import { getRoute } from '../../authorization/expected.js';
import { type Answer, type Client, startApp, type TestApp } from '../../support/app.js';

// Link and X-Total-Count on lists that go on (RFC 8288): one way for all of them.

let app: TestApp;
let team: TestTeam;
let admin: Client;
beforeAll(async () => {
  app = await startApp();
  team = await buildTeam(app);
  admin = app.as(team.admin);
});
afterAll(() => app.close());

/** `{next: '/api/…', …}` */
const buildLinks = ({ headers }: Answer): Record<string, string> =>
  Object.fromEntries(
    [...(headers.get('link') ?? '').matchAll(/<([^>]*)>; rel="(\w+)"/g)].map(([, url, rel]) => [rel as string, url as string]),
  );
const readTotal = ({ headers }: Answer): number | null => {
  const total = headers.get('x-total-count');
  return total === null ? null : Number(total);
};

const ROWS = 5;
const times = <T>(make: (at: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: ROWS }, (_, at) => make(at)));

interface List {
  /** Its address, with five rows behind it. */
  build: () => Promise<string>;
  counted: boolean;
}

/** Every paged list; a route without one fails below. */
const LISTS: Record<string, List> = {
  'GET /api/projects': {
    counted: true,
    async build() {
      const own = await buildTeam(app);
      await app.services.db('memberships').insert({ team_id: own.team_id, user_id: team.admin.user_id, role: 'guest' });
      await times(() => buildProject(app, own));
      return `/api/projects?team_id=${own.team_id}`;
    },
  },
  'GET /api/tasks/:task_id/comments': {
    counted: true,
    async build() {
      const { task_id } = await buildTask(app, team, await buildProject(app, team));
      const made = await times((at) => admin.post(`/api/tasks/${task_id}/comments`, { content: `Words ${at}` }));
      await admin.post(`/api/tasks/${task_id}/comments`, { content: 'A reply', parent_comment_id: made[0]?.body.comment_id });
      return `/api/tasks/${task_id}/comments`;
    },
  },
  'GET /api/notes': {
    counted: false,
    async build() {
      const { project_id } = await buildProject(app, team);
      await times((at) => admin.post('/api/notes', { title: `Note ${at}`, project_id }));
      return `/api/notes?project_id=${project_id}`;
    },
  },
  'GET /api/work-items': {
    counted: false,
    async build() {
      const { project_id } = await buildProject(app, team);
      await times((at) => admin.post('/api/work-items', { type: 'doc', title: `Doc ${at}`, project_id }));
      return `/api/work-items?type=doc&project_id=${project_id}`;
    },
  },
  'GET /api/trash': {
    counted: true,
    async build() {
      const { project_id } = await buildProject(app, team);
      await times(async () => admin.delete(`/api/tasks/${(await buildTask(app, team, { project_id })).task_id}`));
      return `/api/trash?project_id=${project_id}`;
    },
  },
  'GET /api/automations/:automation_id/runs': {
    counted: false,
    async build() {
      const automation = await buildAutomation(app, team, { actions: [] });
      await times(() => buildRun(app, team, { automation, status: 'succeeded' }));
      return `/api/automations/${automation.automation_id}/runs`;
    },
  },
  'GET /api/automations/:automation_id/versions': {
    counted: false,
    async build() {
      const { automation_id } = await buildAutomation(app, team, { actions: [] });
      for (let at = 1; at < ROWS; at += 1) await admin.patch(`/api/automations/${automation_id}`, { name: `Version ${at}` });
      return `/api/automations/${automation_id}/versions`;
    },
  },
  'GET /api/admin/users': {
    counted: true,
    async build() {
      const { db } = app.services;
      await db('users').where({ user_id: team.admin.user_id }).update({ role: 'admin' });
      const name = `Paged ${uuidv7()}`;
      await times(async () =>
        db('users')
          .where({ user_id: (await buildPerson(app)).user_id })
          .update({ name }),
      );
      return `/api/admin/users?q=${encodeURIComponent(name)}`;
    },
  },
  'GET /api/invitations': {
    counted: false,
    async build() {
      const { email } = await app.services.db('users').where({ user_id: team.admin.user_id }).first('email');
      await times(async () => {
        const { team_id, admin: invited_by } = await buildTeam(app);
        const expires_at = new Date(Date.now() + 86_400_000);
        await app.services
          .db('invitations')
          .insert({ team_id, email, role: 'member', invited_by: invited_by.user_id, expires_at });
      });
      return '/api/invitations';
    },
  },
  'GET /api/sprints': {
    counted: false,
    async build() {
      const own = await buildTeam(app);
      await app.services.db('memberships').insert({ team_id: own.team_id, user_id: team.admin.user_id, role: 'member' });
      await times((at) => admin.post('/api/sprints', { team_id: own.team_id, name: `Cycle ${at}` }));
      return `/api/sprints?team_id=${own.team_id}`;
    },
  },
  'GET /api/saved-views': {
    counted: false,
    async build() {
      const own = await buildTeam(app);
      await app.services.db('memberships').insert({ team_id: own.team_id, user_id: team.admin.user_id, role: 'member' });
      await times((at) => admin.post('/api/saved-views', { team_id: own.team_id, name: `View ${at}`, entity_type: 'task' }));
      return `/api/saved-views?team_id=${own.team_id}`;
    },
  },
  'GET /api/saved-views/:view_id/results': {
    counted: false,
    async build() {
      const project = await buildProject(app, team);
      await times(() => buildTask(app, team, project));
      const view = { name: 'Paged', entity_type: 'task', filters: { project_id: [project.project_id] } };
      const { body } = await admin.post('/api/saved-views', view);
      return `/api/saved-views/${(body as { view_id: string }).view_id}/results`;
    },
  },
  'GET /api/runners': {
    counted: false,
    async build() {
      const own = await buildTeam(app);
      await app.services.db('memberships').insert({ team_id: own.team_id, user_id: team.admin.user_id, role: 'member' });
      await times(() => buildRunner(app, own));
      return `/api/runners?team_id=${own.team_id}`;
    },
  },
  'GET /api/bulk/jobs': {
    counted: false,
    async build() {
      const own = await buildTeam(app);
      await app.services.db('memberships').insert({ team_id: own.team_id, user_id: team.admin.user_id, role: 'manager' });
      const job = { team_id: own.team_id, kind: 'export', format: 'json', requested_by: team.admin.user_id };
      const ended = { status: 'cancelled', waiting_since: null, finished_at: new Date() };
      await times(() => app.services.db('bulk_jobs').insert({ ...job, ...ended, correlation_id: uuidv7() }));
      return `/api/bulk/jobs?team_id=${own.team_id}`;
    },
  },
  'GET /api/custom-fields': {
    counted: false,
    async build() {
      const own = await buildTeam(app);
      await app.services.db('memberships').insert({ team_id: own.team_id, user_id: team.admin.user_id, role: 'admin' });
      for (let at = 0; at < ROWS; at += 1) {
        const field = { team_id: own.team_id, name: `Field ${at}`, entity_type: 'task', field_type: 'text' };
        await admin.post('/api/custom-fields', field);
      }
      return `/api/custom-fields?team_id=${own.team_id}`;
    },
  },
  'GET /api/webhooks': {
    counted: false,
    async build() {
      const own = await buildTeam(app);
      await app.services.db('memberships').insert({ team_id: own.team_id, user_id: team.admin.user_id, role: 'admin' });
      await times(() => buildWebhook(app, own, PUBLIC_URL));
      return `/api/webhooks?team_id=${own.team_id}`;
    },
  },
  'GET /api/forge/repositories': {
    counted: false,
    async build() {
      const own = await buildTeam(app);
      await app.services.db('memberships').insert({ team_id: own.team_id, user_id: team.admin.user_id, role: 'admin' });
      const binding = { team_id: own.team_id, created_by: team.admin.user_id };
      await times(() => app.services.db('forge_repositories').insert({ ...binding, repo: `acme/${uuidv7()}` }));
      return `/api/forge/repositories?team_id=${own.team_id}`;
    },
  },
  'GET /api/forge/deliveries': {
    counted: false,
    async build() {
      const repo = `acme/${uuidv7()}`;
      const binding = { repo, team_id: team.team_id, created_by: team.admin.user_id };
      await app.services.db('forge_repositories').insert(binding);
      await times((at) =>
        app.services.db('forge_deliveries').insert({ delivery_id: `${repo} ${at}`, repo, body_sha256: Buffer.alloc(32) }),
      );
      return `/api/forge/deliveries?team_id=${team.team_id}`;
    },
  },
};

/** Every list that goes on by a cursor, and whose answer is an object by contract. */
const OBJECTS: Record<string, { build: () => Promise<string>; by: string }> = {
  'GET /api/automations/approvals': {
    by: 'run_id',
    async build() {
      await times((at) => buildRun(app, team, { expiresIn: 3600 + 60 * at }));
      return '/api/automations/approvals';
    },
  },
  'GET /api/automations/dead-letter': {
    by: 'run_id',
    async build() {
      const automation = await buildAutomation(app, team, { actions: [] });
      await times((at) =>
        buildRun(app, team, { automation, status: 'failed', fields: { finished_at: new Date(Date.now() - at * 1_000) } }),
      );
      return `/api/automations/dead-letter?team_id=${team.team_id}`;
    },
  },
  'GET /api/ai-workspace/agent/pending': {
    by: 'action_id',
    async build() {
      const { task_id } = await buildTask(app, team, await buildProject(app, team));
      const session = await buildSession(app, team, { kind: 'overnight_triage' });
      const actions = [{ tool: 'task.comment' as const, entity_id: task_id, params: { content: 'Still needed?' } }];
      await times((at) => staged(app, team.admin, actions, { session, source: 'overnight_triage', lifeHours: 1 + at }));
      return '/api/ai-workspace/agent/pending';
    },
  },
  'GET /api/audit/logs': {
    by: 'audit_id',
    async build() {
      const own = await buildTeam(app);
      await app.services.db('teams').where({ team_id: own.team_id }).update({ plan: 'scale' });
      await app.services.db('memberships').insert({ team_id: own.team_id, user_id: team.admin.user_id, role: 'admin' });
      await times((at) => admin.post('/api/projects', { team_id: own.team_id, name: `Project ${at}` }));
      return `/api/audit/logs?team_id=${own.team_id}&feature=project&from_time=2020-01-01`;
    },
  },
};

/** Tested with their own rules (filter-tasks.test.ts, list-bytes.test.ts, activity.test.ts, approvals/decisions.test.ts, approvals/decided.test.ts, gate/requests/requests.test.ts, webhooks/history.test.ts, projects/updates.test.ts, runners/jobs.test.ts). */
const BY_CURSOR = [
  'GET /api/tasks',
  'GET /api/tasks/my',
  'GET /api/activity',
  'GET /api/approvals',
  'GET /api/approvals/decided',
  'GET /api/automations',
  'GET /api/change-requests',
  'GET /api/notifications',
  'GET /api/projects/:project_id/updates',
  'GET /api/webhooks/:webhook_id/deliveries',
  'GET /api/runners/jobs',
];

const isPaged = (endpoint: (typeof ENDPOINTS)[number]): boolean => {
  const query = endpoint.raw ? undefined : (endpoint.query as z.ZodObject | undefined)?.shape;
  // A search answers with its best results, which nothing follows.
  const goesOn = query !== undefined && ('offset' in query || 'before' in query);
  return goesOn && 'limit' in query;
};

it('every list that takes a limit says where it goes on, and is tried here', () => {
  const paged = ENDPOINTS.filter(isPaged).map(getRoute);
  expect(ENDPOINTS.filter((endpoint) => getPages(endpoint)).map(getRoute)).toEqual(paged);
  expect(paged.toSorted()).toEqual([...Object.keys(LISTS), ...Object.keys(OBJECTS), ...BY_CURSOR].toSorted());
});

interface Operation {
  summary: string;
  parameters?: { name: string; in: string }[];
  responses: Record<
    string,
    { headers?: Record<string, unknown>; content?: Record<string, { schema?: Record<string, unknown> }> }
  >;
}

it('every list of the API document behaves as documented', () => {
  const document = createOpenApi(ENDPOINTS);
  const text = document.info.description ?? '';
  const paths = document.paths as unknown as Record<string, { get: Operation }>;
  const schemas = document.components?.schemas as Record<string, Record<string, unknown>>;
  const lists = ENDPOINTS.filter(({ method, summary }) => method === 'get' && summary.startsWith('List '));
  expect(lists.length).toBeGreaterThan(40);
  const faults = lists.flatMap((endpoint) => {
    const { get } = paths[endpoint.path.replace(/:(\w+)/g, '{$1}')] as { get: Operation };
    const names = (get.parameters ?? []).filter((each) => each.in === 'query').map(({ name }) => name);
    const answer = get.responses['200'];
    const given = answer?.content?.['application/json']?.schema as { $ref?: string };
    const schema = given.$ref ? schemas[given.$ref.replace('#/components/schemas/', '')] : (given as Record<string, unknown>);
    const takes = names.includes('limit') && (names.includes('offset') || names.includes('before'));
    const named = rowsFields(endpoint).map((field) => `\`${field}\``);
    return [
      takes !== 'Link' in (answer?.headers ?? {}) && `${endpoint.id}: parameters and Link differ`,
      !takes && names.includes('offset') && `${endpoint.id}: offset without limit`,
      schema?.['type'] !== 'array' && named.length === 0 && `${endpoint.id}: no array, and no rows`,
      schema?.['type'] !== 'array' && !text.includes(`\`${endpoint.id}\` in ${named.join(' and ')}`) && `${endpoint.id}: unnamed`,
      schema?.['type'] === 'array' && text.includes(`\`${endpoint.id}\` in`) && `${endpoint.id}: an array`,
    ].filter((fault) => fault !== false);
  });
  expect(faults).toEqual([]);
});

/** Follows a list whose pages may hold one byte: each then has one row. */
async function followBytes(path: string, describeRows: (answer: Answer) => unknown[]): Promise<unknown[]> {
  const { config } = app.services;
  const { LIST_MAX_BYTES } = config;
  const rows: unknown[] = [];
  config.LIST_MAX_BYTES = 1;
  try {
    for (let next: string | undefined = path; next && rows.length <= ROWS; ) {
      const answer = await admin.get(next);
      expect(describeRows(answer)).toHaveLength(1);
      rows.push(...describeRows(answer));
      next = buildLinks(answer)['next'];
      expect(answer.headers.get('x-truncated')).toBe(next ? 'true' : null);
    }
  } finally {
    config.LIST_MAX_BYTES = LIST_MAX_BYTES;
  }
  return rows;
}

describe.each(Object.entries(OBJECTS))('%s', (route, { build, by }) => {
  const field = rowsFields(ENDPOINTS.find((endpoint) => getRoute(endpoint) === route) as (typeof ENDPOINTS)[number])[0] as string;
  const listIds = ({ body }: Answer): string[] => (body[field] as Record<string, string>[]).map((row) => row[by] as string);
  let path: string;
  beforeAll(async () => {
    path = await build();
  });
  const page = (more: string) => admin.get(`${path}${path.includes('?') ? '&' : '?'}${more}`);

  it('goes on by `next` until the end, and tells the number of all', async () => {
    const whole = await page('limit=50');
    expect(listIds(whole)).toHaveLength(ROWS);
    expect([whole.headers.get('link'), readTotal(whole)]).toEqual([null, ROWS]);
    const ids: string[] = [];
    let answer = await page('limit=2');
    for (let pages = 1; ; pages += 1) {
      expect([answer.status, readTotal(answer), answer.body.total]).toEqual([200, ROWS, ROWS]);
      ids.push(...listIds(answer));
      const { next } = buildLinks(answer);
      if (!next || pages === ROWS) break;
      answer = await admin.get(next);
    }
    expect(ids).toEqual(listIds(whole));
    expect(listIds(await admin.get(buildLinks(answer)['first'] as string))).toEqual(ids.slice(0, 2));
  });

  it('ends where it has its maximum of bytes, and goes on by `next`', async () => {
    const describeRows = ({ body }: Answer): unknown[] => body[field];
    expect(await followBytes(path, describeRows)).toEqual(describeRows(await page('limit=50')));
  });

  it('says so when the row of a cursor is gone', async () => {
    const isCursor = route !== 'GET /api/audit/logs';
    expect((await page(`before=${uuidv7()}`)).status).toBe(isCursor ? 422 : 200);
  });
});

it('a link of the audit log replaces the older names of its offset', async () => {
  const path = await (OBJECTS['GET /api/audit/logs'] as { build: () => Promise<string> }).build();
  const { next, prev } = buildLinks(await admin.get(`${path}&limit=2&page=2`));
  expect(new URL(next as string, 'http://x').searchParams.toString()).toContain('limit=2&offset=4');
  expect([next, prev].some((each) => each?.includes('page='))).toBe(false);
});

describe.each(Object.entries(LISTS))('%s', (_route, { build, counted }) => {
  let path: string;
  let whole: Answer;
  const page = (more: string) => admin.get(`${path}${path.includes('?') ? '&' : '?'}${more}`);
  beforeAll(async () => {
    path = await build();
    whole = await admin.get(path);
  });

  it('all of it: no Link, and its number', () => {
    expect(whole.body).toHaveLength(ROWS);
    expect(whole.headers.get('link')).toBeNull();
    expect(readTotal(whole)).toBe(ROWS);
  });

  it('goes on by `next` until the end, and back again', async () => {
    const rows: unknown[] = [];
    let answer = await page('limit=2');
    let pages = 1;
    for (; ; pages += 1) {
      rows.push(...answer.body);
      const { next } = buildLinks(answer);
      if (!next) break;
      expect(answer.body).toHaveLength(2);
      answer = await admin.get(next);
    }
    expect(pages).toBe(3);
    expect(rows).toEqual(whole.body);
    expect(readTotal(answer)).toBe(ROWS);
    const { prev, first } = buildLinks(answer);
    expect((await admin.get(prev as string)).body).toEqual(rows.slice(2, 4));
    expect((await admin.get(first as string)).body).toEqual(rows.slice(0, 2));
  });

  it('ends where it has its maximum of bytes, and goes on by `next`', async () => {
    expect(await followBytes(path, ({ body }) => body)).toEqual(whole.body);
  });

  it('keeps the filters, and knows where nothing follows', async () => {
    const middle = await page('limit=2&offset=1');
    expect(Object.keys(buildLinks(middle))).toEqual(['next', 'prev', 'first']);
    const asked = new URL(path, 'http://x').searchParams;
    for (const [name, value] of asked) {
      for (const link of Object.values(buildLinks(middle))) expect(new URL(link, 'http://x').searchParams.get(name)).toBe(value);
    }
    const exact = await page(`limit=${ROWS}`);
    expect([exact.headers.get('link'), readTotal(exact)]).toEqual([null, ROWS]);
    const last = await page('limit=1&offset=4');
    expect(Object.keys(buildLinks(last))).toEqual(['prev', 'first']);
  });

  it('counts the whole where that is cheap', async () => {
    expect(readTotal(await page('limit=1'))).toBe(counted ? ROWS : null);
    const beyond = await page('limit=2&offset=50');
    expect(beyond.body).toEqual([]);
    expect(readTotal(beyond)).toBe(counted ? ROWS : null);
    expect(Object.keys(buildLinks(beyond))).toEqual(['prev', 'first']);
  });
});

it('a Link holds nothing of the address that could break out of it', async () => {
  const answer = await fetch(`${app.url}/api/projects?limit=1&x=%3E%3B%20rel%3D%22next%22%0D%0ASet-Cookie:a&y=>,<`, {
    headers: { authorization: `Bearer ${team.admin.token}` },
  });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('set-cookie')).toBeNull();
  expect(answer.headers.get('link')).toMatch(/^<[\w/?=&%.:+-]*>; rel="next"$/);
});
