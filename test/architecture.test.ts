import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { z } from 'zod';
import { ENDPOINTS } from '../api/http/router.js';
import { CASES } from './authorization/cases.js';
import type { Row } from './authorization/row.js';
import { getExpected, getRoute } from './authorization/expected.js';
import { buildSubject, findEndpoint, getName, send } from './authorization/run.js';
import { buildWorld, type World } from './authorization/world.js';

const root = resolve(import.meta.dirname, '..');
const run = promisify(execFile);

/** Every package that a compiled file loads, directly or through our own files; type imports are gone once compiled. */
function packagesBehind(entry: string): Set<string> {
  const packages = new Set<string>();
  const seen = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    for (const [, specifier = ''] of readFileSync(file, 'utf8').matchAll(
      /(?:^|[;\s])(?:import|export)\b[^'"`;]*?from\s*['"]([^'"]+)['"]|(?:^|[;\s])import\s*\(?\s*['"]([^'"]+)['"]/gm,
    )) {
      if (!specifier) continue;
      if (specifier.startsWith('.')) visit(resolve(dirname(file), specifier));
      else
        packages.add(
          specifier.startsWith('@') ? specifier.split('/').slice(0, 2).join('/') : (specifier.split('/')[0] as string),
        );
    }
  };
  visit(join(root, 'dist', entry));
  return packages;
}

const matching = (packages: Set<string>, pattern: RegExp) => [...packages].filter((name) => pattern.test(name));
const KOA = /^(koa|koa-.*|@koa\/.*)$/;

describe('what a process loads', () => {
  it('the worker holds no Koa', () => {
    const packages = packagesBehind('activities/worker.js');
    expect([...packages]).toEqual(expect.arrayContaining(['@temporalio/worker', 'knex', 'pino']));
    expect(matching(packages, KOA)).toEqual([]);
  });

  it('the API holds nothing of Temporal (docs/adr/0005)', () => {
    const packages = packagesBehind('api/http/serving/serve.js');
    expect(matching(packages, KOA)).toEqual(expect.arrayContaining(['koa', '@koa/router']));
    expect(matching(packages, /^@temporalio\//)).toEqual([]);
  });

  it('workflow code holds nothing but Temporal’s own library', () => {
    expect([...packagesBehind('workflows/index.js')].sort()).toEqual(['@temporalio/common', '@temporalio/workflow']);
  });
});

describe('endpoints', () => {
  it('declare exactly their path parameters', () => {
    const wrong = ENDPOINTS.filter((endpoint) => {
      const inPath = [...endpoint.path.matchAll(/:(\w+)/g)].map(([, name]) => name as string);
      const declared = Object.keys((endpoint.params as z.ZodObject | undefined)?.shape ?? {});
      return declared.toSorted().join() !== inPath.toSorted().join();
    });
    expect(wrong.map(getRoute)).toEqual([]);
  });

  it('no two have the same address', () => {
    const addresses = ENDPOINTS.map((endpoint) => getRoute(endpoint).replace(/:\w+/g, ':id'));
    expect(addresses.filter((address, at) => addresses.indexOf(address) !== at)).toEqual([]);
  });
});

/** Tried elsewhere, each with its reason. */
const ELSEWHERE: Record<string, string> = {
  'POST /api/admin/impersonate/stop':
    'ends well for a session that the others need; test/api/identity/admin/impersonation.test.ts',
  'POST /api/runners/register': 'needs a token; test/api/automation/runners/jobs.test.ts',
  'POST /api/runners/claim': 'by a runner; test/api/automation/runners/jobs.test.ts',
  'POST /api/runners/jobs/:job_id/complete': 'by a runner; test/api/automation/runners/jobs.test.ts',
  'POST /api/ai-workspace/agent/plans/:action_id/edit': 'needs the hash of what was read; test/api/agent/plans/edit-plan.test.ts',
  'POST /api/approvals/decide': 'needs the hash of what was read; test/api/approvals/decisions.test.ts',
  'POST /api/ai-workspace/chat': 'needs a worker; test/api/agent/chat.test.ts',
};

/** Writes that leave no audit entry of the request, each with its reason. */
const WITHOUT_AUDIT: Record<string, string> = {
  'POST /api/auth/refresh': 'the session goes on as it was, every hour of every client',
  'PATCH /api/notifications/:notification_id': 'what somebody has read is theirs, and changes nothing for anybody else',
  'PUT /api/tasks/:task_id/followers/me': 'whether somebody hears of a task changes nothing for anybody else',
  'POST /api/search': 'it stores nothing',
  'POST /api/teams/:team_id/request-rules/test': 'it stores nothing',
  'POST /api/mcp/gateway/:upstream': 'a message is a list, or a call, and what is asked for leaves the entry',
  'POST /api/mcp': 'a message is a list, a read or a proposal, and the staged plan leaves the entry',
  'POST /api/notifications/read': 'the same, many at a time',
  'POST /api/runners/jobs/:job_id/heartbeat': 'the job goes on as it was, every few seconds',
  'POST /api/runners/jobs/:job_id/logs': 'the log is its own record',
  'POST /api/forge/webhooks': 'a signed delivery is kept as a receipt; what it changes is audited when the relay applies it',
};

describe('every successful write leaves an audit entry with the request’s id', () => {
  let world: World;
  beforeAll(async () => {
    world = await buildWorld();
  });
  afterAll(() => world.app.close());

  /** Neither a repetition without changes, nor a request that succeeds for nobody. */
  const isWrite = (row: Row): boolean =>
    !row.route.startsWith('GET ') &&
    row.success === undefined &&
    row.lowest !== 'nobody' &&
    (row.public?.own ?? 200) < 300 &&
    (row.reference?.own ?? row.outcome?.own ?? 200) < 300;
  /** Someone for whom the row ends well. */
  const caller = (row: Row) => {
    const endpoint = findEndpoint(row);
    return endpoint && world.actors.find((actor) => getExpected(endpoint, row, actor, 'own', 'spec').status < 300);
  };
  const entriesByTeam = (id: string | null) => world.app.services.db('audit_entries').where({ correlation_id: id });

  it('is tried on every route that is not named', () => {
    const tried = new Set(
      CASES.filter((row) => isWrite(row) && row.kinds.includes('own') && caller(row)).map((row) => row.route),
    );
    const writes = ENDPOINTS.filter((endpoint) => endpoint.method !== 'get').map(getRoute);
    expect(writes.filter((route) => !tried.has(route) && !(route in WITHOUT_AUDIT) && !(route in ELSEWHERE))).toEqual([]);
    expect(Object.keys(WITHOUT_AUDIT).filter((route) => !writes.includes(route))).toEqual([]);
  });

  it.each(CASES.filter(isWrite).map((row) => [getName(row), row] as const))('%s', async (_name, row) => {
    const endpoint = findEndpoint(row);
    const actor = caller(row);
    if (!endpoint || !actor) throw new Error('ends well for nobody');
    const answer = await send(world, endpoint, row, actor, await buildSubject(world, row, actor, 'own'));
    expect(answer.status).toBeLessThan(300);
    const entries = await entriesByTeam(answer.headers.get('x-correlation-id'));
    if (row.route in WITHOUT_AUDIT) {
      expect(entries).toEqual([]);
      return;
    }
    expect(entries.map((entry) => entry.audit_id)).toContain(answer.headers.get('x-correlation-id'));
    for (const entry of entries)
      expect(entry).toMatchObject({ outcome: 'success', feature: expect.stringMatching(/./), ip_address: expect.any(String) });
  });
});

describe('the linter holds the layers', () => {
  /** A file with one import that its layer may not have, or with one that it may. */
  const PLANTED: [file: string, line: string, refused: boolean][] = [
    ['api/work/tasks/a.ts', "import { b } from '../../../activities/b.js';", true],
    ['api/work/tasks/a.ts', "import Koa from 'koa';", true],
    ['api/work/tasks/a.ts', "import { b } from '../../http/app.js';", true],
    ['api/work/tasks/a.ts', "import { b } from './routes.js';", true],
    ['api/work/tasks/a.ts', "import { b } from '../../../workflows/b.js';", true],
    ['api/work/tasks/a.ts', "import { b } from '../../../workflows/contracts/run-contract.js';", false],
    ['api/work/tasks/a.ts', "import { b } from '../projects/b.js';", false],
    ['api/work/tasks/a.ts', "import { b } from '../../platform/errors.js';", false],
    ['api/work/tasks/a.ts', "import { b } from '../../gate/staging/b.js';", true],
    ['api/work/tasks/a.ts', "import type { b } from '../../automation/runs/b.js';", true],
    ['api/work/tasks/a.ts', "export { b } from '../../http/app.js';", true],
    ['api/platform/a.ts', "import { b } from '../work/b.js';", true],
    ['api/automation/a.ts', "import { b } from '../gate/b.js';", false],
    ['api/work/tasks/routes.ts', "import { b } from '../../../db/b.js';", true],
    ['api/work/tasks/routes.ts', "import knex from 'knex';", true],
    ['api/work/tasks/routes.ts', "import { b } from '../../http/paging.js';", true],
    ['api/work/tasks/routes.ts', "import { b } from '../../web/server/session.js';", true],
    ['api/work/tasks/routes.ts', "import { b } from '../../platform/endpoint/endpoint.js';", false],
    ['api/work/tasks/rules.ts', "import { z } from 'zod';", true],
    ['api/work/tasks/rules.ts', "import { b } from '../../platform/errors.js';", true],
    ['api/work/tasks/rules.ts', "import type { b } from '../../platform/errors.js';", false],
    ['api/http/a.ts', "import { b } from '../../db/models/b.js';", true],
    ['api/web/a.ts', "import { b } from '../http/envelope.js';", true],
    ['api/web/a.ts', "import { b } from '../platform/endpoint/rate-limit.js';", false],
    ['workflows/a.ts', "import { readFileSync as b } from 'node:fs';", true],
    ['workflows/a.ts', "import { z as b } from 'zod';", true],
    ['workflows/a.ts', "import { b } from '../db/b.js';", true],
    ['workflows/a.ts', "import { b } from '../api/work/tasks/write/create-task.js';", true],
    ['workflows/a.ts', "import { b } from '../api/work/tasks/rules.js';", false],
    ['activities/a.ts', "import Koa from 'koa';", true],
    ['activities/a.ts', "import { b } from '../api/http/app.js';", true],
    ['activities/a.ts', "import { b } from '../api/work/tasks/routes.js';", true],
    ['activities/a.ts', "import { b } from '../api/work/tasks/write/create-task.js';", false],
    ['db/a.ts', "import { b } from '../api/platform/errors.js';", true],
  ];

  it('refuses each planted import and no other', async () => {
    const base = mkdtempSync(join(tmpdir(), 'assent-layers-'));
    try {
      // One file an import, in a place of its own with the same layer and the same depth.
      const places = PLANTED.map(([file], at) => file.replace('/tasks/', `/slice${at}/`).replace(/\/a\.ts$/, `/a${at}.ts`));
      for (const [at, [, line]] of PLANTED.entries()) {
        const place = join(base, places[at] as string);
        mkdirSync(dirname(place), { recursive: true });
        writeFileSync(place, `${line}\nexport const used = null as unknown as typeof b;\n`);
      }
      for (const file of ['.oxlintrc.json', 'scripts/lint']) cpSync(join(root, file), join(base, file), { recursive: true });
      const oxlint = join(root, 'node_modules', 'oxlint', 'bin', 'oxlint');
      const { stdout } = await run(process.execPath, [oxlint, '--format', 'unix'], { cwd: base }).catch(
        (error: unknown) => error as { stdout: string },
      );
      const refused = stdout.split('\n').filter((line) => /no-restricted-imports|layers/.test(line));
      const judged = PLANTED.map(([file, line], at) => [file, line, refused.some((text) => text.includes(`${places[at]}:`))]);
      expect(judged).toEqual(PLANTED);
    } finally {
      rmSync(base, { recursive: true, force: true });
    }
  });
});
