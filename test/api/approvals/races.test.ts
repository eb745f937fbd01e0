import { readGate } from '../../../api/automation/runs/approvals/read-gate.js';
import { buildPerson, buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../../factories/people.js';
import { buildRun, GATE, type TestRun } from '../../factories/runs.js';
import { startApp, type TestApp } from '../../support/app.js';
import { waitingForLocks } from '../../support/in-turn.js';
import { StandStill } from '../../support/stand-still.js';
import { until } from '../../support/worker.js';

// The deadline of a gate races those who decide it and those who end its run. One of them wins, and every record tells of the same one.

/** `npm run test:long` plays each race far more often. */
const ROUNDS = Number(process.env['CAS_ROUNDS'] ?? 3);
const LONG = 120_000 + ROUNDS * 4_000;

let app: TestApp;
let still: StandStill;
let team: TestTeam;
let other: Person;
let task: { task_id: string };
beforeAll(async () => {
  app = await startApp({}, 60_000);
  still = new StandStill(app);
  await still.open();
  await still.at('cancelled', {
    table: 'automation_runs',
    when: 'deferred update',
    condition: "new.status = 'cancelled' and old.status = 'paused'",
  });
});
afterAll(async () => {
  await still.close();
  await app.close();
});
beforeEach(async () => {
  team = await buildTeam(app);
  other = await buildPerson(app);
  await db()('memberships').insert({ team_id: team.team_id, user_id: other.user_id, role: 'manager' });
  task = await buildTask(app, team, await buildProject(app, team), { title: 'Rotate the keys' });
});

const db = () => app.services.db;
const times = <T>(count: number, of: (nth: number) => T): T[] => Array.from({ length: count }, (_, nth) => of(nth));
const read = ({ run_id }: TestRun) => readGate(app.services, run_id, 0, 'an-execution');
const toGateView = ({ run_id }: TestRun) => db()('gates').where({ run_id }).first();
const getStatus = async ({ run_id }: TestRun): Promise<string> =>
  (await db()('automation_runs').where({ run_id }).first()).status;
const buildActions = ({ run_id }: TestRun) => db()('run_actions').where({ run_id }).orderBy('index').pluck<string[]>('status');
const update = (title: string) => ({ type: 'update_task', params: { task_id: task.task_id, title } });

/** Gates of one automation, staged, with the hashes that a reader has seen. */
async function gates(count: number): Promise<{ run: TestRun; item: { kind: string; id: string; staged_hash: string } }[]> {
  const first = await buildRun(app, team, { actions: [GATE, update('New')] });
  const runs = [first];
  while (runs.length < count) runs.push(await buildRun(app, team, { automation: first }));
  // A reading stages as many gates as its time allows.
  const listed = await until(async () => {
    const { body } = await app.as(team.manager).get(`/api/approvals?team_id=${team.team_id}&limit=100`);
    const rows = body as { id: string; staged_hash: string; seen_hash: string | null }[];
    return rows.every(({ seen_hash }) => seen_hash !== null) ? rows : undefined;
  });
  const hashes = new Map(listed.map(({ id, staged_hash }) => [id, staged_hash]));
  return runs.map((run) => ({ run, item: { kind: 'gate', id: run.run_id, staged_hash: hashes.get(run.run_id) as string } }));
}
/** Milliseconds from now, one a gate. */
const lapseIn = (runs: TestRun[], ms: number[]) =>
  db().raw(
    /* sql */ `
      with moved as (
        update gates g set expires_at = clock_timestamp() + t.ms * interval '1 ms' from unnest(?::uuid[], ?::int[]) as t(run_id, ms)
        where g.run_id = t.run_id returning g.run_id, g.expires_at
      ) update automation_runs r set gate_expires_at = m.expires_at from moved m where m.run_id = r.run_id`,
    [runs.map(({ run_id }) => run_id), ms],
  );
/** What the log says of each run. */
async function logged(): Promise<Map<string, string[]>> {
  const { rows } = await db().raw(
    /* sql */ `
      select g.run_id, array_agg(d.state || ' ' || coalesce(d.decided_by::text, 'nobody')) as states
      from gates g join automation_runs r using (run_id)
      join decision_log d on d.kind = 'gate' and d.source = r.automation_id::text and d.requested_at = g.requested_at
      where r.team_id = ? group by g.run_id`,
    [team.team_id],
  );
  return new Map((rows as { run_id: string; states: string[] }[]).map(({ run_id, states }) => [run_id, states]));
}
const figures = async () => (await app.as(team.guest).get(`/api/approvals/figures?team_id=${team.team_id}`)).body.figures;

type Result = { id: string; status?: string; error_code?: string; reason?: string };
const decide = (person: Person, mode: 'each' | 'all', items: object[]) =>
  app.as(person).post('/api/approvals/decide', { decision: 'approve', mode, items });

/** Checks that a gate has one end in all records, and that everybody was told the same. Returns whether it was approved. */
async function checkEnd(run: TestRun, results: Result[], log: string[] | undefined): Promise<boolean> {
  const { decision, decided_by, decided_at, expires_at, lapsed_at } = await toGateView(run);
  const approvals = await db()('gate_approvals').where({ run_id: run.run_id }).pluck('user_id');
  const entries = await db()('audit_entries').where({ entity_id: run.run_id, action: 'approve' }).pluck('user_id');
  const codes = results.map(({ status, error_code, reason }) => reason ?? error_code ?? status ?? '').toSorted();
  if (decision === null) {
    expect({ codes: new Set(codes), approvals, entries, log }).toEqual({
      codes: new Set(['APPROVAL_EXPIRED']),
      approvals: [],
      entries: [],
      log: ['expired nobody'],
    });
    expect(lapsed_at.getTime()).toBeGreaterThanOrEqual(expires_at.getTime());
    expect([await getStatus(run), await buildActions(run)]).toEqual(['paused', ['running', 'staged']]);
    const late = await app.as(team.admin).post(`/api/automations/runs/${run.run_id}/approve`, {});
    expect([late.status, late.body.error_code]).toEqual([410, 'APPROVAL_EXPIRED']);
    return false;
  }
  const isOthers = decided_by === other.user_id;
  expect(codes).toEqual(isOthers ? ['RESOURCE_CONFLICT', 'RESOURCE_CONFLICT'] : ['RESOURCE_CONFLICT', 'running']);
  expect({ decision, lapsed_at, approvals, entries, log }).toEqual({
    decision: 'approved',
    lapsed_at: null,
    approvals: [decided_by],
    entries: [decided_by],
    log: [`approved ${decided_by}`],
  });
  expect(decided_at.getTime()).toBeLessThanOrEqual(expires_at.getTime());
  expect([await getStatus(run), await buildActions(run)]).toEqual(['running', ['succeeded', 'pending']]);
  return true;
}

it.each(times(ROUNDS, (round) => [round]))(
  'batches from both ends at the deadline: each gate is approved or has expired, never both (%#)',
  async (round) => {
    const all = await gates(30);
    const runs = all.map(({ run }) => run);
    const items = all.map(({ item }) => item);
    // Five have lapsed, five have time, and the deadlines of the others fall somewhere into the race.
    await lapseIn(
      runs,
      runs.map((_, at) => (at < 5 ? -1 : at < 25 ? (at - 5) * (10 + 20 * (round % 3)) : 3_600_000)),
    );
    let isOver = false;
    const readers = async () => {
      while (!isOver) for (const run of runs) await read(run);
    };
    const groups = [
      [3, 4, 5],
      [8, 9],
      [14, 15, 16],
      [20, 21],
      [27, 28],
    ].map((group) => group.map((at) => items[at] as object));
    const reading = readers();
    const [each, together] = await Promise.all([
      Promise.all([decide(team.manager, 'each', items), decide(team.admin, 'each', items.toReversed())]),
      Promise.all(groups.map((group) => decide(other, 'all', group))),
    ]);
    isOver = true;
    await reading;
    await until(
      async () =>
        (await db().raw('select clock_timestamp() as at')).rows[0].at > (await toGateView(runs[24] as TestRun)).expires_at,
    );
    for (const run of runs) await read(run);

    const results = each.flatMap(({ body }) => body.results as Result[]);
    const log = await logged();
    const approved: boolean[] = [];
    for (const run of runs) {
      const own = results.filter(({ id }) => id === run.run_id);
      approved.push(await checkEnd(run, own, log.get(run.run_id)));
    }
    expect([approved.slice(0, 5), approved.slice(25)]).toEqual([times(5, () => false), times(5, () => true)]);
    for (const [at, { status }] of together.entries()) {
      const ids = (groups[at] as { id: string }[]).map(({ id }) => id);
      const decided = await db()('gates').whereIn('run_id', ids).where({ decided_by: other.user_id });
      expect(decided).toHaveLength(status === 200 ? ids.length : 0);
      expect([200, 409, 410]).toContain(status);
    }
    expect(together[0]?.status).not.toBe(200);
    const count = approved.filter(Boolean).length;
    expect(await figures()).toMatchObject([{ count: 30, approved: count, expired: 30 - count, rejected: 0, cancelled: 0 }]);
  },
  LONG,
);

it('a run that is cancelled after the deadline, while its gate is marked, counts once', async () => {
  const [first, second, third] = (await gates(3)).map(({ run }) => run) as [TestRun, TestRun, TestRun];
  await lapseIn([first, second, third], [-1, -1, -1]);
  const cancel = ({ run_id }: TestRun) => app.as(team.manager).post(`/api/automations/runs/${run_id}/cancel`, {});
  // The first one is cancelled within COMMIT, where nobody hears of it, when its gate is read.
  await still.hold('cancelled', team.team_id);
  const cancelling = cancel(first);
  await until(async () => (await still.standing()) === 1);
  let isRead = false;
  const reading = read(first).then(() => (isRead = true));
  await until(async () => isRead || (await waitingForLocks(app)) === 1);
  await still.release();
  await reading;
  const answers = [await cancelling, await cancel(second)];
  await read(third);
  answers.push(await cancel(third));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  for (const run of [first, second, third]) await read(run);
  const log = await logged();
  expect([first, second, third].map(({ run_id }) => log.get(run_id))).toEqual([
    ['cancelled nobody'],
    ['cancelled nobody'],
    ['expired nobody'],
  ]);
  expect(await figures()).toMatchObject([{ count: 3, cancelled: 2, expired: 1, approved: 0, rejected: 0 }]);
});
