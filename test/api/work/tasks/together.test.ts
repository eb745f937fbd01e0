/** Coalesced writes share a statement and a commit (docs/adr/0012-coalesced-writes.md), which no caller must notice. */
import { wasRolledBack } from '../../../../api/platform/database/database-errors.js';
import { subscribe } from '../../../factories/events.js';
import { buildPerson, buildProject, buildTeam, buildToken, type Person } from '../../../factories/people.js';
import type { Answer, Client } from '../../../support/app.js';
import { until } from '../../../support/worker.js';
import { captureStatements } from '../../../support/statements.js';
import { taskWorld } from './world.js';

const world = taskWorld(60_000);
const db = () => world.app.services.db;
const as = (who: Person | string): Client => world.app.as(who);
const rename = (client: Client, taskId: string, title = 'new', more = {}) =>
  client.patch(`/api/tasks/${taskId}`, { title, ...more });
const getId = ({ headers }: Answer) => headers.get('x-correlation-id');
const makeMany = (count: number) => Promise.all(Array.from({ length: count }, () => world.make()));

/** Statements of this name that the requests sent. */
async function countAll(name: string, requests: () => Promise<unknown>): Promise<number> {
  return (await captureStatements(requests)).filter((statement) => statement.name === name).length;
}

/** Whether it has ended within so many milliseconds. */
const ended = (promise: Promise<unknown>, ms: number): Promise<boolean> =>
  Promise.race([promise.then(() => true), new Promise<boolean>((resolve) => setTimeout(resolve, ms, false))]);

/** Lets a change of this title do something else first, in PostgreSQL. */
async function trap(title: string, statement: string): Promise<void> {
  await db().raw(/* sql */ `
    create or replace function spring() returns trigger language plpgsql as $$ begin ${statement}; return new; end $$;
    create or replace trigger trap before insert or update on tasks for each row when (new.title = '${title}') execute function spring()`);
}
afterEach(() => db().raw('drop trigger if exists trap on tasks'));

it('changes of many people and tokens: fewer statements than changes, and each in its own name', async () => {
  const { team } = world;
  const token = await buildToken(world.app, team.member, ['tasks:read', 'tasks:write']);
  const tasks = await makeMany(24);
  const people: (Person | string)[] = [team.member, team.admin, team.manager, token];
  let answers: Answer[] = [];
  const statements = await countAll('update_tasks', async () => {
    answers = await Promise.all(tasks.map(({ task_id }, i) => rename(as(people[i % 4] as Person | string), task_id, `by ${i}`)));
  });
  expect(statements).toBeLessThan(tasks.length);
  for (const [i, answer] of answers.entries()) {
    expect([answer.status, answer.headers.get('etag')]).toEqual([200, '"2"']);
    const { task_id } = tasks[i] as { task_id: string };
    const user_id = [team.member, team.admin, team.manager, team.member][i % 4]?.user_id;
    const { audit, activity, events } = await world.traces(task_id);
    expect(audit[1]).toMatchObject({
      audit_id: getId(answer),
      correlation_id: getId(answer),
      user_id,
      actor_type: i % 4 === 3 ? 'pat' : 'user',
      details: expect.stringContaining(`"to": "by ${i}"`),
    });
    expect(activity[1]).toMatchObject({ user_id, entity_title: `by ${i}` });
    expect(events[1]).toMatchObject({
      correlation_id: getId(answer),
      payload: { actor_id: user_id, task: { title: `by ${i}` } },
    });
    expect([audit.length, activity.length, events.length]).toEqual([2, 2, 2]);
  }
});

it('creations of many people in two teams: fewer statements than tasks, and each in its own name', async () => {
  const other = await buildTeam(world.app);
  await subscribe(world.app, other);
  const theirs = await buildProject(world.app, other);
  const makers = [
    { who: world.team.member, ...world.project, team_id: world.team.team_id },
    { who: other.admin, ...theirs, team_id: other.team_id },
  ];
  let answers: Answer[] = [];
  const statements = await countAll('create_tasks_of_many', async () => {
    answers = await Promise.all(
      Array.from({ length: 24 }, (_, i) => {
        const { who, project_id } = makers[i % 2] as (typeof makers)[number];
        return as(who).post('/api/tasks', { title: `no. ${i}`, project_id });
      }),
    );
  });
  expect(statements).toBeLessThan(answers.length);
  for (const [i, answer] of answers.entries()) {
    const { who, team_id } = makers[i % 2] as (typeof makers)[number];
    expect(answer).toMatchObject({ status: 201, body: { data: { title: `no. ${i}`, created_by: who.user_id, team_id } } });
    const { audit, activity, events } = await world.traces(answer.body.task_id as string);
    expect(audit).toMatchObject([{ audit_id: getId(answer), user_id: who.user_id, team_id, action: 'create' }]);
    expect([activity.length, events.length]).toEqual([1, 1]);
  }
});

it('each is judged by itself: strangers, guests, the stale, the wrong and the lost beside those that pass', async () => {
  const { member, team, project } = world;
  const stranger = as(await buildPerson(world.app));
  const outsider = await buildPerson(world.app);
  const tasks = await makeMany(6);
  const [a, b, c, d, e, f] = tasks.map(({ task_id }) => task_id) as [string, string, string, string, string, string];
  const elsewhere = await buildProject(world.app, team);
  await member.post('/api/tasks', { title: 'x', ...elsewhere, task_id: `known:${team.team_id}` });
  const post = (client: Client, more: object) => client.post('/api/tasks', { title: 'x', ...project, ...more });
  const asked: [number, Promise<Answer>][] = [
    [200, rename(member, a)],
    [403, rename(stranger, b)],
    [403, rename(as(team.guest), c)],
    [404, rename(member, 'nowhere')],
    [409, rename(member, d, 'x', { version: 7 })],
    [400, rename(member, e, 'x', { assigned_to: outsider.user_id })],
    [200, rename(member, f, 'x', { version: 1, assigned_to: team.guest.user_id })],
    [201, post(member, {})],
    [403, post(stranger, {})],
    [403, post(as(team.guest), {})],
    [404, post(member, { project_id: '019a9f00-0000-7000-8000-00000000dead' })],
    [400, post(member, { assigned_to: outsider.user_id })],
    [400, post(member, { due_date: '2026-02-30' })],
    [409, post(member, { task_id: `known:${team.team_id}` })],
    [201, post(member, { task_id: `fresh:${team.team_id}` })],
  ];
  const answers = await Promise.all(asked.map(([, promise]) => promise));
  expect(answers.map(({ status }) => status)).toEqual(asked.map(([status]) => status));
  const versions = await Promise.all([a, b, c, d, e, f].map(async (id) => (await world.row(id))['version']));
  expect(versions).toEqual([2, 1, 1, 1, 1, 2]);
  expect(await db()('tasks').where(project)).toHaveLength(8);
});

it('changes of one task never go together: every one counts', async () => {
  const { task_id } = await world.make();
  const titles = Array.from({ length: 20 }, (_, i) => `by ${i}`);
  const answers = await Promise.all(titles.map((title) => rename(world.member, task_id, title)));
  const versions = answers.map(({ headers }) => Number(headers.get('etag')?.slice(1, -1)));
  expect(versions.sort((x, y) => x - y)).toEqual(titles.map((_title, i) => i + 2));
  const { audit } = await world.traces(task_id);
  const written = audit.slice(1).map(({ details }) => JSON.parse(details as string).changes.title.to as string);
  expect(written.sort()).toEqual(titles.sort());
});

it('a locked task or project delays no other request', async () => {
  const { member, project, team } = world;
  const [held, ...free] = (await makeMany(9)).map(({ task_id }) => task_id) as [string, ...string[]];
  const elsewhere = await buildProject(world.app, team);
  const holder = await db().transaction();
  await holder('tasks').where({ task_id: held }).forUpdate();
  await holder('projects').where(elsewhere).forUpdate();
  const create = (where: object) => member.post('/api/tasks', { title: 'x', ...where });
  // The first of each goes alone; concurrent ones are coalesced.
  const passing: Promise<Answer>[] = free.slice(0, 4).flatMap((taskId) => [rename(member, taskId), create(project)]);
  const waiting = Promise.all([rename(member, held), create(elsewhere)]);
  passing.push(...free.slice(4).flatMap((taskId) => [rename(member, taskId), create(project)]));
  expect((await Promise.all(passing)).map(({ status }) => status)).toEqual(free.flatMap(() => [200, 201]));
  expect(await ended(waiting, 200)).toBe(false);
  await holder.rollback();
  expect((await waiting).map(({ status }) => status)).toEqual([200, 201]);
});

it('rejects only what PostgreSQL rejects, and writes the others once', async () => {
  await trap('trapped', `raise exception 'no' using errcode = '53200'`);
  const tasks = await makeMany(12);
  const answers = await Promise.all(tasks.map(({ task_id }, i) => rename(world.member, task_id, i === 5 ? 'trapped' : 'new')));
  expect(answers.map(({ status }) => status)).toEqual(tasks.map((_task, i) => (i === 5 ? 503 : 200)));
  for (const [i, { task_id }] of tasks.entries()) {
    const { audit, activity, events } = await world.traces(task_id);
    expect([audit.length, activity.length, events.length]).toEqual(i === 5 ? [1, 1, 1] : [2, 2, 2]);
  }
});

it('a connection that breaks in the middle: 503 for those it carried, nothing of theirs half written', async () => {
  await trap('cut', 'perform pg_terminate_backend(pg_backend_pid()); perform pg_sleep(5)');
  const tasks = await makeMany(12);
  const answers = await Promise.all(tasks.map(({ task_id }, i) => rename(world.member, task_id, i === 5 ? 'cut' : 'new')));
  expect(answers[5]?.status).toBe(503);
  // The pool may still take the broken one for whole.
  await until(() =>
    db()('tasks')
      .where(world.project)
      .catch(() => null),
  );
  for (const [i, { status }] of answers.entries()) {
    expect([200, 503]).toContain(status);
    const { task_id } = tasks[i] as { task_id: string };
    const { audit, activity, events } = await world.traces(task_id);
    const written = status === 200 ? 2 : 1;
    expect([(await world.row(task_id))['version'], audit.length, activity.length, events.length]).toEqual(Array(4).fill(written));
  }
});

it('slow statements do not keep the next from starting', async () => {
  // They are slow until this transaction ends.
  const holder = await db().transaction();
  await holder.raw('select pg_advisory_xact_lock(1)');
  await trap('slow', 'while not pg_try_advisory_xact_lock_shared(1) loop perform pg_sleep(0.02); end loop');
  const asleep = "select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'";
  const tasks = await makeMany(3);
  const [first, second, third] = tasks.map(({ task_id }) => task_id) as [string, string, string];
  const slow: Promise<Answer>[] = [];
  for (const taskId of [first, second]) {
    slow.push(rename(world.member, taskId, 'slow'));
    await until(async () => (await db().raw<{ rowCount: number }>(asleep)).rowCount === slow.length);
  }
  expect(await rename(world.member, third)).toMatchObject({ status: 200 });
  expect(await ended(Promise.race(slow), 0)).toBe(false);
  await holder.commit();
  for (const answer of await Promise.all(slow)) expect(answer.status).toBe(200);
});

it.each([
  [true, { severity: 'ERROR', code: '23503' }],
  [false, { severity: 'FATAL', code: '57P01' }],
  [false, { code: 'ECONNRESET' }],
  [false, {}],
])('only a refusal by PostgreSQL is tried again alone: %s for %j', (expected, fields) => {
  expect(wasRolledBack(Object.assign(new Error('x'), fields))).toBe(expected);
});
