/**
 * Lists read what is the caller's: beside 150,000 rows of strangers, and also for whoever owns 150,000. Judged by the rows and blocks
 * that PostgreSQL reads for the statements that the requests really send, on the plan that a connection settles on.
 */
import type { Knex } from 'knex';
import { countRunsByDay, listAutomationNames, type SearchRuns, searchRuns } from '../../../../api/automation/runs/search-runs.js';
import { dayRange, lastDays } from '../../../../api/web/wording/day-range.js';
import { openDatabase } from '../../../../db/connection.js';
import { buildAutomation, comment, gate, setStatus } from '../../../factories/automations.js';
import { buildPerson, buildTeam, type Person, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { givePasswords, signIn } from '../../web/browser.js';
import { explain, nodesOf, type PlanNode } from '../../../support/plans.js';
import { captureStatements } from '../../../support/statements.js';

const CROWD = 150_000;
/** Of one statement; a block is 8 kB. The largest lists here have fifty rows with all that hangs on them. */
const MAX_BLOCKS = 1_500;
const MAX_ROWS = 1_500;

let app: TestApp;
/** A user with few rows. */
let small: TestTeam;
/** A user with 150,000 rows of each kind. */
let large: TestTeam;
let mine: { automation_id: string };
let theirs: { automation_id: string };

/** No statement timeout, because seeding takes long. */
let planting: Knex;
const db = () => planting;
const actions = [{ ...setStatus('done'), on_failure: 'continue' as const }];

/** 150,000 failed runs of one automation, and 30,000 at a gate with eight staged actions each. */
const growRuns = (automationId: string) =>
  db().raw(
    /* sql */ `
    with runs as (
      insert into automation_runs (run_id, automation_id, automation_version, automation_name, team_id, creator_id, status, trigger_type,
        event, correlation_id, queued_at, finished_at, gate_expires_at)
      select uuidv7(), a.automation_id, 1, a.name, a.team_id, a.created_by, case when i % 6 = 0 then 'paused' else 'failed' end,
        a.trigger_type, jsonb_build_object('receipt_id', uuidv7()), uuidv7(), now() - i * interval '1 second',
        case when i % 6 <> 0 then now() - i * interval '1 second' end, case when i % 6 = 0 then now() + i * interval '1 second' end
      from automations a, generate_series(1, :count::int) i where a.automation_id = :automationId
      returning run_id, status
    ), staged as (
      insert into run_actions (run_id, index, type, status)
      select run_id, index, 'add_comment', 'staged' from runs, generate_series(1, 8) index where status = 'paused'
    )
    insert into gates (run_id, gate_index, required_role, expires_at)
    select run_id, 0, 'manager', now() + interval '1 day' from runs where status = 'paused'`,
    { automationId, count: (CROWD * 6) / 5 },
  );

/** As many skipped ones, 50 of them at the same time each. */
const growSkipped = (automationId: string) =>
  db().raw(
    /* sql */ `
    insert into skipped_runs (run_id, automation_id, automation_version, depth, is_loop)
    select overlay(uuidv7()::text placing left(uuid_at(now() - i / 50 * interval '1 second')::text, 14) from 1)::uuid,
      :automationId, 1, 0, false
    from generate_series(1, :count::int) i`,
    { automationId, count: CROWD },
  );

/** Many other teams with an automation each. */
const growAutomations = () =>
  db().raw(/* sql */ `
    with teams as (
      insert into teams (name, created_by) select 'crowd', user_id from users, generate_series(1, 400) limit 2000 returning team_id, created_by
    ), automations as (
      insert into automations (name, trigger_type, team_id, created_by, updated_by)
      select 'crowd', 'task.created', team_id, created_by, created_by from teams, generate_series(1, 10) returning automation_id, created_by
    )
    insert into automation_versions (automation_id, version, name, trigger_type, actions, changed_by)
    select automation_id, 1, 'crowd', 'task.created', '[]', created_by from automations`);

const growRest = (team: TestTeam) =>
  db().raw(
    /* sql */ `
    with told as (
      insert into notifications (user_id, team_id, kind, message, read_at)
      select :user_id, :team_id, 'message', 'x', case when i % 2 = 0 then now() end from generate_series(1, :count::int) i
    ), bound as (
      insert into forge_repositories (repo, team_id, created_by) values ('crowd/repo', :team_id, :user_id)
    )
    insert into forge_deliveries (delivery_id, event, repo, body_sha256, outcome)
    select 'd' || i, 'push', 'crowd/repo', '\\x00', 'applied' from generate_series(1, :count::int) i`,
    { user_id: team.admin.user_id, team_id: team.team_id, count: CROWD },
  );

beforeAll(async () => {
  app = await startApp();
  planting = openDatabase({ url: app.database.url, poolSize: 1, name: 'planting', statementTimeout: 0 });
  [small, large] = [await buildTeam(app), await buildTeam(app)];
  mine = await buildAutomation(app, small, { actions });
  const quoting = { ...comment('{{event.receipt_id}} {{event.task.title}}', 'x'), on_failure: 'continue' as const };
  theirs = await buildAutomation(app, large, {
    actions: [{ ...gate(), on_failure: 'stop' as const }, ...Array.from({ length: 8 }, () => quoting)],
  });
  await growAutomations();
  await growRuns(theirs.automation_id);
  await growSkipped(theirs.automation_id);
  await growRest(large);
  await db().raw(/* sql */ `insert into forge_deliveries (delivery_id, event, repo, body_sha256, outcome)
    values ('mine', 'push', 'small/repo', '\\x00', 'applied')`);
  await db()('forge_repositories').insert({ repo: 'small/repo', team_id: small.team_id, created_by: small.admin.user_id });
  await db()('automation_runs').insert(
    ['failed', 'succeeded'].map((status) => ({
      run_id: db().raw('uuidv7()'),
      automation_id: mine.automation_id,
      automation_version: 1,
      automation_name: 'mine',
      team_id: small.team_id,
      creator_id: small.admin.user_id,
      status,
      trigger_type: 'task.created',
      correlation_id: db().raw('uuidv7()'),
      finished_at: db().fn.now(),
    })),
  );
  await db().raw('vacuum analyze');
}, 600_000);
afterAll(async () => {
  await planting.destroy();
  await app.close();
});

const blocks = (top: PlanNode) => (top['Shared Hit Blocks'] ?? 0) + (top['Shared Read Blocks'] ?? 0);
/** Most rows that one step looked at, all its loops together. */
const rowsRead = (top: PlanNode) =>
  Math.max(
    ...nodesOf(top)
      .filter((node) => node['Relation Name'])
      .map((node) => (node['Actual Loops'] ?? 0) * ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0))),
  );

/** Returns the statements that read too much, by request. */
async function greedy(requests: Record<string, () => Promise<{ status: number }>>): Promise<string[]> {
  const found: string[] = [];
  for (const [what, request] of Object.entries(requests)) {
    let status = 0;
    const sent = await captureStatements(async () => {
      ({ status } = await request());
    });
    if (status !== 200) found.push(`${what}: ${status}`);
    for (const statement of sent) {
      const top = await explain(app.database.url, statement);
      if (blocks(top) > MAX_BLOCKS || rowsRead(top) > MAX_ROWS)
        found.push(`${what}: ${statement.name} reads ${blocks(top)} blocks, ${rowsRead(top)} rows`);
    }
  }
  return found;
}

const lists = (who: Person, { team_id }: TestTeam, { automation_id }: { automation_id: string }) => {
  const client = app.as(who);
  const get = (path: string) => () => client.get(path);
  const runs = `/api/automations/${automation_id}/runs`;
  return {
    'dead letters': get('/api/automations/dead-letter'),
    'dead letters of a team': get(`/api/automations/dead-letter?team_id=${team_id}`),
    automations: get('/api/automations'),
    'automations of a team': get(`/api/automations?team_id=${team_id}`),
    'one automation': get(`/api/automations/${automation_id}`),
    runs: get(runs),
    'failed runs': get(`${runs}?status=failed`),
    'skipped runs': get(`${runs}?status=skipped`),
    'succeeded runs': get(`${runs}?status=succeeded`),
    approvals: get('/api/automations/approvals'),
    notifications: get('/api/notifications'),
    'unread notifications': get('/api/notifications?unread=true'),
    deliveries: get(`/api/forge/deliveries?team_id=${team_id}`),
    'bound repositories': get(`/api/forge/repositories?team_id=${team_id}`),
  };
};
const buildContext = (who: Person) => {
  const { userId, ...rest } = { userId: who.user_id, requestId: '', correlationId: '', ip: null, userAgent: null };
  const actor = { type: 'user', userId, email: who.email, role: 'user', sessionId: '', impersonatorId: null } as const;
  return { ...app.services, ...rest, actor };
};
/** What the page of runs asks for: its filters, the page after the first one, and the choice of automations. */
const searches = (who: Person, { automation_id: automationId }: { automation_id: string }) => {
  const ctx = buildContext(who);
  const search = (filter: Omit<SearchRuns, 'limit'>) => async () => {
    await searchRuns(ctx, { ...filter, limit: 20 });
    return { status: 200 };
  };
  const { startsAt: since, endsAt: until } = dayRange(lastDays(1, 'UTC')[0] as string, 'UTC');
  return {
    'recent runs': search({}),
    'runs of an automation': search({ automationId }),
    'runs that failed today': search({ state: 'failed', since, until }),
    'skipped runs of today': search({ state: 'skipped', since }),
    'runs that wait': search({ state: 'paused', automationId }),
    'runs that were rejected': search({ state: 'rejected' }),
    'runs that were skipped long ago': search({ state: 'skipped', until: '2020-01-01T00:00:00Z' }),
    'the next page of runs': async () => {
      const last = (await searchRuns(ctx, { limit: 20 })).at(-1);
      return search({ before: last?.run_id })();
    },
    'names of automations': async () => {
      await listAutomationNames(ctx, 200);
      return { status: 200 };
    },
  };
};
const days = lastDays(14, 'UTC').map((day) => dayRange(day, 'UTC'));

it('beside 150,000 rows of strangers a list reads what is the caller’s', async () => {
  expect(await greedy({ ...lists(small.admin, small, mine), ...searches(small.admin, mine) })).toEqual([]);
}, 300_000);

it('reads few rows for a user without a team', async () => {
  const person = await buildPerson(app);
  const client = app.as(person);
  const paths = ['/api/automations', '/api/automations/dead-letter', '/api/automations/approvals', '/api/notifications'];
  const requests = Object.fromEntries(paths.map((path) => [path, () => client.get(path)]));
  expect(await greedy({ ...requests, ...searches(person, mine) })).toEqual([]);
}, 300_000);

it('reads one page and the total for the owner of 150,000', async () => {
  const { approvals: _counts, ...paged } = lists(large.admin, large, theirs);
  expect(await greedy({ ...paged, ...searches(large.admin, theirs) })).toEqual([]);
  const { body } = await app.as(large.admin).get('/api/automations/dead-letter?limit=3');
  expect([body.total, body.showing]).toEqual([CROWD, 3]);
  const one = await app.as(large.admin).get(`/api/automations/${theirs.automation_id}`);
  expect(one.body).toMatchObject({ run_count: (CROWD * 6) / 5, failed_count: CROWD });
}, 300_000);

it('the page of approvals reads no more than its fifty cards', async () => {
  await givePasswords(app);
  for (const who of [small.admin, large.admin]) {
    const browser = await signIn(app, who);
    const cards = new Set<string>();
    const page = (path: string) => async () => {
      const { status, html } = await browser.get(path);
      for (const [, run] of html.matchAll(/id="gate-([^"]+)"/g)) cards.add(run as string);
      next = /href="([^"]+)" rel="next"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? path;
      return { status };
    };
    let next = '/app/approvals?live';
    for (const nth of ['first', 'second', 'third']) expect(await greedy({ [`${nth} page`]: page(next) })).toEqual([]);
    expect([cards.size, next]).toEqual(
      who === large.admin ? [150, expect.stringMatching(/^\/app\/approvals\?after=/)] : [0, '/app/approvals?live'],
    );
  }
}, 300_000);

it('the strip of days stops counting, and counts no more automations than a page may', async () => {
  const strip = async (who: Person, automationId?: string) => {
    const sent = await captureStatements(async () => void (await countRunsByDay(buildContext(who), days, automationId)));
    const plans = await Promise.all(sent.map((statement) => explain(app.database.url, statement)));
    return { blocks: Math.max(...plans.map(blocks)), rows: Math.max(...plans.map(rowsRead)) };
  };
  // One probe and at most 100 runs for each of 14 days and 2 states.
  const most = { blocks: 28 * 104, rows: 28 * 100 };
  const asked = [
    strip(small.admin),
    strip(small.admin, mine.automation_id),
    strip(large.admin),
    strip(large.admin, theirs.automation_id),
  ];
  for (const read of await Promise.all(asked)) {
    expect([read.blocks <= most.blocks, read.rows <= most.rows, read]).toEqual([true, true, read]);
  }
  const counted = await countRunsByDay(buildContext(large.admin), days, theirs.automation_id);
  expect(counted?.filter(({ capped }) => capped).length).toBeGreaterThan(0);
  await db().raw(
    /* sql */ `insert into automations (name, trigger_type, team_id, created_by, updated_by)
    select 'one of many', 'task.created', :team_id, :user_id, :user_id from generate_series(1, 120)`,
    { team_id: small.team_id, user_id: small.admin.user_id },
  );
  expect(await countRunsByDay(buildContext(small.admin), days, undefined)).toBeNull();
  expect(await countRunsByDay(buildContext(small.admin), days, mine.automation_id)).toHaveLength(28);
}, 300_000);
