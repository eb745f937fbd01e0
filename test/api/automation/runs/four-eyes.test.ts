import { openGate } from '../../../../api/automation/runs/approvals/asking/open-gate.js';
import { buildPerson, buildTeam, type Person, type TestTeam } from '../../../factories/people.js';
import { buildRun, GATE, GATED, openNextGate, type TestRun } from '../../../factories/runs.js';
import { startApp, type TestApp } from '../../../support/app.js';

// A gate without self-approval needs a second person: neither the creator, nor an author of what would run, nor whoever started it.

let app: TestApp;
let team: TestTeam;
let other: Person;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  other = await join('manager');
});

const ROUNDS = 20;
const db = () => app.services.db;
const join = async (role: string): Promise<Person> => {
  const person = await buildPerson(app);
  await db()('memberships').insert({ team_id: team.team_id, user_id: person.user_id, role });
  return person;
};
const strict = (params: object = {}) => ({ ...GATE, params: { allow_self_approval: false, ...params } });
const actionsWith = (content: string, params: object = {}) => [
  GATED[0] as (typeof GATED)[0],
  strict(params),
  { type: 'add_comment', params: { task_id: 't', content } },
];
async function make(creator: Person = team.member, params: object = {}) {
  const body = { name: 'Ship', trigger_type: 'task.created', team_id: team.team_id, actions: actionsWith('safe', params) };
  return (await app.as(creator).post('/api/automations', body)).body as { automation_id: string };
}
const path = ({ automation_id }: { automation_id: string }) => `/api/automations/${automation_id}`;
const edit = (person: Person, automation: { automation_id: string }, body: object) =>
  app.as(person).patch(path(automation), body);
/** A run of the automation's current version, waiting at its gate. */
const startRun = (automation: { automation_id: string }, fields: object = {}, creator = team.member) =>
  buildRun(app, team, { automation, creator, fields: { ...fields } });
const approve = async (person: Person, { run_id }: TestRun, body?: object, headers?: Record<string, string>) =>
  (await app.as(person).post(`/api/automations/runs/${run_id}/approve`, body, headers ? { headers } : {})).status;
const canDecide = async (person: Person, run: TestRun): Promise<boolean> => {
  const { approvals } = (await app.as(person).get('/api/automations/approvals')).body;
  return approvals.find(({ run_id }: TestRun) => run_id === run.run_id).can_decide;
};

describe('who may approve', () => {
  it.each([
    ['PATCH', (a: { automation_id: string }) => edit(team.manager, a, { actions: actionsWith('sent elsewhere') })],
    [
      'PUT',
      (a: { automation_id: string }) =>
        app.as(team.manager).put(path(a), { name: 'Ship', trigger_type: 'task.created', actions: actionsWith('sent elsewhere') }),
    ],
    [
      'rollback',
      async (a: { automation_id: string }) => {
        await edit(team.member, a, { actions: actionsWith('newer') });
        return app.as(team.manager).post(`${path(a)}/rollback`, { version: 1 });
      },
    ],
    ['take-over', (a: { automation_id: string }) => app.as(team.manager).post(`${path(a)}/take-over`, {})],
  ])('not the author of the version, who changed it by %s; another manager may', async (_name, change) => {
    const automation = await make();
    expect((await change(automation)).status).toBe(200);
    const run = await startRun(automation);
    expect([await canDecide(team.manager, run), await canDecide(other, run)]).toEqual([false, true]);
    expect(await approve(team.manager, run, { gate_index: 1 })).toBe(403);
    expect(await approve(other, run, { gate_index: 1 })).toBe(200);
  });

  it('not the creator, when another user wrote the version', async () => {
    const automation = await make(team.manager);
    await edit(other, automation, { actions: actionsWith('newer') });
    const run = await startRun(automation, {}, team.manager);
    expect(await approve(team.manager, run)).toBe(403);
    expect(await approve(other, run)).toBe(403);
    expect(await approve(team.admin, run)).toBe(200);
  });

  it('keeps the author of unchanged actions: a rename, a rollback, a take-over by another user', async () => {
    const renamed = await make();
    await edit(team.manager, renamed, { actions: actionsWith('sent elsewhere') });
    await edit(other, renamed, { name: 'Ship it', actions: actionsWith('sent elsewhere') });
    const [first] = [await startRun(renamed)];
    expect(await approve(team.manager, first)).toBe(403);
    expect(await approve(other, first)).toBe(403);
    await edit(team.member, renamed, { actions: actionsWith('safe again') });
    const mended = await startRun(renamed);
    expect([await canDecide(team.manager, mended), await canDecide(other, mended)]).toEqual([true, true]);
    await app.as(other).post(`${path(renamed)}/rollback`, { version: 3 });
    await app.as(team.admin).post(`${path(renamed)}/take-over`, {});
    const last = await startRun(renamed, {}, team.admin);
    for (const person of [team.manager, other, team.admin]) expect(await approve(person, last)).toBe(403);
    expect(await approve(await join('manager'), last)).toBe(200);
  });

  it('two managers who alternate: each is the author of what they wrote, and approves the other’s only', async () => {
    const automation = await make();
    const runs: TestRun[] = [];
    for (const [n, person] of [team.manager, other, team.manager, other].entries()) {
      await edit(person, automation, { actions: actionsWith(`by turns ${n}`) });
      runs.push(await startRun(automation));
    }
    for (const [n, run] of runs.entries()) {
      const [author, second] = n % 2 === 0 ? [team.manager, other] : [other, team.manager];
      expect([await approve(author, run), await approve(second, run)]).toEqual([403, 200]);
    }
  });

  it('a run that began before the change stays with its own author', async () => {
    const automation = await make();
    const before = await startRun(automation);
    await edit(team.manager, automation, { actions: actionsWith('sent elsewhere') });
    expect(await approve(team.manager, before)).toBe(200);
  });

  it('not the user who started it, who replays it, or who started the replayed run', async () => {
    const automation = await make();
    const started = await app.as(team.manager).post(`${path(automation)}/execute`, {});
    const { triggered_by } = await db()('automation_runs').where({ run_id: started.body.run_id }).first();
    const run = await startRun(automation, { triggered_by });
    expect(await approve(team.manager, run)).toBe(403);
    const failed = await buildRun(app, team, {
      automation,
      status: 'failed',
      statuses: ['failed', 'succeeded', 'failed'],
      fields: { triggered_by: team.manager.user_id },
    });
    const replay = await app.as(other).post(`/api/automations/dead-letter/${failed.run_id}/retry`, {});
    expect(replay.status).toBe(200);
    const [row] = await db()('automation_runs').where({ run_id: replay.body.run_id });
    // Another one at its gate, with the same origin.
    await db()('automation_runs').where({ run_id: row.run_id }).update({ status: 'failed', finished_at: db().fn.now() });
    const waiting = await startRun(automation, {
      triggered_by: row.triggered_by,
      retry_of: row.retry_of,
      cause_user_ids: row.cause_user_ids,
    });
    expect([await approve(other, waiting), await approve(team.manager, waiting)]).toEqual([403, 403]);
    expect(await approve(team.admin, waiting)).toBe(200);
  });

  it('the author may reject, and may approve where the gate allows it', async () => {
    const automation = await make();
    await edit(team.manager, automation, { actions: actionsWith('sent elsewhere') });
    const run = await startRun(automation);
    expect((await app.as(team.manager).post(`/api/automations/runs/${run.run_id}/reject`)).status).toBe(200);
    await edit(team.manager, automation, { actions: actionsWith('sent elsewhere', { allow_self_approval: true }) });
    expect(await approve(team.manager, await startRun(automation))).toBe(200);
  });

  it('an approval that does not count does not fill the quorum', async () => {
    const automation = await make(team.member, { required_approvals: 2 });
    await edit(team.manager, automation, { actions: actionsWith('sent elsewhere', { required_approvals: 2 }) });
    const run = await startRun(automation);
    // Simulates data of an older version of the service.
    await db()('gate_approvals').insert({ run_id: run.run_id, gate_index: 1, user_id: team.manager.user_id });
    const answer = await app.as(team.admin).post(`/api/automations/runs/${run.run_id}/approve`);
    expect(answer.body).toMatchObject({ status: 'paused', approvals_needed: 1 });
    expect(await approve(other, run)).toBe(200);
    expect((await db()('gates').where({ run_id: run.run_id }).first()).decision).toBe('approved');
  });

  it('an approval races the change of its automation: the run keeps its version, so the answer never depends on who was first', async () => {
    const automation = await make();
    for (let round = 0; round < ROUNDS; round += 1) {
      const run = await startRun(automation);
      const [answer] = await Promise.all([
        approve(other, run),
        edit(other, automation, { actions: actionsWith(`round ${round}`) }),
      ]);
      const { automation_version } = await db()('automation_runs').where({ run_id: run.run_id }).first();
      expect([automation_version, answer]).toEqual([round + 1, round === 0 ? 200 : 403]);
    }
  });
});

describe('who is asked', () => {
  const asked = async (run: TestRun, kind = 'approval_requested') =>
    (await db()('notifications').where({ run_id: run.run_id, kind }).orderBy('user_id')).map(({ user_id }) => user_id);
  const opened = async (automation: { automation_id: string }, fields: Record<string, unknown> = {}) => {
    const run = await buildRun(app, team, { automation, status: 'queued', fields });
    await openGate(app.services, { runId: run.run_id, incarnation: 1, execution: 'an-execution' }, 1);
    return run;
  };
  const sorted = (...people: Person[]) => people.map(({ user_id }) => user_id).toSorted();

  it('neither the author nor the user who started it', async () => {
    const automation = await make();
    await edit(team.manager, automation, { actions: actionsWith('sent elsewhere') });
    const run = await opened(automation, { triggered_by: team.admin.user_id });
    expect(await asked(run)).toEqual(sorted(other));
  });

  it('where too few people can approve, admins and the creator are told, and the run waits all the same', async () => {
    const automation = await make(team.member, { required_approvals: 3 });
    await edit(team.manager, automation, { actions: actionsWith('sent elsewhere', { required_approvals: 3 }) });
    const run = await opened(automation);
    expect(await asked(run)).toEqual(sorted(other, team.admin));
    expect(await asked(run, 'message')).toEqual(sorted(team.admin, team.member));
    expect(await db()('automation_runs').where({ run_id: run.run_id }).first()).toMatchObject({ status: 'paused' });
  });

  it('saving warns of a gate that too few people could open', async () => {
    const saved = await edit(team.manager, await make(team.manager), {
      actions: actionsWith('x', { required_approvals: 3 }),
    });
    expect(saved.body.warnings).toEqual([
      'actions[1]: the gate needs 3 approvals; eligible approvers besides creator and author: 2',
    ]);
    const enough = await edit(team.manager, await make(team.manager), { actions: actionsWith('x') });
    expect(enough.body.warnings).toEqual([]);
  });
});

describe('a blind retry of an approval', () => {
  const actions = [...GATED.slice(0, 2), GATED[0], GATE, GATED[2]] as typeof GATED;
  const undecided = async ({ run_id }: TestRun) => (await db()('gates').where({ run_id, decision: null })).length;

  it('with an Idempotency-Key replays the answer, and leaves the next gate closed', async () => {
    const run = await buildRun(app, team, { actions });
    const headers = { 'idempotency-key': `decide ${run.run_id}` };
    const url = `/api/automations/runs/${run.run_id}/approve`;
    const first = await app.as(team.manager).post(url, {}, { headers });
    await openNextGate(app, run, 3);
    const again = await app.as(team.manager).post(url, {}, { headers });
    expect([first.status, again.status, again.body]).toEqual([200, 200, first.body]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await undecided(run)).toBe(1);
  });

  it('with gate_index answers 200 unchanged while approvals are missing, 409 once it is decided; never the next gate', async () => {
    const quorum = actions.map((action) => (action === GATE ? { ...GATE, params: { required_approvals: 2 } } : action));
    const run = await buildRun(app, team, { actions: quorum });
    expect([await approve(team.manager, run, { gate_index: 1 }), await approve(team.manager, run, { gate_index: 1 })]).toEqual([
      200, 200,
    ]);
    expect(await db()('gate_approvals').where({ run_id: run.run_id })).toHaveLength(1);
    await approve(team.admin, run, { gate_index: 1 });
    await openNextGate(app, run, 3);
    const retries = await Promise.all(Array.from({ length: ROUNDS }, () => approve(team.manager, run, { gate_index: 1 })));
    expect(new Set(retries)).toEqual(new Set([409]));
    expect(await undecided(run)).toBe(1);
  });

  it('without either is what the API document warns of, on both routes', async () => {
    const { body } = await app.as().get('/api/openapi.json');
    for (const verb of ['approve', 'reject']) {
      const { description } = body.paths[`/api/automations/runs/{run_id}/${verb}`].post;
      expect(description).toMatch(
        /Send `gate_index` or an `Idempotency-Key`: without either, a retried request may decide the next gate/,
      );
    }
  });
});
