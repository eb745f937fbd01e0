import { randomBytes } from 'node:crypto';
import { listWaitingAbout } from '../../../api/approvals/list-waiting-about.js';
import type { Context } from '../../../api/platform/context.js';
import { up } from '../../../db/migrations/0136_waiting_subjects.js';
import { sqlMigration } from '../../../db/migrations/sql-files.js';
import { buildSession, staged } from '../../factories/agent.js';
import { buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../../factories/people.js';
import { buildRequest, OPERATION } from '../../factories/requests.js';
import { buildRun, GATE } from '../../factories/runs.js';
import { startApp, type TestApp } from '../../support/app.js';
import { explain, nodesOf } from '../../support/plans.js';
import { captureStatements } from '../../support/statements.js';

// What waits for a yes is found from the task that it names, by those who may read both.

let app: TestApp;
let team: TestTeam;
let task: { task_id: string };
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  task = await buildTask(app, team, await buildProject(app, team), { title: 'Rotate the keys' });
});

const db = () => app.services.db;
const close = () => ({ type: 'set_task_status', params: { task_id: task.task_id, status: 'done' } });
/** A gate whose actions are staged, as a running service leaves it. */
async function gated(fields: Record<string, unknown> = {}) {
  const run = await buildRun(app, team, { actions: [GATE, close()] as never[], ...fields });
  await app.as(team.member).get(`/api/approvals/gate/${run.run_id}`);
  return run;
}
const contextOf = ({ user_id }: Person, more: object = {}): Context =>
  ({ ...app.services, actor: { type: 'user', userId: user_id, impersonatorId: null, ...more } }) as unknown as Context;
const find = async (person: Person, ids = [task.task_id], more: object = {}) =>
  (await listWaitingAbout(contextOf(person, more), ids, 50)).map(({ kind, id, task_id }) => [kind, id, task_id]);
const inOrder = (rows: (string[] | undefined)[]): string[] => rows.map(String).toSorted((a, b) => a.localeCompare(b));
const planned = async (source: 'overnight_triage' | 'chat', owner: Person) => {
  const session = await buildSession(app, source === 'chat' ? owner : team, { kind: source });
  const comment = { tool: 'task.comment', entity_id: task.task_id, params: { content: 'Hi' } };
  return staged(app, owner, [comment] as never, { session, source, lifeHours: 2 });
};

it('finds gates, plans and requests that name a task, for those who may read them', async () => {
  const run = await gated();
  const plan = await planned('overnight_triage', team.admin);
  const own = await planned('chat', team.member);
  const { number } = await db()('tasks').where({ task_id: task.task_id }).first();
  const { key } = await db()('teams').where({ team_id: team.team_id }).first();
  const named = await buildRequest(app, team, team.member, { context: { task: `${key}-${number}` } });
  const arg = await buildRequest(app, team, team.member, { operation: { ...OPERATION, arguments: { task_id: task.task_id } } });
  const [gate, ofTeam, personal, ...asked] = [
    ['gate', run.run_id, task.task_id],
    ['plan', plan.action_id, task.task_id],
    ['plan', own.action_id, task.task_id],
    ['request', named.request_id, task.task_id],
    ['request', arg.request_id, task.task_id],
  ];
  const sorted = async (person: Person, more?: object) => inOrder(await find(person, undefined, more));
  expect(await sorted(team.member)).toEqual(inOrder([gate, ofTeam, personal, ...asked]));
  expect(await sorted(team.manager)).toEqual(inOrder([gate, ofTeam, ...asked]));
  // A guest reads runs of the team, but neither plans nor change requests; an impersonating administrator no change request.
  expect(await sorted(team.guest)).toEqual([String(gate)]);
  expect(await sorted(team.manager, { impersonatorId: team.admin.user_id })).toEqual(inOrder([gate, ofTeam]));
  const stranger = await buildTeam(app);
  expect(await sorted(stranger.admin)).toEqual([]);
});

it('what another team stages about a task is neither shown nor read', async () => {
  const other = await buildTeam(app);
  const run = await buildRun(app, other, { actions: [GATE, close()] as never[] });
  await app.as(other.member).get(`/api/approvals/gate/${run.run_id}`);
  const claim = { operation: { ...OPERATION, arguments: { task_id: task.task_id } } };
  await buildRequest(app, other, other.member, claim);
  const { subjects } = await db()('gates').where({ run_id: run.run_id }).first();
  expect(subjects).toEqual([`${other.team_id} ${task.task_id}`]);
  for (const person of [team.admin, other.admin]) expect(await find(person)).toEqual([]);
});

it('it is gone once it is decided, has expired or was cancelled', async () => {
  const [decided, cancelled, late] = [await gated(), await gated(), await gated({ expiresIn: 600 })];
  const plan = await planned('overnight_triage', team.admin);
  const asked = await buildRequest(app, team, team.member, { context: { task: task.task_id } });
  expect(await find(team.manager)).toHaveLength(5);
  await app.as(team.manager).post(`/api/automations/runs/${decided.run_id}/approve`, {});
  await app.as(team.manager).post(`/api/automations/runs/${cancelled.run_id}/cancel`, {});
  await db()('automation_runs')
    .where({ run_id: late.run_id })
    .update({ gate_expires_at: new Date(0) });
  await db()('agent_plans')
    .where({ action_id: plan.action_id })
    .update({ expires_at: new Date(0) });
  expect(await find(team.manager)).toEqual([['request', asked.request_id, task.task_id]]);
  await app.as(team.member).post(`/api/change-requests/${asked.request_id}/cancel`, {});
  expect(await find(team.manager)).toEqual([]);
  // A run that ended at its gate leaves nothing in the index.
  expect(await db()('gates').where({ run_id: cancelled.run_id }).first()).toMatchObject({ decision: null, subjects: null });
});

it('a gate that an older process opened shows by the task of its event, and by its actions once they are staged', async () => {
  const event = { task: { task_id: task.task_id, title: 'x' } };
  const comment = { type: 'add_comment', params: { task_id: 'nobody', content: 'x' } };
  const old = await buildRun(app, team, { actions: [GATE, comment] as never[], fields: { event } });
  const silent = await buildRun(app, team, { actions: [GATE, close()] as never[] });
  expect(await find(team.member)).toEqual([['gate', old.run_id, task.task_id]]);
  await app.as(team.member).get(`/api/approvals/gate/${silent.run_id}`);
  expect(new Set((await find(team.member)).map(([, id]) => id))).toEqual(new Set([old.run_id, silent.run_id]));
});

it('the migration finds what waited before it, and may be repeated', async () => {
  const run = await gated();
  const plan = await planned('overnight_triage', team.admin);
  const asked = await buildRequest(app, team, team.member, { context: { task: task.task_id } });
  for (const table of ['gates', 'agent_plans', 'change_requests']) await db()(table).update({ subjects: null });
  expect(await find(team.manager)).toEqual([]);
  for (const _time of [1, 2]) await up(db());
  // What a later migration made of its function.
  await sqlMigration('0150_kept_subjects.sql').up(db());
  expect(new Set((await find(team.manager)).map(([, id]) => id))).toEqual(
    new Set([run.run_id, plan.action_id, asked.request_id]),
  );
});

it('no value of an action looks like the name of a task', async () => {
  const other = await buildTask(app, team, await buildProject(app, team), { title: 'Another' });
  const content = `"entity_id":"${other.task_id}" \\"task_id\\":\\"${other.task_id}\\"`;
  const comment = { type: 'add_comment', params: { task_id: task.task_id, content } };
  const run = await buildRun(app, team, { actions: [GATE, comment] as never[] });
  await app.as(team.member).get(`/api/approvals/gate/${run.run_id}`);
  expect(await find(team.member, [other.task_id, task.task_id])).toEqual([['gate', run.run_id, task.task_id]]);
});

it('finds a task behind hundreds of names that the text makes up', async () => {
  const { number } = await db()('tasks').where({ task_id: task.task_id }).first();
  const { key } = await db()('teams').where({ team_id: team.team_id }).first();
  const ids = [];
  for (const named of [{ task_id: task.task_id }, { task: `${key}-${number}` }]) {
    const made = Array.from({ length: 3_000 }, (_, at) => ({ task: `AAA-${at}` }));
    const operation = { ...OPERATION, arguments: { made, zz: named } };
    ids.push((await buildRequest(app, team, team.member, { operation })).request_id);
  }
  expect(new Set((await find(team.manager)).map(([, id]) => id))).toEqual(new Set(ids));
});

it('reads by index, and as much as waits about the tasks', async () => {
  await gated();
  const { automation_id, automation_version } = await db()('automation_runs').where({ team_id: team.team_id }).first();
  await db().raw(
    /* sql */ `
    with runs as (
      insert into automation_runs (run_id, automation_id, automation_version, automation_name, team_id, creator_id, status, trigger_type, correlation_id,
        gate_expires_at, event)
      select uuidv7(), ?, ?, 'x', ?, ?, 'paused', 'manual', uuidv7(), now() + interval '1 day',
        jsonb_build_object('task', jsonb_build_object('task_id', 'other' || n)) from generate_series(1, 5000) n returning run_id
    )
    insert into gates (run_id, gate_index, required_role, expires_at) select run_id, 0, 'manager', now() + interval '1 day' from runs`,
    [automation_id, automation_version, team.team_id, team.member.user_id],
  );
  await planned('overnight_triage', team.admin);
  await buildRequest(app, team, team.member, { context: { task: task.task_id } });
  for (const [table, id] of [
    ['agent_plans', 'action_id'],
    ['change_requests', 'request_id'],
  ])
    await db().raw(/* sql */ `
      insert into ${table} select (jsonb_populate_record(x, jsonb_build_object('${id}', uuidv7(), 'canonical', '{"task":"o' || n || '"}'))).*
      from ${table} x, generate_series(1, 3000) n where x.team_id = '${team.team_id}'`);
  await db().raw('vacuum (analyze)');
  const [sent] = await captureStatements(() => find(team.member));
  if (!sent) throw new Error('nothing was asked');
  const nodes = nodesOf(await explain(app.database.url, sent));
  const scanned = nodes.filter(
    (node) => node['Node Type'] === 'Seq Scan' && /gates|runs|plans|requests/.test(node['Relation Name'] ?? ''),
  );
  expect(scanned.map((node) => node['Relation Name'])).toEqual([]);
  expect(nodes.map((node) => node['Index Name'])).toEqual(
    expect.arrayContaining(['gates_about', 'agent_plans_about', 'change_requests_about']),
  );
});

it('opens the gate of an event whose task is a long text, and shows a task under no name of another', async () => {
  const long = randomBytes(6_000).toString('base64');
  const run = await buildRun(app, team, { actions: [GATE] as never[], fields: { event: { task: { task_id: long } } } });
  const { subjects } = await db()('gates').where({ run_id: run.run_id }).first();
  expect(subjects).toBeNull();
  const { number, project_id } = await db()('tasks').where({ task_id: task.task_id }).first();
  const { key } = await db()('teams').where({ team_id: team.team_id }).first();
  const decoy = await buildTask(app, team, { project_id }, { task_id: `${key}-${number}`, title: 'Decoy' });
  await gated({ actions: [GATE, { type: 'set_task_status', params: { task_id: decoy.task_id, status: 'done' } }] });
  expect(await find(team.manager)).toEqual([]);
  expect(await find(team.manager, [decoy.task_id])).toHaveLength(1);
});

it('finds what waits beside hundreds that have ended and are not closed yet', async () => {
  const ended = await buildRequest(app, team, team.member, { context: { task: task.task_id } });
  const open = await buildRequest(app, team, team.manager, { context: { task: task.task_id } });
  const { rows } = await db().raw(
    "select string_agg(column_name, ', ') as all from information_schema.columns where table_name = 'change_requests' and is_generated = 'NEVER' and column_name not in ('request_id', 'expires_at', 'idempotency_key')",
  );
  await db().raw(
    `insert into change_requests (request_id, expires_at, ${rows[0].all}) select uuidv7(), now() - interval '1 hour', ${rows[0].all} from change_requests, generate_series(1, 250) where request_id = ?`,
    [ended.request_id],
  );
  expect((await find(team.manager)).map(([, id]) => id)).toContain(open.request_id);
});
