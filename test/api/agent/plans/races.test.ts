import { checkInvariants } from '../../../../scripts/chaos/invariants.js';
import { expirePlans } from '../../../../api/agent/plans/waiting/expire-plans.js';
import { buildSession, staged } from '../../../factories/agent.js';
import { buildProject, buildTask, buildTeam, buildToken, type TestTeam } from '../../../factories/people.js';
import { killApiProcesses, startApiProcess } from '../../../resilience/api-process.js';
import { type Answer, startApp, type TestApp } from '../../../support/app.js';
import { StandStill } from '../../../support/stand-still.js';
import { until } from '../../../support/worker.js';

/** What races a confirmation; `npm run test:long` plays each far more often. */
const ROUNDS = Number(process.env['CAS_ROUNDS'] ?? 3);
const LONG = 120_000 + ROUNDS * 2_000;
const RACERS = 20;

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let task: { task_id: string };
let plan: Awaited<ReturnType<typeof staged>>;
let session_id: string;
let token_id: string;

beforeAll(async () => {
  app = await startApp({}, 60_000);
});
afterAll(async () => {
  killApiProcesses();
  await app.close();
});
afterEach(async () => {
  const verdicts = await checkInvariants({ services: app.services });
  expect(
    verdicts.filter(({ name, violations }) => !['outbox_empty', 'plans_carried'].includes(name) && violations.length > 0),
  ).toEqual([]);
}, LONG);

const db = () => app.services.db;
const times = <T>(count: number, of: (nth: number) => T): T[] => Array.from({ length: count }, (_, nth) => of(nth));
const planRow = () => db()('agent_plans').where({ action_id: plan.action_id }).first();
const taskRow = () => db()('tasks').where({ task_id: task.task_id }).first();
const comments = async () => (await db()('comments').where({ task_id: task.task_id })).length;
/** Connections to the database in this state. */
const rows = async (condition: string): Promise<number> => {
  const found = await db().raw(`select count(*)::int from pg_stat_activity where datname = current_database() and ${condition}`);
  return found.rows[0].count as number;
};
const statuses = (answers: Answer[]) => answers.map(({ status }) => status).toSorted((a, b) => a - b);
const decide = (fields: Record<string, unknown> = {}, url?: string) => {
  const body = { session_id, action_id: plan.action_id, ...fields };
  if (!url) return app.as(team.member).post('/api/ai-workspace/agent/confirm', body);
  const headers = { authorization: `Bearer ${team.member.token}`, 'content-type': 'application/json' };
  return fetch(`${url}/api/ai-workspace/agent/confirm`, { method: 'POST', headers, body: JSON.stringify(body) });
};

/** A plan of a token's session: a status and two comments. */
async function prepare(): Promise<void> {
  team = await buildTeam(app);
  project = await buildProject(app, team);
  task = await buildTask(app, team, project);
  await buildToken(app, team.member, ['ai:chat']);
  ({ token_id } = await db()('personal_access_tokens').where({ user_id: team.member.user_id }).first());
  const session = await buildSession(app, { user_id: team.member.user_id }, { kind: 'mcp', token_id });
  session_id = session.session_id;
  const on = { entity_id: task.task_id };
  plan = await staged(
    app,
    team.member,
    [
      { tool: 'task.comment', ...on, params: { content: 'first' } },
      { tool: 'task.set_status', ...on, params: { status: 'done' } },
      { tool: 'task.comment', ...on, params: { content: 'second' } },
    ],
    { session, source: 'mcp', tokenId: token_id, lifeHours: 168 },
  );
}
const rounds = async (play: () => Promise<void>): Promise<void> => {
  for (let round = 0; round < ROUNDS; round += 1) {
    await prepare();
    await play();
  }
};
/** All of the plan, or nothing. */
const expectWhole = async (applied: boolean) => {
  expect([(await taskRow()).status, await comments()]).toEqual(applied ? ['done', 2] : ['todo', 0]);
};

it(
  'of 20 confirmations one applies the plan',
  () =>
    rounds(async () => {
      const answers = (await Promise.all(times(RACERS, () => decide()))) as Answer[];
      expect(statuses(answers)).toEqual([200, ...times(RACERS - 1, () => 409)]);
      await expectWhole(true);
    }),
  LONG,
);

it(
  'confirmations and discards: one wins, and the answer says who',
  () =>
    rounds(async () => {
      const answers = (await Promise.all(times(RACERS, (nth) => decide({ confirmed: nth % 2 === 0 })))) as Answer[];
      expect(statuses(answers)).toEqual([200, ...times(RACERS - 1, () => 409)]);
      const { status } = await planRow();
      expect(answers.find((answer) => answer.status === 200)?.body.status).toBe(status);
      await expectWhole(status === 'applied');
    }),
  LONG,
);

it(
  'confirmations and the end of the time',
  () =>
    rounds(async () => {
      await db()('agent_plans')
        .where({ action_id: plan.action_id })
        .update({ expires_at: db().raw("clock_timestamp() + interval '30 ms'") });
      const expiring = until(async () => (await expirePlans(app.services)) > 0 || (await planRow()).status !== 'staged');
      const answers = (await Promise.all(times(RACERS, () => decide()))) as Answer[];
      await expiring;
      const { status } = await planRow();
      for (const answer of answers) expect([200, 409, 410]).toContain(answer.status);
      expect(answers.filter((answer) => answer.status === 200)).toHaveLength(status === 'applied' ? 1 : 0);
      await expectWhole(status === 'applied');
    }),
  LONG,
);

it(
  'confirmations and an edit: the plan is applied before it, or stale',
  () =>
    rounds(async () => {
      const edit = () => app.as(team.manager).patch(`/api/tasks/${task.task_id}`, { title: 'Edited' });
      const [edited, ...answers] = (await Promise.all([edit(), ...times(RACERS, () => decide())])) as Answer[];
      expect(edited?.status).toBe(200);
      const { status } = await planRow();
      expect(['applied', 'stale']).toContain(status);
      expect(answers.filter((answer) => answer.status === 200)).toHaveLength(status === 'applied' ? 1 : 0);
      await expectWhole(status === 'applied');
    }),
  LONG,
);

it(
  'confirmations and a demotion, a removal, a revocation of the token: all of the plan or nothing',
  () =>
    rounds(async () => {
      const seat = () => `/api/teams/${team.team_id}/members/${team.member.user_id}`;
      for (const lose of [
        () => app.as(team.admin).patch(seat(), { role: 'guest' }),
        () => app.as(team.admin).delete(seat()),
        () => app.as(team.member).delete(`/api/auth/tokens/${token_id}`),
      ]) {
        await prepare();
        const [lost, ...answers] = (await Promise.all([lose(), ...times(RACERS, () => decide())])) as Answer[];
        expect(lost?.status).toBe(200);
        const { status } = await planRow();
        for (const answer of answers) expect([200, 403, 409]).toContain(answer.status);
        expect(answers.filter((answer) => answer.status === 200)).toHaveLength(status === 'applied' ? 1 : 0);
        await expectWhole(status === 'applied');
      }
    }),
  LONG,
);

it(
  'an API process that dies within a confirmation leaves nothing of it',
  async () => {
    await prepare();
    const api = await startApiProcess(app, { RATE_LIMIT_AI: '100000' });
    // The last action stands still, after the first two have written.
    const still = new StandStill(app);
    await still.open();
    await still.at('second', { table: 'comments', when: 'before insert', condition: "new.content = 'second'", owner: "''" });
    await still.hold('second', '');
    const asked = decide({}, api.url).catch(() => 'cut');
    await until(async () => (await still.standing()) > 0);
    await still.kill(api.child);
    await still.close();
    expect(await asked).toBe('cut');
    await until(async () => (await rows("state <> 'idle' and pid <> pg_backend_pid()")) === 0);
    expect((await planRow()).status).toBe('staged');
    await expectWhole(false);
    expect(((await decide()) as Answer).status).toBe(200);
    await expectWhole(true);
  },
  LONG,
);
