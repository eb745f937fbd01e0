/** Every owner with due events gets a turn, whatever others have pending. */
import { v7 as uuidv7 } from 'uuid';
import { SUBSCRIBERS } from '../../activities/subscribers.js';
import type { AnySubscriberKind } from '../../api/platform/outbox/subscriber.js';
import { buildAutomation, comment } from '../factories/automations.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../factories/people.js';
import { startApp, type TestApp } from '../support/app.js';
import { type KillableRelay, openRelay } from './support.js';

let app: TestApp;
let team: TestTeam;
let relay: KillableRelay;

beforeEach(async () => {
  app = await startApp();
  relay = openRelay(app);
});
afterEach(async () => {
  await relay.close();
  await app.close();
});

const db = () => app.services.db;
const buildRuns = async ({ team_id }: { team_id: string }) =>
  Number((await db()('automation_runs').where({ team_id }).count())[0]?.['count']);

/** A team behind all strangers in the walk, with an automation and one event. */
async function buildLast(): Promise<void> {
  team = await buildTeam(app);
  await buildAutomation(app, team, { actions: [comment('seen')] });
  await buildTask(app, team, await buildProject(app, team));
}
/** Events without subscribers, of each of these owners. */
const droppable = (owners: string[], each: number) =>
  db().raw(
    `insert into outbox (kind, subject, actor_id, payload, correlation_id)
     select 'event', 'task.created', owner, '{}', uuidv7() from unnest(?::uuid[]) as owner, generate_series(1, ?::int)`,
    [owners, each],
  );
const strangers = (count: number): string[] => Array.from({ length: count }, () => uuidv7());
/** Polls like the worker, and matches what the poll found. */
async function turn(): Promise<void> {
  if ((await relay.relay.poll()).events) await relay.relay.match();
}

it('a few owners with far more events to drop than one poll drops', async () => {
  const owners = strangers(6);
  await buildLast();
  await droppable(owners, 1_000);
  await turn();
  expect(await buildRuns(team)).toBe(1);
  while ((await relay.relay.poll()).dropped > 0);
  expect(await db()('outbox').where({ kind: 'event' })).toEqual([]);
});

it('more owners with events to drop than one pass looks at, who never run out of them', async () => {
  const owners = strangers(110);
  await buildLast();
  for (let round = 0; round < 3; round += 1) {
    await droppable(owners, 2);
    await turn();
  }
  expect(await buildRuns(team)).toBe(1);
});

it('an owner behind one who uses up the whole pass, before one whose events nobody subscribes to', async () => {
  const [kind] = SUBSCRIBERS as [AnySubscriberKind];
  const greedy = await buildTeam(app);
  await buildAutomation(app, greedy, { actions: [comment('seen')] });
  const greedyProject = await buildProject(app, greedy);
  await buildLast();
  const other = uuidv7();
  await relay.close();
  // Whatever the greedy team's events amount to fills a pass.
  const filling: AnySubscriberKind = {
    ...kind,
    countBytes: (match) => ((match as { event: { team_id: string } }).event.team_id === greedy.team_id ? 64 * 1024 * 1024 : 100),
  };
  relay = openRelay(app, undefined, { subscribers: [filling] });
  for (let round = 0; round < 3; round += 1) {
    await buildTask(app, greedy, greedyProject);
    await droppable([other], 1);
    await relay.relay.match();
  }
  expect(await buildRuns(team)).toBe(1);
  expect(await buildRuns(greedy)).toBeGreaterThan(0);
});

it('one owner with more events to drop than one poll drops: the next poll follows at once', async () => {
  await droppable(strangers(1), 900);
  for (;;) {
    const poll = await relay.relay.poll();
    if (poll.dropped === 0) break;
    const left = (await db()('outbox').first('outbox_id')) !== undefined;
    expect(relay.relay.hasMore(poll, 0)).toBe(left);
  }
});
