import { buildSession, staged, type TestSession } from '../../../factories/agent.js';
import { buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../../../factories/people.js';
import { type Answer, startApp, type TestApp } from '../../../support/app.js';
import { inTurn } from '../../../support/in-turn.js';

// Some edit a plan of a team while others confirm it. Either the plan is applied or its copy waits, and nothing is applied twice.

/** `npm run test:long` plays each race far more often. */
const ROUNDS = Number(process.env['CAS_ROUNDS'] ?? 6);
const LONG = 120_000 + ROUNDS * 4_000;

let app: TestApp;
let team: TestTeam;
let session: TestSession;
let project: { project_id: string };
let task: { task_id: string };
beforeAll(async () => {
  app = await startApp({}, 60_000);
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  session = await buildSession(app, { team_id: team.team_id }, { kind: 'automation' });
  project = await buildProject(app, team);
  task = await buildTask(app, team, project, { title: 'Rivet' });
});

type Plan = { action_id: string; plan_hash: string };
const db = () => app.services.db;
const plans = '/api/ai-workspace/agent';
const confirm = (person: Person, { action_id, plan_hash }: Plan) =>
  app.as(person).post(`${plans}/confirm`, { session_id: session.session_id, action_id, plan_hash });
const edit = (person: Person, { action_id, plan_hash }: Plan, title: string) => {
  const params = { title: `${title} by ${person === team.admin ? 'admin' : 'manager'}` };
  return app.as(person).post(`${plans}/plans/${action_id}/edit`, { plan_hash, changes: [{ index: 0, params }] });
};
/** One of a batch; its status is that of the item. */
async function decide(person: Person, { action_id, plan_hash }: Plan): Promise<Answer> {
  const items = [{ kind: 'plan', id: action_id, staged_hash: plan_hash }];
  const answer = await app.as(person).post('/api/approvals/decide', { decision: 'approve', items });
  return { ...answer, status: answer.body.results[0].http_status ?? answer.status };
}

/** Titles of the tasks that plans have made, and the comments they have written. */
const made = () =>
  db()('tasks').where({ project_id: project.project_id }).whereNot({ task_id: task.task_id }).pluck<string[]>('title');
const said = () => db()('comments').where({ task_id: task.task_id }).pluck<string[]>('content');
const toRow = ({ action_id }: Plan) => db()('agent_plans').where({ action_id }).first();
const loadLog = async (plan: Plan): Promise<string[]> => {
  const { staged_at } = await toRow(plan);
  return db()('decision_log')
    .where({ kind: 'plan', team_id: team.team_id })
    .whereRaw("date_trunc('milliseconds', requested_at) = ?", [staged_at])
    .pluck('state');
};

type Request = { kind: 'edit' | 'yes'; send: () => Promise<Answer> };
const requestsOn = (plan: Plan, title: string): Request[] => [
  { kind: 'edit', send: () => edit(team.admin, plan, `${title} edited`) },
  { kind: 'yes', send: () => confirm(team.manager, plan) },
  { kind: 'yes', send: () => decide(team.member, plan) },
  { kind: 'edit', send: () => edit(team.manager, plan, `${title} edited`) },
];

/** Checks that one request has won, and that the plan and what it does tell of the same one. Returns the kind that won. */
async function checkEnd(plan: Plan, title: string, requests: Request[], answers: Answer[]): Promise<Request['kind']> {
  const winners = answers.flatMap(({ status, body }, at) => (status === 200 ? [{ body, kind: requests[at]?.kind }] : []));
  expect(winners).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(answers.length - 1);
  const [{ kind, body }] = winners as [{ kind: Request['kind']; body: Plan }];
  const waiting = await db()('agent_plans').where({ team_id: team.team_id, status: 'staged' }).pluck('action_id');
  if (kind === 'yes') {
    expect(await toRow(plan)).toMatchObject({ status: 'applied', closed_reason: null });
    expect([waiting, await made(), await said(), await loadLog(plan)]).toEqual([[], [title], [title], ['approved']]);
    return kind;
  }
  expect(await toRow(plan)).toMatchObject({ status: 'discarded', closed_reason: 'superseded', decided_by: null });
  expect([waiting, await made(), await said(), await loadLog(plan)]).toEqual([[body.action_id], [], [], ['cancelled']]);
  // The yes to the old plan is none to the copy, which two people confirm at once.
  const late = await confirm(team.manager, { ...body, plan_hash: plan.plan_hash });
  expect(late.status).toBe(409);
  const yes = await Promise.all([confirm(team.member, body), decide(team.manager, body)]);
  expect(yes.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
  const { edited_by } = await toRow(body);
  const editor = edited_by[0] === team.admin.user_id ? 'admin' : 'manager';
  expect([await made(), await said(), await loadLog(body)]).toEqual([[`${title} edited by ${editor}`], [title], ['approved']]);
  return kind;
}

/** A plan that makes a task and writes a comment: both are seen if they happen twice. */
async function play(
  round: number,
  race: (plan: Plan, requests: Request[]) => Promise<Answer[]>,
): Promise<[string | undefined, string]> {
  await db()('tasks').where({ project_id: project.project_id }).whereNot({ task_id: task.task_id }).delete();
  await db()('comments').where({ task_id: task.task_id }).delete();
  const title = `Round ${round}`;
  const actions = [
    { tool: 'task.create' as const, params: { title, project_id: project.project_id } },
    { tool: 'task.comment' as const, entity_id: task.task_id, params: { content: title } },
  ];
  const plan = await staged(app, team.member, actions, { session, source: 'automation', lifeHours: 24 });
  const all = requestsOn(plan, title);
  const requests = [...all.slice(round % 4), ...all.slice(0, round % 4)];
  return [requests[0]?.kind, await checkEnd(plan, title, requests, await race(plan, requests))];
}

it(
  'in every order: the first request has the plan',
  async () => {
    for (let round = 0; round < 4; round += 1) {
      const [first, winner] = await play(round, ({ action_id }, requests) =>
        inTurn(
          app,
          (holder) => holder('agent_plans').where({ action_id }).forUpdate(),
          requests.map(({ send }) => send),
        ),
      );
      expect(winner).toBe(first);
    }
  },
  LONG,
);

it(
  'all at once: one of them has the plan',
  async () => {
    for (let round = 0; round < ROUNDS; round += 1)
      await play(round, (_, requests) => Promise.all(requests.map(({ send }) => send())));
  },
  LONG,
);
