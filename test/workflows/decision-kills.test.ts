/** A worker that is killed about a gate: while the gate opens, and between a yes and what it releases. Real processes, real Temporal. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mailsTo } from '../factories/accounts.js';
import { buildAutomation, comment, gate } from '../factories/automations.js';
import { buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../factories/people.js';
import { startApp, type TestApp } from '../support/app.js';
import { type Place, StandStill } from '../support/stand-still.js';
import { queuePrefix, until, untilRunIs } from '../support/worker.js';
import { startWorkerProcess } from '../support/worker-process.js';

const TEAM_OF_RUN = '(select team_id from automation_runs where run_id = new.run_id)';
const TEAM_OF_MAIL = '(select m.team_id from memberships m join users u using (user_id) where u.email = new.recipient)';
/** Points of the opening of a gate, and the team that each row belongs to. */
const POINTS = {
  // The gate is there, and the run does not wait at it yet.
  paused: { table: 'automation_runs', when: 'before update', condition: "new.status = 'paused' and old.status <> 'paused'" },
  staged: {
    table: 'gates',
    when: 'before update',
    condition: 'new.staged is not null and old.staged is null',
    owner: TEAM_OF_RUN,
  },
  mailed: { table: 'mails', when: 'before insert', owner: TEAM_OF_MAIL },
  // Within COMMIT: the gate is open, and neither the workflow nor anybody else has heard of it.
  opened: { table: 'gates', when: 'deferred insert', owner: TEAM_OF_RUN },
  // An approved action has written its comment, and later: it is done, and nobody has heard of it.
  acting: { table: 'comments', when: 'before insert' },
  done: { table: 'comments', when: 'deferred insert' },
} as const satisfies Record<string, Place>;
const OPENING = ['paused', 'staged', 'mailed', 'opened'] as const;
// Only the first task starts a run, so the task that the run creates does not.
const condition = 'task.title == "it"';
type Case = { team: TestTeam; automation: { automation_id: string }; task: { task_id: string } };

let app: TestApp;
let worker: ChildProcess;
let still: StandStill;
const db = () => app.services.db;
const startWorker = async () => {
  worker = await startWorkerProcess(app, { DATABASE_POOL_SIZE: '20' });
};

beforeAll(async () => {
  app = await startApp({ TASK_QUEUE_PREFIX: queuePrefix() });
  still = new StandStill(app);
  await still.open();
  for (const [name, place] of Object.entries(POINTS)) await still.at(name, place);
  await startWorker();
});
afterAll(async () => {
  worker.kill('SIGKILL');
  await still.close();
  await app.close();
});

/** A team whose automation asks before it comments twice on a new task and makes another one. `hold`: what stands still from now on. */
async function build(hold?: keyof typeof POINTS): Promise<Case> {
  const team = await buildTeam(app);
  const actions = [
    gate({ message: 'Say {{event.task.title}}?' }),
    comment('First: {{event.task.title}}'),
    comment('Second: {{event.task.title}}'),
    { type: 'create_task', params: { title: 'After {{event.task.title}}', project_id: '{{event.task.project_id}}' } },
  ];
  const automation = await buildAutomation(app, team, { actions, condition, creator: team.member, name: 'Killed' });
  if (hold) await still.hold(hold, team.team_id);
  const task = await buildTask(app, team, await buildProject(app, team), { title: 'it' });
  return { team, automation, task };
}

const findRun = async ({ automation }: Case) => db()('automation_runs').where(automation).first();
const approve = (person: Person, run_id: string, body: object) =>
  app.as(person).post(`/api/automations/runs/${run_id}/approve`, body);
const shownTo = async ({ team }: Case, run_id: string) => (await app.as(team.manager).get(`/api/approvals/gate/${run_id}`)).body;

/** Checks that the gate was staged once and that each approver was asked once, by mail and in the app. */
async function checkAsked(one: Case, run_id: string): Promise<void> {
  expect(await db()('gates').where({ run_id })).toMatchObject([{ gate_index: 0, staged_tried: true, reopened: 0 }]);
  expect(await db()('audit_entries').where({ entity_id: run_id, action: 'stage' })).toHaveLength(1);
  for (const person of [one.team.admin, one.team.manager]) {
    const mails = await mailsTo(app, person);
    expect(mails.map(({ subject }) => subject)).toEqual(['Waiting for your approval: it (Killed)']);
    const notes = await db()('notifications').where({ user_id: person.user_id }).pluck('kind');
    expect(notes).toEqual(['approval_requested']);
  }
  for (const person of [one.team.member, one.team.guest]) expect(await mailsTo(app, person)).toEqual([]);
}

/** Checks that each approved action happened once, and is what was shown before the yes. */
async function checkDone(one: Case, run_id: string, shown: { staged_hash: string; actions: object[] }): Promise<void> {
  await untilRunIs(app, one.automation, 'succeeded');
  expect(shown.actions).toMatchObject([
    { title: 'it', fields: [{ name: 'content', after: 'First: it' }] },
    { title: 'it', fields: [{ name: 'content', after: 'Second: it' }] },
    { title: 'After it' },
  ]);
  const comments = await db()('comments').where({ team_id: one.team.team_id }).orderBy('created_at');
  expect(comments.map(({ task_id, content }) => [task_id, content])).toEqual([
    [one.task.task_id, 'First: it'],
    [one.task.task_id, 'Second: it'],
  ]);
  const titles = await db()('tasks').where({ team_id: one.team.team_id }).orderBy('created_at').pluck('title');
  expect(titles).toEqual(['it', 'After it']);
  expect(await db()('effects').where({ run_id })).toHaveLength(3);
  expect(await db()('run_actions').where({ run_id }).pluck('status')).toEqual([
    'succeeded',
    'succeeded',
    'succeeded',
    'succeeded',
  ]);
  const [entry, ...others] = await db()('audit_entries').where({ entity_id: run_id, action: 'approve' });
  expect([JSON.parse(entry.details).staged_hash, others]).toEqual([shown.staged_hash, []]);
  const figures = await app.as(one.team.admin).get(`/api/approvals/figures?team_id=${one.team.team_id}`);
  expect(figures.body.figures).toMatchObject([{ key: one.automation.automation_id, count: 1, approved: 1 }]);
}

it('a worker that dies at each point of the opening of a gate stages it once and asks each approver once', async () => {
  const cases: Case[] = [];
  for (const point of OPENING) {
    cases.push(await build(point));
    await until(async () => (await still.standing()) === cases.length);
  }
  for (const one of cases) expect((await findRun(one)).status).toBe('queued');
  await still.kill(worker);
  const [paused, staged, mailed, opened] = await Promise.all(
    cases.map(async (one) => (await db()('gates').where({ run_id: (await findRun(one)).run_id })).length),
  );
  expect({ paused, staged, mailed, opened }).toEqual({ paused: 0, staged: 0, mailed: 0, opened: 1 });
  await startWorker();
  for (const one of cases) {
    const { run_id } = await untilRunIs(app, one.automation, 'paused');
    const shown = await shownTo(one, run_id);
    expect((await approve(one.team.manager, run_id, { staged_hash: shown.staged_hash, seen_hash: shown.seen_hash })).status).toBe(
      200,
    );
    await checkDone(one, run_id, shown);
    await checkAsked(one, run_id);
  }
}, 240_000);

it('performs what was approved, despite edits and worker deaths after the approval', async () => {
  const one = await build();
  const { run_id } = await untilRunIs(app, one.automation, 'paused');
  const shown = await shownTo(one, run_id);
  const gone = once(worker, 'exit');
  worker.kill('SIGKILL');
  await gone;
  expect((await approve(one.team.manager, run_id, { staged_hash: shown.staged_hash, seen_hash: shown.seen_hash })).status).toBe(
    200,
  );
  const path = `/api/automations/${one.automation.automation_id}`;
  const actions = [gate(), comment('Other'), comment('Others'), comment('All others')];
  expect(
    (await app.as(one.team.member).put(path, { name: 'Killed', trigger_type: 'task.created', condition, actions })).status,
  ).toBe(200);
  await db()('automation_versions')
    .where(one.automation)
    .update({ actions: JSON.stringify(actions) });
  const { event } = await findRun(one);
  const forged = JSON.stringify({ ...event, task: { ...event.task, title: 'another', task_id: 'another' } });
  await db()('automation_runs').where({ run_id }).update({ event: forged });
  for (const point of ['acting', 'done'] as const) {
    await still.hold(point, one.team.team_id);
    await startWorker();
    await until(async () => (await still.standing()) === 1);
    await still.kill(worker);
    const comments = await db()('comments').where({ team_id: one.team.team_id }).pluck('content');
    expect({ point, comments }).toEqual({ point, comments: point === 'done' ? ['First: it'] : [] });
  }
  await startWorker();
  await checkDone(one, run_id, shown);
  await checkAsked(one, run_id);
}, 240_000);
