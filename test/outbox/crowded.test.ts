/** One team with as many automations and events as it may have: the others' events pass, no statement is cancelled, nothing is lost. */
import { v7 as uuidv7 } from 'uuid';
import { type AnyDispatcher, dispatchOutbox } from '../../api/platform/outbox/dispatch-outbox.js';
import { EVENTS_PER_PASS, EVENTS_PER_TEAM, NO_OWNER, PAIRS_PER_PASS } from '../../api/platform/outbox/match-events.sql.js';
import { SUBSCRIBERS } from '../../activities/subscribers.js';
import type { AnySubscriberKind } from '../../api/platform/outbox/subscriber.js';
import { buildAutomation, comment } from '../factories/automations.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../factories/people.js';
import { skippedRuns } from '../factories/runs.js';
import { startApp, type TestApp } from '../support/app.js';
import { crowd, LONG_CONDITION, pending } from './crowd.js';
import { type KillableRelay, makeDue, openRelay } from './support.js';

let app: TestApp;
let noisy: TestTeam;
let team: TestTeam;
let project: { project_id: string };
let automation: { automation_id: string };
const relays: KillableRelay[] = [];

beforeEach(async () => {
  app = await startApp();
  noisy = await buildTeam(app);
  team = await buildTeam(app);
  project = await buildProject(app, team);
  automation = await buildAutomation(app, team, { actions: [comment('seen')] });
});
afterEach(async () => {
  await Promise.all(relays.splice(0).map((relay) => relay.close().catch(() => undefined)));
  await app.close();
});

const db = () => app.services.db;
const open = (subscribers: readonly AnySubscriberKind[] = SUBSCRIBERS): KillableRelay => {
  const relay = openRelay(app, undefined, { subscribers });
  relays.push(relay);
  return relay;
};
const buildRuns = async ({ team_id }: { team_id: string }) =>
  Number((await db()('automation_runs').where({ team_id }).count())[0]?.['count']);
const only = ({ team_id }: { team_id: string }) => ({ team_id });
const findEvents = async ({ team_id }: { team_id: string }) =>
  Number((await db()('outbox').where({ team_id, kind: 'event' }).count())[0]?.['count']);

it.each([[100], [1_000]])(
  '1,000 automations with long conditions and %d pending events: another team’s event is matched in the next pass, every time',
  async (events) => {
    expect(LONG_CONDITION).toHaveLength(980);
    await crowd(app, noisy, { automations: 1_000, condition: LONG_CONDITION });
    await pending(app, noisy, events);
    const { relay } = open();
    for (let round = 1; round <= 3; round += 1) {
      await buildTask(app, team, project);
      expect((await relay.poll()).events).toBe(true);
      await relay.match();
      expect(await buildRuns(team)).toBe(round);
    }
    // The noisy team's events go on meanwhile, and none of them has failed.
    expect((await skippedRuns(app, only(noisy))).length).toBeGreaterThan(0);
    expect(await db()('outbox').where({ team_id: noisy.team_id }).where('failures', '>', 0)).toEqual([]);
    expect(await buildRuns(noisy)).toBe(0);
  },
  60_000,
);

it('whatever else the process does has its turn while a thousand conditions are evaluated', async () => {
  await crowd(app, noisy, {
    automations: 1_000,
    condition: `event.list.exists(n, ${'event.nothing || '.repeat(40)}event.nothing)`,
  });
  const payload = { list: Array.from({ length: 200 }, (_, n) => n), task: {}, changes: {} };
  const row = { kind: 'event', subject: 'task.created', team_id: noisy.team_id, correlation_id: uuidv7() };
  await db()('outbox').insert({ ...row, payload: JSON.stringify(payload) });
  let turns = 0;
  const others = setInterval(() => {
    turns += 1;
  }, 1);
  await open().relay.match();
  clearInterval(others);
  expect(turns).toBeGreaterThan(3);
  const errors = (await skippedRuns(app, only(noisy))).map(({ condition_error }) => condition_error);
  expect(errors.length).toBeGreaterThan(0);
  expect(errors.every((error) => error?.includes('exceeds the evaluation limit'))).toBe(true);
  // The budget of one team was spent long before all of them were evaluated: the event goes on behind its cursor.
  expect(await db()('outbox').where({ team_id: noisy.team_id }).whereNotNull('matched_up_to')).toHaveLength(1);
});

it('one event of 48 kB for 400 automations of 50 actions: pass after pass, each run once, though workers die between them', async () => {
  await crowd(app, noisy, { automations: 400, actions: 50 });
  await pending(app, noisy, 1, { description: 'x'.repeat(48_000) });
  const sizes: number[] = [];
  let before = 0;
  for (let pass = 0; (await findEvents(noisy)) > 0; pass += 1) {
    const relay = open();
    if (pass === 2) {
      // Killed as it writes: the pass is undone, and another worker does it again.
      const blocker = await db().transaction();
      await blocker.raw('lock table run_actions in access exclusive mode');
      const dying = await relay.begin(() => relay.relay.match());
      await relay.kill();
      await dying.ended;
      await blocker.rollback();
      await makeDue(app);
    } else {
      await relay.relay.match();
      const runs = await buildRuns(noisy);
      sizes.push(runs - before);
      before = runs;
    }
    await relay.close();
    relays.pop();
  }
  expect(before).toBe(400);
  expect(Math.max(...sizes)).toBeLessThan(50);
  expect(Number((await db()('run_actions').count())[0]?.['count'])).toBe(20_000);
}, 120_000);

it('a pass takes a fixed number of events of each team, and of each user without one', async () => {
  const people = [team.manager, team.member];
  await db()('automations').where(automation).update({ is_active: false });
  await buildAutomation(app, noisy, { actions: [comment('seen')] });
  for (const person of people) {
    const { automation_id } = await buildAutomation(app, team, { actions: [comment('seen')], creator: person });
    await db()('automations').where({ automation_id }).update({ team_id: null });
  }
  await pending(app, noisy, 300);
  const personal = (actor_id: string) => ({ kind: 'event', subject: 'task.created', actor_id, correlation_id: uuidv7() });
  await db()('outbox').insert(people.flatMap(({ user_id }) => Array.from({ length: 30 }, () => personal(user_id))));
  expect(await open().relay.match()).toBe(3 * EVENTS_PER_TEAM);
  // A process that stood still for as long as its budget leaves some of them to the next pass.
  const taken = [await buildRuns(noisy)];
  for (const { user_id } of people)
    taken.push((await db()('automation_runs').where({ creator_id: user_id, team_id: null })).length);
  for (const count of taken) expect(count).toBeLessThanOrEqual(EVENTS_PER_TEAM);
  expect(Math.min(...taken)).toBeGreaterThan(0);
});

it('a team with hundreds of starts waiting delays no other’s: the teams share each pass, and each start goes once', async () => {
  const started: string[] = [];
  const dispatcher: AnyDispatcher = {
    kinds: ['run.start'],
    details: { name: 'waiting_starts', text: 'select outbox_id, team_id from outbox where outbox_id = any($1::bigint[])' },
    dispatch: ({ team_id }) => Promise.resolve(void started.push(String(team_id))),
  };
  const start = ({ team_id }: TestTeam, seconds: number) => ({
    kind: 'run.start',
    subject: uuidv7(),
    team_id,
    correlation_id: uuidv7(),
    next_attempt_at: new Date(Date.now() - seconds * 1_000),
  });
  await db()('outbox').where({ kind: 'event' }).delete();
  await db()('outbox').insert(Array.from({ length: 300 }, () => start(noisy, 60)));
  await db()('outbox').insert(start(team, 1));
  const cursor = { after: NO_OWNER };
  expect(await dispatchOutbox(app.services, [dispatcher], cursor)).toBe(51);
  expect(started).toContain(team.team_id);
  while ((await dispatchOutbox(app.services, [dispatcher], cursor)) > 0);
  expect(started.filter((team_id) => team_id === noisy.team_id)).toHaveLength(300);
  expect(started).toHaveLength(301);
});

it('many teams at once: each has its first event matched before any has its second', async () => {
  const teams = await Promise.all(Array.from({ length: 12 }, () => buildTeam(app)));
  for (const each of teams) {
    await buildAutomation(app, each, { actions: [comment('seen')] });
    await pending(app, each, EVENTS_PER_TEAM);
  }
  expect(await open().relay.match()).toBe(EVENTS_PER_PASS);
  const runs = await Promise.all(teams.map(buildRuns));
  expect(Math.max(...runs) - Math.min(...runs)).toBeLessThanOrEqual(1);
});

it('three workers on the noisy team’s events: every pair once, nothing left', async () => {
  await crowd(app, noisy, { automations: 150 });
  await pending(app, noisy, 30);
  await Promise.all([open().drain(), open().drain(), open().drain()]);
  // What one of them found locked waits a moment.
  await makeDue(app);
  await open().drain();
  expect(await buildRuns(noisy)).toBe(150 * 30);
  const { rows } = await db().raw<{ rows: { pairs: number }[] }>(
    "select count(distinct (automation_id, event->>'event_id'))::int as pairs from automation_runs where team_id = ?",
    [noisy.team_id],
  );
  expect(rows).toEqual([{ pairs: 150 * 30 }]);
  expect(await findEvents(noisy)).toBe(0);
});

it('a team’s event that cannot be matched holds up neither its team’s others nor a stranger’s', async () => {
  const poisoned = await buildAutomation(app, noisy, { actions: [comment('seen')] });
  await db()('automation_versions').where(poisoned).delete();
  const sound = await buildAutomation(app, noisy, { trigger_type: 'task.deleted', actions: [comment('seen')] });
  await pending(app, noisy, 5);
  const row = { kind: 'event', subject: 'task.deleted', team_id: noisy.team_id, correlation_id: uuidv7() };
  await db()('outbox').insert(row);
  await buildTask(app, team, project);
  await open().relay.match();
  expect(await buildRuns(team)).toBe(1);
  expect(await db()('automation_runs').where(sound)).toHaveLength(1);
  expect(await db()('outbox').where({ team_id: noisy.team_id, kind: 'event' }).pluck('failures')).toEqual([1, 1, 1, 1, 1]);
});

it('a team whose automation is locked waits alone, and none of its events counts as failed', async () => {
  const busy = await buildAutomation(app, noisy, { actions: [comment('seen')] });
  await pending(app, noisy, 5);
  await buildTask(app, team, project);
  const editor = await db().transaction();
  await editor('automations').where(busy).forNoKeyUpdate();
  const { relay } = open();
  await relay.match();
  expect(await buildRuns(team)).toBe(1);
  expect(await buildRuns(noisy)).toBe(0);
  const waiting = await db()('outbox').where({ team_id: noisy.team_id, kind: 'event' });
  expect(waiting.map(({ attempts, failures }) => [attempts, failures])).toEqual(Array.from({ length: 5 }, () => [1, 0]));
  await editor.rollback();
  await makeDue(app);
  await relay.match();
  expect(await buildRuns(noisy)).toBe(5);
});

it('a definition is fetched and compiled once for each version', async () => {
  const [kind] = SUBSCRIBERS as [AnySubscriberKind];
  const compiled: string[] = [];
  const counting: AnySubscriberKind = {
    ...kind,
    compile(row) {
      compiled.push([row['subscriber_id'], row['version']].join(':'));
      return kind.compile(row);
    },
  };
  const { relay } = open([counting]);
  for (let round = 0; round < 3; round += 1) {
    await buildTask(app, team, project);
    await relay.match();
  }
  expect(compiled).toEqual([`${automation.automation_id}:1`]);
  const url = `/api/automations/${automation.automation_id}`;
  expect((await app.as(team.manager).patch(url, { condition: 'task.title == "x"' })).status).toBe(200);
  await buildTask(app, team, project);
  await relay.match();
  expect(compiled).toEqual([`${automation.automation_id}:1`, `${automation.automation_id}:2`]);
});

it('an event deeper than the limit is skipped as a loop, whatever its condition says', async () => {
  const { AUTOMATION_MAX_DEPTH } = app.services.config;
  await crowd(app, team, { automations: 1, condition: 'task.title == "no"' });
  await pending(app, team, 1);
  await db()('outbox').update({ depth: AUTOMATION_MAX_DEPTH + 1 });
  await open().relay.match();
  expect((await skippedRuns(app, only(team))).map(({ is_loop }) => is_loop)).toEqual([true, true]);
  expect(await buildRuns(team)).toBe(0);
});

it('pairs of one pass are bounded, over all teams', async () => {
  await crowd(app, noisy, { automations: 600, condition: 'false' });
  await pending(app, noisy, 5);
  await open().relay.match();
  expect(await buildRuns(noisy)).toBeLessThanOrEqual(PAIRS_PER_PASS);
});
