/** A run that its condition skips keeps no event and few bytes; a team keeps so many an hour, and the others are counted. */
import { fireSchedule } from '../../api/automation/definitions/schedule/fire-schedule.js';
import type { Context } from '../../api/platform/context.js';
import { deleteExpiredRuns } from '../../api/automation/runs/delete-expired-runs.js';
import { countNotKept, searchRuns } from '../../api/automation/runs/search-runs.js';
import { comment } from '../factories/automations.js';
import { buildTeam, type TestTeam } from '../factories/people.js';
import { buildRun, skippedRuns } from '../factories/runs.js';
import { startApp, type TestApp } from '../support/app.js';
import { crowd, pending } from './crowd.js';
import { type KillableRelay, makeDue, openRelay } from './support.js';

const LIMIT = 100;
const NEVER = 'event.task.title == "never"';

let app: TestApp;
let team: TestTeam;
const relays: KillableRelay[] = [];

beforeEach(async () => {
  app = await startApp({ SKIPPED_RUNS_PER_HOUR: String(LIMIT) });
  team = await buildTeam(app);
});
afterEach(async () => {
  await Promise.all(relays.splice(0).map((relay) => relay.close().catch(() => undefined)));
  await app.close();
});

const db = () => app.services.db;
const open = (): KillableRelay => {
  const relay = openRelay(app);
  relays.push(relay);
  return relay;
};
/** Passes of all relays side by side, until no event is left. */
const drain = async (...all: KillableRelay[]): Promise<void> => {
  while ((await db()('outbox').where({ kind: 'event' })).length > 0) {
    await Promise.all(all.map(({ relay }) => relay.match().catch(() => 0)));
    await makeDue(app);
  }
};
const listIds = ({ team_id }: TestTeam): Promise<string[]> =>
  db()('automations').where({ team_id }).orderBy('automation_id').pluck('automation_id');
const buildContext = ({ manager }: TestTeam): Context => ({
  ...app.services,
  actor: {
    type: 'user',
    userId: manager.user_id,
    email: manager.email,
    role: 'user',
    sessionId: '',
    impersonatorId: null,
  } as Context['actor'],
  requestId: '',
  correlationId: '',
  ip: null,
  userAgent: null,
});
/** Rows of the table, counts of the hour, and counts of the automations. */
async function readCounts(one: TestTeam) {
  const kept = (await skippedRuns(app, { team_id: one.team_id })).length;
  const hours = await db()('skipped_run_budgets').where({ owner_id: one.team_id });
  const sum = (name: string) => hours.reduce((total, row) => total + row[name], 0);
  const { body } = await app.as(one.manager).get('/api/automations');
  const field = (name: string) => body.reduce((total: number, row: Record<string, number>) => total + (row[name] as number), 0);
  return { kept, hour: [sum('kept'), sum('not_kept')], runs: field('run_count'), notKept: field('skipped_not_kept') };
}

it('a skipped run is listed, read and found without its event, with its actions and why it was skipped', async () => {
  await crowd(app, team, { automations: 1, condition: 'event.nothing', actions: 2 });
  await pending(app, team, 2);
  await drain(open());
  const [automation_id] = await listIds(team);
  const client = app.as(team.member);
  const listed = await client.get(`/api/automations/${automation_id}/runs`);
  expect(listed.body).toHaveLength(2);
  const [one] = listed.body;
  expect(one).toMatchObject({
    automation_id,
    automation_name: 'Crowd 1',
    automation_version: 1,
    team_id: team.team_id,
    status: 'skipped',
    skip_reason: 'condition_false',
    condition_error: expect.stringContaining('nothing'),
    trigger_type: 'task.created',
    event_truncated: false,
    triggered_by: team.manager.user_id,
    depth: 0,
    queued_at: expect.any(String),
    finished_at: one.queued_at,
    started_at: null,
    workflow_id: null,
    actions: [0, 1].map((index) => ({ index, type: 'add_comment', status: 'skipped', attempts: 0 })),
  });
  expect((await client.get(`/api/automations/runs/${one.run_id}`)).body).toEqual({ ...one, event: {} });
  expect((await client.get(`/api/automations/${automation_id}/runs?status=skipped`)).body).toEqual(listed.body);
  expect((await client.get(`/api/automations/${automation_id}/runs?status=failed`)).body).toEqual([]);
  expect((await client.get(`/api/automations/${automation_id}`)).body).toMatchObject({
    run_count: 2,
    skipped_not_kept: 0,
    last_run_at: one.queued_at,
    last_run_status: 'skipped',
  });
  const stranger = await buildTeam(app);
  expect((await app.as(stranger.admin).get(`/api/automations/runs/${one.run_id}`)).status).toBe(403);
  expect(await db()('automation_runs')).toEqual([]);
});

it('pages go on from one table to the other, also from a row that an older version wrote', async () => {
  await crowd(app, team, { automations: 1, condition: NEVER });
  await pending(app, team, 3);
  await drain(open());
  const [automation_id] = (await listIds(team)) as [string];
  const at = (await skippedRuns(app)).map(({ run_id }) => new Date(Number.parseInt(run_id.replace('-', '').slice(0, 12), 16)));
  const between = new Date((at[0] as Date).getTime() - 1);
  const after = new Date((at.at(-1) as Date).getTime() + 1);
  for (const [status, queued_at] of [
    ['skipped', between],
    ['failed', after],
  ] as const)
    await buildRun(app, team, { status, automation: { automation_id }, fields: { queued_at, skip_reason: null } });
  const all: string[] = (await app.as(team.member).get(`/api/automations/${automation_id}/runs`)).body.map(
    (run: { run_id: string }) => run.run_id,
  );
  expect(all).toHaveLength(5);
  for (let offset = 0; offset < 5; offset += 1) {
    const { body } = await app.as(team.member).get(`/api/automations/${automation_id}/runs?limit=2&offset=${offset}`);
    expect(body.map((run: { run_id: string }) => run.run_id)).toEqual(all.slice(offset, offset + 2));
  }
  const splitIntoPages = async (state?: 'skipped') => {
    const seen: string[] = [];
    for (let before: string | undefined; ; before = seen.at(-1)) {
      const [next] = await searchRuns(buildContext(team), { limit: 1, before, state });
      if (!next) return seen;
      seen.push(next.run_id);
    }
  };
  expect(await splitIntoPages()).toEqual(all);
  expect(await splitIntoPages('skipped')).toEqual(all.slice(1));
  const day = (offset: number) => new Date((at[0] as Date).getTime() + offset).toISOString();
  const found = await searchRuns(buildContext(team), { limit: 10, since: day(0), until: day(1) });
  expect(found.map(({ run_id }) => run_id)).toEqual(all.slice(1, 4).filter((id) => found.some((run) => run.run_id === id)));
  expect(found.length).toBeGreaterThan(0);
});

it('100 automations and 30 events of 48 kB: at most 200 bytes each, and no event', async () => {
  app.services.config.SKIPPED_RUNS_PER_HOUR = 10_000;
  const size = async () =>
    Number(
      (
        await db().raw<{ rows: { size: string }[] }>(
          `select pg_relation_size('skipped_runs') + pg_indexes_size('skipped_runs') as size`,
        )
      ).rows[0]?.size,
    );
  await crowd(app, team, { automations: 100, condition: 'event.nothing_of_this_name == 1' });
  const before = await size();
  await pending(app, team, 30, { description: 'x'.repeat(48_000) });
  await drain(open());
  const { kept, hour, runs } = await readCounts(team);
  expect([kept, hour, runs]).toEqual([3_000, [3_000, 0], 3_000]);
  expect(((await size()) - before) / kept).toBeLessThan(200);
  expect(await db()('automation_runs')).toEqual([]);
  expect(await db()('run_actions')).toEqual([]);
}, 60_000);

it('two workers keep exactly what the hour allows, and count every other', async () => {
  const other = await buildTeam(app);
  await crowd(app, team, { automations: 30, condition: NEVER });
  await crowd(app, other, { automations: 1, condition: NEVER });
  await pending(app, team, 20);
  await pending(app, other, 3);
  await drain(open(), open());
  expect(await readCounts(team)).toEqual({ kept: LIMIT, hour: [LIMIT, 500], runs: 600, notKept: 500 });
  expect(await readCounts(other)).toEqual({ kept: 3, hour: [3, 0], runs: 3, notKept: 0 });
  expect(await countNotKept(buildContext(team))).toBe(500);
  expect(await countNotKept(buildContext(other))).toBe(0);
  // The next hour has its own.
  await db()('skipped_run_budgets').update({ hour: db().raw(`hour - interval '1 hour'`) });
  await pending(app, team, 1);
  await drain(open());
  expect(await readCounts(team)).toEqual({ kept: LIMIT + 30, hour: [LIMIT + 30, 500], runs: 630, notKept: 500 });
});

it.each(['skipped_runs', 'skipped_run_budgets', 'automation_counts'])(
  'a worker that is killed as it writes %s counts nothing twice',
  async (table) => {
    await crowd(app, team, { automations: 30, condition: NEVER });
    await pending(app, team, 5);
    const dying = open();
    const blocker = await db().transaction();
    await blocker.raw(`lock table ${table} in access exclusive mode`);
    const { ended } = await dying.begin(() => dying.relay.match());
    await dying.kill();
    await ended;
    await blocker.rollback();
    await makeDue(app);
    await drain(open());
    expect(await readCounts(team)).toEqual({ kept: LIMIT, hour: [LIMIT, 50], runs: 150, notKept: 50 });
  },
);

it('a time of a schedule is skipped once, and does not fire when its condition holds later', async () => {
  const made = await app.as(team.manager).post('/api/automations', {
    name: 'Nightly',
    trigger_type: 'schedule',
    schedule_cron: '* * * * *',
    team_id: team.team_id,
    condition: 'event.type == "never"',
    actions: [comment('x')],
  });
  const { automation_id } = made.body;
  const minute = new Date(Math.floor(Date.now() / 60_000) * 60_000).toISOString();
  const fire = () => fireSchedule(app.services, automation_id, minute);
  expect(await fire()).toMatch(/^skipped/);
  expect(await fire()).toMatch(/already/);
  await app.as(team.manager).patch(`/api/automations/${automation_id}`, { condition: null });
  expect(await fire()).toMatch(/already/);
  expect((await app.as(team.manager).get(`/api/automations/${automation_id}/runs`)).body).toMatchObject([
    { trigger_type: 'schedule', status: 'skipped', triggered_by: null, queued_at: minute },
  ]);
});

it('a run that a person started and its condition skipped keeps no event either', async () => {
  await crowd(app, team, { automations: 1, condition: NEVER });
  const [automation_id] = await listIds(team);
  const { body } = await app
    .as(team.manager)
    .post(`/api/automations/${automation_id}/test`, { event: { task: { title: 'other' }, secret: 'x' } });
  expect(body.status).toBe('skipped');
  const run = (await app.as(team.manager).get(`/api/automations/runs/${body.run_id}`)).body;
  expect(run).toMatchObject({ status: 'skipped', is_test: true, trigger_type: 'manual', event: {} });
});

it('skipped runs and counts of the hours are deleted in their time', async () => {
  await crowd(app, team, { automations: 1, condition: NEVER });
  await pending(app, team, 1);
  await drain(open());
  await pending(app, team, 1);
  await db()('outbox').update({ created_at: db().raw(`now() - interval '8 days'`) });
  await drain(open());
  await db()('skipped_run_budgets').insert({ hour: new Date(0), owner_id: team.team_id, kept: 1, not_kept: 0 });
  expect(await deleteExpiredRuns(app.services)).toBe(1);
  expect(await skippedRuns(app)).toHaveLength(1);
  expect(await db()('skipped_run_budgets')).toMatchObject([{ kept: 2 }]);
  expect(await deleteExpiredRuns(app.services)).toBe(0);
});
