/** The relay without Temporal: killed, concurrent, with poison rows and delays. Only its changes of the rows are asserted. */
import { v7 as uuidv7 } from 'uuid';
import type { Dispatch } from '../../activities/runs/automation-runs.js';
import { type Context, inTransaction } from '../../api/platform/context.js';
import { createTask } from '../../api/work/tasks/write/create-task.js';
import { buildAutomation, comment } from '../factories/automations.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../factories/people.js';
import { startApp, type TestApp } from '../support/app.js';
import { age, type KillableRelay, makeDue, openRelay, rounds } from './support.js';

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
const relays: KillableRelay[] = [];

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
});
afterEach(async () => {
  await Promise.all(relays.splice(0).map((relay) => relay.close().catch(() => undefined)));
  await disarm();
  await db()('outbox').delete();
});

const db = () => app.services.db;
const disarm = () => db()('automations').update({ is_active: false });
const open = (dispatch?: (row: Dispatch) => Promise<void>): KillableRelay => {
  const relay = openRelay(app, dispatch);
  relays.push(relay);
  return relay;
};
const buildRuns = (automation: { automation_id: string }) => db()('automation_runs').where(automation);
const waiting = (where: object = {}) => db()('outbox').where(where).orderBy('outbox_id');
const armed = async () => {
  await disarm();
  return buildAutomation(app, team, { actions: [comment('seen')] });
};
const away = () => Promise.reject(new Error('Temporal is away'));

/** A dispatcher that remembers what it was handed. */
function recorder(): { handed: Dispatch[]; dispatch: (row: Dispatch) => Promise<void> } {
  const handed: Dispatch[] = [];
  return {
    handed,
    async dispatch(row) {
      handed.push(row);
    },
  };
}

function buildContext(user: { user_id: string; email: string }): Context {
  const requestId = uuidv7();
  const { user_id: userId, email } = user;
  const actor = { type: 'user', userId, email, role: 'user', sessionId: uuidv7(), impersonatorId: null } as const;
  return { ...app.services, actor, requestId, correlationId: requestId, ip: null, userAgent: null };
}
type NewTask = Parameters<typeof createTask>[1];

describe('the API', () => {
  it(
    'killed before the commit: no task, no audit entry, no order',
    rounds(async () => {
      const task_id = uuidv7();
      const dying = inTransaction(buildContext(team.member), async (ctx) => {
        await createTask(ctx, { task_id, title: 'Never', project_id: project.project_id } as NewTask);
        await ctx.db.raw('select pg_terminate_backend(pg_backend_pid())');
      });
      await expect(dying).rejects.toThrow();
      expect(await db()('tasks').where({ task_id })).toEqual([]);
      expect(await db()('audit_entries').where({ entity_id: task_id })).toEqual([]);
      expect(await waiting()).toEqual([]);
    }),
  );

  it(
    'killed after the commit, before the notification: the poll finds the event',
    rounds(async () => {
      const automation = await armed();
      const silent = { ...buildContext(team.member), ring: () => undefined };
      await createTask(silent, { title: 'Silent', project_id: project.project_id } as NewTask);
      await open().drain();
      expect(await buildRuns(automation)).toHaveLength(1);
    }),
  );
});

describe('the relay', () => {
  it(
    'killed between claim and commit: the event is still there, and fires once',
    rounds(async () => {
      const automation = await armed();
      await buildTask(app, team, project);
      const first = open();
      const blocker = await db().transaction();
      await blocker.raw('lock table run_actions in access exclusive mode');
      const pass = await first.begin(() => first.relay.pass());
      const closed = first.close();
      await first.kill();
      await Promise.all([pass.ended, closed]);
      await blocker.rollback();
      expect(await waiting({ kind: 'event' })).toHaveLength(1);
      expect(await buildRuns(automation)).toEqual([]);
      await makeDue(app);
      await open().drain();
      expect(await buildRuns(automation)).toHaveLength(1);
    }),
  );

  it(
    'two relays at once: every event once, every start dispatched once',
    rounds(async () => {
      const automations = [await armed(), await buildAutomation(app, team, { actions: [comment('seen')] })];
      await db()('outbox').delete();
      await Promise.all(Array.from({ length: 20 }, () => buildTask(app, team, project)));
      const { handed, dispatch } = recorder();
      await Promise.all([open(dispatch).drain(), open(dispatch).drain(), open(dispatch).drain()]);
      for (const automation of automations) expect(await buildRuns(automation)).toHaveLength(20);
      expect(handed).toHaveLength(40);
      expect(new Set(handed.map(({ run_id }) => run_id)).size).toBe(40);
      expect(await waiting()).toEqual([]);
    }, 3),
  );

  it('an event told twice, as by an operator: one run', async () => {
    const automation = await armed();
    await buildTask(app, team, project);
    const [{ outbox_id: _id, ...event }] = await waiting({ kind: 'event' });
    await open().drain();
    await db()('outbox').insert({ ...event, payload: JSON.stringify(event.payload) });
    await open().drain();
    expect(await buildRuns(automation)).toHaveLength(1);
    expect(await waiting({ kind: 'run.start' })).toHaveLength(1);
  });

  it('evaluates events with very many matching automations in several commits', async () => {
    const { automation_id } = await armed();
    for (const table of ['automations', 'automation_versions'])
      await db()(table).where({ automation_id }).update({ condition: 'false' });
    const { automation_id: _id, ...row } = await db()('automations').where({ automation_id }).first();
    const many = Array.from({ length: 350 }, () => ({ ...row, automation_id: uuidv7(), actions: '[]', trigger_config: '{}' }));
    await db().batchInsert('automations', many, 100);
    const versions = many.map((each) => ({
      automation_id: each.automation_id,
      version: 1,
      name: 'x',
      trigger_type: 'task.created',
      condition: 'false',
      actions: '[]',
      changed_by: team.manager.user_id,
    }));
    await db().batchInsert('automation_versions', versions, 100);
    for (let n = 0; n < 3; n += 1) await buildTask(app, team, project);
    await open().drain();
    const { rows } = await db().raw<{ rows: { runs: number }[] }>(
      /* sql */ `
      select count(*)::int as runs from (
        select xmin::text as written_by from automation_runs where team_id = :team_id
        union all
        select s.xmin::text from skipped_runs s join automations a using (automation_id) where a.team_id = :team_id
      ) each group by written_by`,
      { team_id: team.team_id },
    );
    const sizes = rows.map(({ runs }) => runs);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(3 * 351);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(1_000);
    expect(sizes.length).toBeGreaterThan(1);
    expect(await waiting()).toEqual([]);
  });

  it('events that nobody listens for are dropped: no run, no order', async () => {
    const automation = await buildAutomation(app, team, { trigger_type: 'comment.created', actions: [comment('never')] });
    const elsewhere = await buildTeam(app);
    const foreign = await buildAutomation(app, elsewhere, { actions: [comment('never')] });
    await Promise.all(Array.from({ length: 10 }, () => buildTask(app, team, project)));
    const { handed, dispatch } = recorder();
    await open(dispatch).drain();
    expect(await waiting()).toEqual([]);
    expect(handed).toEqual([]);
    expect([...(await buildRuns(automation)), ...(await buildRuns(foreign))]).toEqual([]);
  });
});

describe('poison', () => {
  it('an event that cannot be matched waits alone, says why, and fires once it can', async () => {
    const healthy = await armed();
    const other = await buildTeam(app);
    const poisoned = await buildAutomation(app, other, { actions: [comment('seen')] });
    // Without its version row no run can be made of it.
    const [version] = await db()('automation_versions').where(poisoned).delete().returning('*');
    const event = { subject: 'task.created', kind: 'event', team_id: other.team_id, correlation_id: uuidv7() };
    await db()('outbox').insert([event, event]);
    await Promise.all(Array.from({ length: 5 }, () => buildTask(app, team, project)));
    await open().drain();
    expect(await buildRuns(healthy)).toHaveLength(5);
    const left = await waiting({ kind: 'event' });
    expect(left).toHaveLength(2);
    for (const { attempts, last_error, next_attempt_at, created_at } of left) {
      expect(attempts).toBe(1);
      expect(last_error).toMatch(/Version 1 of the automation .* does not exist/);
      expect(next_attempt_at.getTime()).toBeGreaterThan(created_at.getTime() + 1_000);
    }
    await db()('automation_versions').insert({ ...version, actions: JSON.stringify(version.actions) });
    await makeDue(app);
    await open().drain();
    expect(await buildRuns(poisoned)).toHaveLength(2);
    expect(await waiting({ kind: 'event' })).toEqual([]);
  });

  it('a delivery that cannot be applied waits alone, and is applied once it can', async () => {
    await db().raw(`
      create function refuse_poison() returns trigger language plpgsql as $$ begin raise exception 'poisoned' using errcode = 'XX000'; end $$;
      create trigger poison before update on forge_deliveries for each row when (new.repo = 'acme/poison') execute function refuse_poison()`);
    const receipt = (repo: string) => ({
      delivery_id: uuidv7(),
      event: 'push',
      normalized: 'forge.push',
      repo,
      body_sha256: Buffer.alloc(32),
      payload: JSON.stringify({ repository: { full_name: repo } }),
    });
    const made = await db()('forge_deliveries')
      .insert([receipt('acme/poison'), receipt('acme/sound'), receipt('acme/poison'), receipt('acme/sound')])
      .returning<{ receipt_id: string }[]>('receipt_id');
    const orders = made.map(({ receipt_id }) => ({
      kind: 'forge.delivery',
      subject: 'forge.push',
      payload: JSON.stringify({ receipt_id }),
      correlation_id: uuidv7(),
    }));
    await db()('outbox').insert(orders);
    await open().drain();
    const left = () => db()('forge_deliveries').whereNull('outcome').pluck<string[]>('repo');
    expect(await left()).toEqual(['acme/poison', 'acme/poison']);
    const notes = (await waiting()).map(({ attempts, last_error }) => [attempts, /poisoned/.test(last_error)]);
    expect(notes).toEqual([
      [1, true],
      [1, true],
    ]);
    await db().raw('drop trigger poison on forge_deliveries');
    await makeDue(app);
    await open().drain();
    expect(await left()).toEqual([]);
    expect(await waiting()).toEqual([]);
  });

  it('orders whose run is not there hold up no other', async () => {
    const automation = await armed();
    const order = () => ({
      kind: 'run.wake',
      subject: 'gone',
      payload: JSON.stringify({ run_id: uuidv7() }),
      correlation_id: uuidv7(),
    });
    await db()('outbox').insert(Array.from({ length: 150 }, order));
    await buildTask(app, team, project);
    const { handed, dispatch } = recorder();
    await open(dispatch).drain();
    expect(handed.map(({ automation_id }) => automation_id)).toEqual([automation.automation_id]);
    expect(await waiting()).toEqual([]);
  });
});

describe('the hand-over to Temporal', () => {
  it(
    'fails before the start: the row keeps the error, and is dispatched once when due',
    rounds(async () => {
      const automation = await armed();
      await buildTask(app, team, project);
      await open(away).drain();
      const [order] = await waiting({ kind: 'run.start' });
      expect(order).toMatchObject({ attempts: 1, last_error: 'Error: Temporal is away' });
      expect(order.next_attempt_at.getTime()).toBeGreaterThan(order.created_at.getTime() + 1_000);
      expect(await buildRuns(automation)).toMatchObject([{ status: 'queued' }]);
      // Its pause of two seconds is over soon on a busy machine.
      await db()('outbox').update({ next_attempt_at: db().raw("now() + interval '1 hour'") });
      const { handed, dispatch } = recorder();
      await open(dispatch).drain();
      expect(handed).toEqual([]);
      await makeDue(app);
      await open(dispatch).drain();
      expect(handed).toMatchObject([{ payload: { incarnation: 1 } }]);
      expect(await waiting()).toEqual([]);
    }),
  );

  it(
    'killed between start and mark: the row is dispatched again, for the same run',
    rounds(async () => {
      await armed();
      await buildTask(app, team, project);
      const { handed, dispatch } = recorder();
      const dying: KillableRelay = open(async (row) => {
        await dispatch(row);
        await dying.close();
      });
      await dying.drain().catch(() => undefined);
      expect(await waiting({ kind: 'run.start' })).toMatchObject([{ attempts: 1 }]);
      await makeDue(app);
      await open(dispatch).drain();
      expect(handed).toHaveLength(2);
      expect(handed[1]).toMatchObject({ run_id: handed[0]?.run_id, payload: handed[0]?.payload });
      expect(await waiting()).toEqual([]);
    }),
  );
});

describe('a hand-over that was given up', () => {
  const deadLetter = async () =>
    (await app.as(team.manager).get(`/api/automations/dead-letter?team_id=${team.team_id}`)).body.entries as object[];

  it.each([
    ['Temporal refuses', away],
    ['Temporal was never there', undefined],
  ])('becomes a failed run in the dead letter: %s', async (_why, dispatch) => {
    const automation = await armed();
    await buildTask(app, team, project);
    await open(dispatch).drain();
    await age(app, app.services.config.OUTBOX_GIVE_UP_HOURS - 1);
    await makeDue(app);
    await open(dispatch).drain();
    expect(await buildRuns(automation)).toMatchObject([{ status: 'queued' }]);
    await age(app, app.services.config.OUTBOX_GIVE_UP_HOURS + 1);
    await makeDue(app);
    await open(dispatch).drain();
    expect(await buildRuns(automation)).toMatchObject([{ status: 'failed', error: { code: 'dispatch_failed' } }]);
    expect(await waiting({ kind: 'run.start' })).toEqual([]);
    expect(await deadLetter()).toMatchObject([{ automation_id: automation.automation_id, error: { code: 'dispatch_failed' } }]);
  });

  it.each([
    ['Temporal refuses', away],
    ['Temporal was never there', undefined],
  ])('holds up no other when its run cannot be ended: %s', async (_why, dispatch) => {
    const automation = await armed();
    for (let twice = 0; twice < 2; twice += 1) await buildTask(app, team, project);
    await open(dispatch).drain();
    const [first, second] = (await waiting({ kind: 'run.start' })) as { subject: string }[];
    await db().raw(`create function refuse_end() returns trigger language plpgsql as $$ begin raise 'stuck'; end $$;
      create trigger refuse_end before update on automation_runs for each row when (old.run_id = '${first?.subject}')
      execute function refuse_end()`);
    await age(app, app.services.config.OUTBOX_GIVE_UP_HOURS + 1);
    await makeDue(app);
    const drained = open(dispatch).drain();
    await drained.catch(() => undefined);
    await db().raw('drop trigger refuse_end on automation_runs; drop function refuse_end');
    await drained;
    expect(await buildRuns(automation).where({ run_id: second?.subject })).toMatchObject([{ status: 'failed' }]);
    expect(await waiting({ kind: 'run.start' })).toMatchObject([
      { subject: first?.subject, last_error: expect.stringContaining('stuck') },
    ]);
  });
});

it('a flood of deliveries holds up no event: each kind has its turn in every pass', async () => {
  const automation = await armed();
  const rows = Array.from({ length: 250 }, () => ({
    kind: 'forge.delivery',
    subject: 'forge.push',
    payload: JSON.stringify({ receipt_id: uuidv7() }),
    correlation_id: uuidv7(),
  }));
  await db()('outbox').insert(rows);
  await buildTask(app, team, project);
  expect(await open().relay.pass()).toBe(101);
  expect(await buildRuns(automation)).toHaveLength(1);
  expect(await waiting({ kind: 'forge.delivery' })).toHaveLength(150);
});
