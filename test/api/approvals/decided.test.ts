import { v7 as uuidv7 } from 'uuid';
import { buildSession, staged } from '../../factories/agent.js';
import {
  buildPerson,
  buildProject,
  buildTask,
  buildTeam,
  buildToken,
  type Person,
  type TestTeam,
} from '../../factories/people.js';
import { about, buildRequest } from '../../factories/requests.js';
import { buildRun, GATE } from '../../factories/runs.js';
import { startApp, type TestApp } from '../../support/app.js';
import { rowsRead } from '../../support/rows-read.js';
import { Decided } from '../../../api/approvals/schema.js';
import { run } from '../../../db/statement.js';
import { decidedStatement } from '../../../api/approvals/decided.sql.js';

let app: TestApp;
let team: TestTeam;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
});

type Caller = Parameters<TestApp['as']>[0];
type Entry = Record<string, unknown> & { decision_id: string; id: string };
const decided = async (person: Caller, query = ''): Promise<Entry[]> => {
  const { status, body } = await app.as(person).get(`/api/approvals/decided?${query}`);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body as Entry[];
};
const decide = (run_id: string, verb: string, person: Person, body: object = {}) =>
  app.as(person).post(`/api/automations/runs/${run_id}/${verb}`, body);

/** A gate, a plan and a request of the team that ended, in this order. */
async function decideThree() {
  const gate = await buildRun(app, team, { actions: [{ ...GATE, params: { message: 'Scale up to 8?' } }] });
  await decide(gate.run_id, 'approve', team.manager, { comment: 'For Friday' });
  const { task_id } = await buildTask(app, team, await buildProject(app, team));
  const session = await buildSession(app, team, { kind: 'overnight_triage' });
  const actions = [{ tool: 'task.comment' as const, entity_id: task_id, params: { content: 'Hi' } }];
  const plan = await staged(app, team.admin, actions, { session, source: 'overnight_triage', lifeHours: 1 });
  const discard = { session_id: session.session_id, action_id: plan.action_id, confirmed: false, comment: 'Not now' };
  await app.as(team.admin).post('/api/ai-workspace/agent/confirm', discard);
  const request = await buildRequest(app, team, team.member);
  await about(app.as(team.member), request).cancel();
  return { gate, plan, request };
}

it('lists who decided gates, plans and requests, what, and what came of it, newest first', async () => {
  const { gate, plan, request } = await decideThree();
  expect(await decided(team.member)).toMatchObject([
    {
      kind: 'request',
      id: request.request_id,
      title: 'Release 4.2',
      state: 'cancelled',
      closed_reason: 'requester',
      status: 'cancelled',
    },
    {
      kind: 'plan',
      id: plan.action_id,
      state: 'rejected',
      decided_by: team.admin.user_id,
      comment: 'Not now',
      status: 'discarded',
    },
    {
      kind: 'gate',
      id: gate.run_id,
      gate_index: 0,
      title: 'Deploy on merge',
      message: 'Scale up to 8?',
      state: 'approved',
      decided_by: team.manager.user_id,
      approved_by: [team.manager.user_id],
      comment: 'For Friday',
      url: expect.stringMatching(`/app/runs/${gate.run_id}$`),
    },
  ]);
  const [entry] = await decided(team.member);
  expect(Object.keys(entry ?? {}).toSorted()).toEqual(Object.keys(Decided.shape).toSorted());
});

it('goes on by a cursor, and finds a person, a kind, a team and a time', async () => {
  const { gate, plan, request } = await decideThree();
  const ids = async (query: string) => (await decided(team.manager, query)).map(({ id }) => id);
  const first = await app.as(team.manager).get('/api/approvals/decided?limit=2');
  expect(first.body).toHaveLength(2);
  expect(first.headers.get('link')).toContain('rel="next"');
  expect(await ids(`limit=2&before=${(first.body as Entry[])[1]?.decision_id}`)).toEqual([gate.run_id]);
  expect(await ids(`decided_by=${team.manager.user_id}`)).toEqual([gate.run_id]);
  expect(await ids(`decided_by=${team.admin.user_id}`)).toEqual([plan.action_id]);
  expect(await ids('kind=request')).toEqual([request.request_id]);
  expect(await ids(`team_id=${uuidv7()}`)).toEqual([]);
  expect(await ids('to=2026-01-01T00:00:00Z')).toEqual([]);
  expect((await app.as(team.manager).get('/api/approvals/decided?to=yesterday')).status).toBe(422);
});

it('shows only what the caller may read today', async () => {
  const { gate, plan } = await decideThree();
  const mine = await buildRun(app, team, { creator: team.member, inTeam: false, actions: [GATE] });
  await decide(mine.run_id, 'reject', team.member);
  const ids = async (person: Caller) => (await decided(person)).map(({ id }) => id);
  expect(await ids(team.member)).toContain(mine.run_id);
  expect(await ids(team.admin)).not.toContain(mine.run_id);
  expect(await ids(team.guest)).toEqual([gate.run_id]);
  expect(await ids((await buildTeam(app)).admin)).toEqual([]);
  expect((await ids(await buildToken(app, team.manager, ['automations:read']))).toSorted()).toEqual(
    [gate.run_id, plan.action_id].toSorted(),
  );
  const root = await buildPerson(app, { role: 'admin' });
  const { body } = await app
    .as(root)
    .post('/api/admin/impersonate', { user_id: team.manager.user_id, reason: 'A ticket of the support' });
  expect((await decided(body as { token: string })).map(({ kind }) => kind)).toEqual(['plan', 'gate']);
  await app.services.db('memberships').where({ user_id: team.guest.user_id }).delete();
  expect(await ids(team.guest)).toEqual([]);
});

it('lists a gate that expired, then one that was cancelled with its run', async () => {
  const late = await buildRun(app, team, { actions: [GATE] });
  await app.services.db('gates').where({ run_id: late.run_id }).update({ lapsed_at: app.services.db.fn.now() });
  const stopped = await buildRun(app, team, { automation: late });
  await decide(stopped.run_id, 'cancel', team.manager);
  expect(await decided(team.guest)).toMatchObject([
    { id: stopped.run_id, state: 'cancelled', decided_by: null },
    { id: late.run_id, state: 'expired', decided_by: null, approved_by: [] },
  ]);
});

describe('with a long history', () => {
  /** Rows of the log about one run of the team, by a person. */
  const fill = (team_id: string, run_id: string, decided_by: string | null, count: number, kind = 'gate') =>
    app.services.db.raw(
      `insert into decision_log (decision_id, kind, team_id, source, state, requested_at, decided_by, subject_id, gate_index)
       select uuidv7(make_interval(secs => -n)), ?, ?, 'x', 'approved', now(), ?, ?, 0 from generate_series(1, ?) n`,
      [kind, team_id, decided_by, run_id, count],
    );
  const read = (person: Person, values: Partial<Record<'kinds' | 'person', unknown>> = {}) => {
    const { kinds = ['gate', 'plan', 'request'], person: by = null } = values;
    const end = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
    const all = [person.user_id, ['member', 'manager', 'admin'], 51, null, kinds, end, by];
    return rowsRead(app.services.db, 'decision_log_%', (trx) => run(trx, decidedStatement, all));
  };

  it('reads a bounded part of it', async () => {
    const gate = await buildRun(app, team, { actions: [GATE] });
    const other = await buildTeam(app);
    await fill(other.team_id, gate.run_id, other.admin.user_id, 3_000);
    await fill(team.team_id, gate.run_id, team.admin.user_id, 3_000);
    // A new partition is analyzed once it has 50 rows.
    await app.services.db.raw('analyze decision_log');
    expect(await read(team.guest)).toBeLessThan(200);
    // What the filter leaves out is read to the same bound; a person has an index.
    expect(await read(team.guest, { kinds: ['plan'] })).toBeLessThan(200);
    expect(await read(team.guest, { person: team.manager.user_id })).toBeLessThan(200);
    expect(await read(other.guest, { person: other.admin.user_id })).toBeLessThan(200);
  });

  it('goes on past what it may not show', async () => {
    const gate = await buildRun(app, team, { actions: [GATE] });
    await decide(gate.run_id, 'approve', team.manager);
    await app.services
      .db('decision_log')
      .update({ decision_id: app.services.db.raw("uuidv7(interval '-1 hour')") })
      .where({ subject_id: gate.run_id });
    // Plans that are gone.
    await fill(team.team_id, uuidv7(), team.admin.user_id, 400, 'plan');
    const pages: number[] = [];
    let next: string | null = '/api/approvals/decided?limit=50';
    while (next !== null) {
      const { body, headers }: { body: Entry[]; headers: Headers } = await app.as(team.guest).get(next);
      pages.push(body.length);
      next = /<[^>]*?(\/api[^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1] ?? null;
    }
    expect(pages).toEqual([0, 0, 1]);
  });
});
