import { readGate } from '../../../../api/automation/runs/approvals/read-gate.js';
import { buildPerson, buildTeam, buildToken, type Person, type TestTeam } from '../../../factories/people.js';
import { buildRun, GATE, GATED, openNextGate, type TestRun } from '../../../factories/runs.js';
import { startApp, type TestApp } from '../../../support/app.js';

let app: TestApp;
let team: TestTeam;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
});

/** Repetitions of each race; more by CAS_ROUNDS (`npm run test:long`). */
const ROUNDS = Number(process.env['CAS_ROUNDS'] ?? 8);
const byText = (a: string, b: string): number => (a < b ? -1 : 1);
const NOBODY = '019a9f00-0000-7000-8000-000000000001';
const approve = (person: Person, run: { run_id: string }, body?: object) =>
  app.as(person).post(`/api/automations/runs/${run.run_id}/approve`, body);
const reject = (person: Person, run: { run_id: string }, body?: object) =>
  app.as(person).post(`/api/automations/runs/${run.run_id}/reject`, body);
const toRow = ({ run_id }: TestRun) => app.services.db('automation_runs').where({ run_id }).first();
const toGateView = ({ run_id, gate_index }: TestRun) => app.services.db('gates').where({ run_id, gate_index }).first();
const buildActions = async ({ run_id }: TestRun): Promise<string[]> =>
  (await app.services.db('run_actions').where({ run_id }).orderBy('index')).map(({ status }) => status);
const findWakes = ({ run_id }: TestRun) =>
  app.services.db('outbox').where({ kind: 'run.wake', subject: run_id }).orderBy('outbox_id');
const findAudit = ({ run_id }: TestRun) =>
  app.services.db('audit_entries').where({ entity_id: run_id, feature: 'approvals' }).orderBy('timestamp');
const join = async (role: string): Promise<Person> => {
  const person = await buildPerson(app);
  await app.services.db('memberships').insert({ team_id: team.team_id, user_id: person.user_id, role });
  return person;
};
const gated = (params: Record<string, unknown>) => [GATED[0], { ...GATE, params }, GATED[2]] as typeof GATED;

describe('approve', () => {
  it('200 releases the tail, wakes the workflow, and leaves audit and activity, in one commit', async () => {
    const run = await buildRun(app, team);
    const { status, headers, body } = await approve(team.manager, run);
    expect(status).toBe(200);
    expect(body).toEqual({
      run_id: run.run_id,
      decision: 'approved',
      status: 'running',
      approvals_needed: 0,
      decided_by: team.manager.user_id,
      decided_at: expect.any(String),
      gate_index: 1,
    });
    expect(await toRow(run)).toMatchObject({ status: 'running', finished_at: null });
    expect(await buildActions(run)).toEqual(['succeeded', 'succeeded', 'pending']);
    expect(await toGateView(run)).toMatchObject({ decision: 'approved', decided_by: team.manager.user_id });
    expect(await findWakes(run)).toMatchObject([{ payload: { run_id: run.run_id, incarnation: 1, gate_index: 1 } }]);
    const [entry] = await findAudit(run);
    expect(entry).toMatchObject({
      action: 'approve',
      severity: 'MEDIUM',
      user_id: team.manager.user_id,
      audit_id: headers.get('x-correlation-id'),
    });
    expect(JSON.parse(entry.details)).toMatchObject({
      gate_index: 1,
      staged_hash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    });
    expect(await app.services.db('activity').where({ entity_id: run.run_id })).toHaveLength(1);
    const shown = await app.as(team.guest).get(`/api/automations/runs/${run.run_id}`);
    expect(shown.body.approval).toMatchObject({
      decision: 'approved',
      expired: false,
      approvals: [{ user_id: team.manager.user_id }],
    });
  });

  it('takes a token of the person with the scope to decide, strict or not, and no other', async () => {
    const run = await buildRun(app, team);
    const path = `/api/automations/runs/${run.run_id}`;
    for (const strict of [false, true]) {
      const other = app.as(await buildToken(app, team.manager, ['tasks:read', 'automations:write'], { strict }));
      for (const decision of ['approve', 'reject']) {
        const { status, headers, body } = await other.post(`${path}/${decision}`);
        expect([status, headers.get('x-required-scope'), headers.get('x-scope-enforced')]).toEqual([
          403,
          'approvals:decide',
          'true',
        ]);
        expect(body.message).toBe('Token is missing the required scope: approvals:decide');
      }
    }
    expect((await app.as(team.manager).get(path)).body).toMatchObject({ status: 'paused' });
    const token = await buildToken(app, team.manager, ['approvals:decide']);
    expect((await app.as(token).post(`${path}/approve`)).status).toBe(200);
  });

  it.each([
    ['manager', ['admin', 'manager'], ['member', 'guest']],
    ['admin', ['admin'], ['manager', 'member', 'guest']],
    ['member', ['admin', 'manager', 'member'], ['guest']],
  ])('a gate for a %s is opened by %s, and refuses %s with 403', async (role, may, mayNot) => {
    for (const seat of mayNot) {
      const run = await buildRun(app, team, { actions: gated({ role }) });
      const person = await join(seat);
      expect((await approve(person, run)).status).toBe(403);
      expect((await reject(person, run)).status).toBe(403);
      expect(await toRow(run)).toMatchObject({ status: 'paused' });
      expect(await findAudit(run)).toHaveLength(0);
    }
    for (const seat of may) {
      expect((await approve(await join(seat), await buildRun(app, team, { actions: gated({ role }) }))).status).toBe(200);
    }
  });

  it('404 for an unknown run; 403 for a stranger whatever the state is', async () => {
    for (const decide of [approve, reject]) {
      expect((await decide(team.manager, { run_id: NOBODY })).status).toBe(404);
      expect((await decide(team.manager, { run_id: 'garbage' })).status).toBe(404);
    }
    const stranger = await buildPerson(app);
    for (const options of [
      {},
      { expiresIn: -60 },
      { status: 'running' },
      { status: 'queued' },
      { status: 'cancelled' },
      { status: 'expired', expiresIn: -60 },
      { status: 'succeeded' },
    ] as const) {
      const run = await buildRun(app, team, options);
      for (const person of [stranger, team.guest]) {
        expect((await approve(person, run)).status).toBe(403);
        expect((await reject(person, run)).status).toBe(403);
      }
    }
  });

  it('410 after the time has passed, by the database’s clock; nothing changes and rejecting still works', async () => {
    const run = await buildRun(app, team, { expiresIn: -60 });
    const { status, body } = await approve(team.manager, run);
    const gate = await toGateView(run);
    expect({ status, code: body.error_code }).toEqual({ status: 410, code: 'APPROVAL_EXPIRED' });
    expect(body.message).toBe(`This approval expired at ${gate.expires_at.toISOString()}`);
    expect(body.detail).toBe(`Gate 1 of run ${run.run_id} expired; reject it or replay the run`);
    expect(await toRow(run)).toMatchObject({ status: 'paused' });
    expect(await findWakes(run)).toHaveLength(0);
    expect(await app.services.db('gate_approvals').where({ run_id: run.run_id })).toHaveLength(0);
    expect((await app.as(team.guest).get(`/api/automations/runs/${run.run_id}`)).body.approval).toMatchObject({
      expired: true,
      decision: null,
    });
    expect(await reject(team.manager, run)).toMatchObject({ status: 200, body: { decision: 'rejected', status: 'skipped' } });
  });

  it('410 for a run that has expired, to approve and to reject', async () => {
    const run = await buildRun(app, team, { status: 'expired', expiresIn: -60 });
    expect((await approve(team.manager, run)).status).toBe(410);
    expect((await reject(team.manager, run)).status).toBe(410);
  });

  it('409 names the decision, by whom and when, to approve and to reject', async () => {
    const run = await buildRun(app, team);
    const { body } = await approve(team.manager, run);
    const words = `Gate 1 was approved by ${team.manager.email.split('@')[0]} at ${body.decided_at}`;
    for (const decide of [approve, reject]) {
      expect(await decide(team.admin, run)).toMatchObject({
        status: 409,
        body: { error_code: 'RESOURCE_CONFLICT', message: words },
      });
    }
    const other = await buildRun(app, team);
    await reject(team.admin, other);
    expect((await approve(team.manager, other)).body.message).toMatch(/^Gate 1 was rejected by/);
    expect(await findWakes(run)).toHaveLength(1);
  });

  it.each(['queued', 'running', 'cancelled', 'succeeded', 'failed'] as const)('409 in a run that is %s', async (status) => {
    const run = await buildRun(app, team, { status });
    expect((await approve(team.manager, run)).status).toBe(409);
    expect((await reject(team.manager, run)).status).toBe(409);
  });

  it('409 in a run without any gate', async () => {
    const run = await buildRun(app, team, {
      actions: [GATED[0] as (typeof GATED)[0]],
      status: 'succeeded',
      statuses: ['succeeded'],
    });
    expect((await approve(team.manager, run)).status).toBe(409);
  });

  it('409 creator_not_authorized while the creator may not act: left, became a guest, was suspended; the run stays paused', async () => {
    const { db } = app.services;
    const run = await buildRun(app, team);
    const seat = () => db('memberships').where({ team_id: team.team_id, user_id: team.member.user_id });
    const refused = async () => {
      expect(await approve(team.manager, run)).toMatchObject({
        status: 409,
        body: { error_code: 'RESOURCE_CONFLICT', detail: 'creator_not_authorized' },
      });
      expect(await toRow(run)).toMatchObject({ status: 'paused' });
    };
    await seat().update({ role: 'guest' });
    await refused();
    await seat().delete();
    await refused();
    await db('memberships').insert({ team_id: team.team_id, user_id: team.member.user_id, role: 'member' });
    await db('users').where({ user_id: team.member.user_id }).update({ status: 'suspended' });
    await refused();
    expect(await findAudit(run)).toHaveLength(0);
    await db('users').where({ user_id: team.member.user_id }).update({ status: 'active' });
    expect((await approve(team.manager, run)).status).toBe(200);
  });

  it('rejecting needs no creator', async () => {
    const run = await buildRun(app, team);
    await app.services.db('memberships').where({ user_id: team.member.user_id }).delete();
    expect((await reject(team.manager, run)).status).toBe(200);
  });
});

describe('reject', () => {
  it('200 ends the run as skipped, drops the tail and keeps the reason', async () => {
    const run = await buildRun(app, team);
    const { status, body } = await reject(team.manager, run, { reason: 'Not on a Friday' });
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        run_id: run.run_id,
        decision: 'rejected',
        status: 'skipped',
        decided_by: team.manager.user_id,
        decided_at: expect.any(String),
      },
    });
    expect(await toRow(run)).toMatchObject({
      status: 'skipped',
      skip_reason: 'rejected',
      finished_at: expect.any(Date),
      error: null,
    });
    expect(await buildActions(run)).toEqual(['succeeded', 'skipped', 'skipped']);
    expect(await findWakes(run)).toMatchObject([{ payload: { run_id: run.run_id, gate_index: 1 } }]);
    const [entry] = await findAudit(run);
    expect(entry).toMatchObject({ action: 'reject', severity: 'MEDIUM' });
    expect(JSON.parse(entry.details)).toMatchObject({ gate_index: 1, status: 'skipped', reason: 'Not on a Friday' });
    const shown = await app.as(team.guest).get(`/api/automations/runs/${run.run_id}`);
    expect(shown.body).toMatchObject({
      status: 'skipped',
      approval: { decision: 'rejected', reason: 'Not on a Friday', expired: false },
    });
  });

  it('a run with an action that failed before the gate ends as failed, in the dead letter', async () => {
    const run = await buildRun(app, team, { statuses: ['failed', 'running', 'staged'] });
    expect((await reject(team.manager, run)).body).toMatchObject({ status: 'failed' });
    expect(await toRow(run)).toMatchObject({
      status: 'failed',
      skip_reason: null,
      error: { code: 'template_missing', message: 'actions[0] (add_comment): event.task is not there' },
    });
    const { body } = await app.as(team.guest).get(`/api/automations/dead-letter?team_id=${team.team_id}`);
    expect(body.entries).toMatchObject([{ run_id: run.run_id }]);
  });

  it('422 refuses a reason that is no text', async () => {
    expect((await reject(team.manager, await buildRun(app, team), { reason: 7 })).status).toBe(422);
  });
});

describe('several gates', () => {
  const actions = [...GATED.slice(0, 2), GATED[0], GATE, GATED[2]] as typeof GATED;

  it('each needs its own decision, and one that names a gate never opens another', async () => {
    const run = await buildRun(app, team, { actions });
    expect((await approve(team.manager, run, { gate_index: 3 })).status).toBe(409);
    expect((await approve(team.manager, run, { gate_index: 1 })).body).toMatchObject({ gate_index: 1, status: 'running' });
    await openNextGate(app, run, 3);
    expect(await buildActions(run)).toEqual(['succeeded', 'succeeded', 'succeeded', 'running', 'staged']);
    expect(await approve(team.manager, run, { gate_index: 1 })).toMatchObject({
      status: 409,
      body: { message: expect.stringMatching(/^Gate 1 was approved/) },
    });
    expect((await toRow(run)).status).toBe('paused');
    expect((await approve(team.admin, run)).body).toMatchObject({ gate_index: 3, status: 'running' });
    expect(await buildActions(run)).toEqual(['succeeded', 'succeeded', 'succeeded', 'succeeded', 'pending']);
    expect(await findWakes(run)).toMatchObject([{ payload: { gate_index: 1 } }, { payload: { gate_index: 3 } }]);
    const [first, second] = (await findAudit(run)).map(({ details }) => JSON.parse(details));
    expect(first.staged_hash).not.toBe(second.staged_hash);
  });

  it('rejecting the second keeps what the first released', async () => {
    const run = await buildRun(app, team, { actions });
    await approve(team.manager, run);
    await openNextGate(app, run, 3);
    expect((await reject(team.manager, run)).body).toMatchObject({ status: 'skipped' });
    expect(await buildActions(run)).toEqual(['succeeded', 'succeeded', 'succeeded', 'skipped', 'skipped']);
  });
});

describe('quorum', () => {
  it('counts distinct people; the same one again changes nothing', async () => {
    const run = await buildRun(app, team, { actions: gated({ required_approvals: 2 }) });
    const first = await approve(team.manager, run);
    expect(first).toMatchObject({ status: 200, body: { status: 'paused', approvals_needed: 1 } });
    const again = await approve(team.manager, run);
    expect(again).toMatchObject({ status: 200, body: first.body });
    expect(await findAudit(run)).toHaveLength(1);
    expect(await findWakes(run)).toHaveLength(1); // the workflow only reads the gate again
    expect(await toRow(run)).toMatchObject({ status: 'paused' });
    expect((await approve(team.admin, run)).body).toMatchObject({
      status: 'running',
      approvals_needed: 0,
      decided_by: team.admin.user_id,
    });
    expect(await findAudit(run)).toHaveLength(2);
    expect(await findWakes(run)).toHaveLength(2);
  });

  it('an approval stops counting when its person loses the role', async () => {
    const run = await buildRun(app, team, { actions: gated({ required_approvals: 2 }) });
    await approve(team.manager, run);
    await app.services
      .db('memberships')
      .where({ team_id: team.team_id, user_id: team.manager.user_id })
      .update({ role: 'member' });
    expect((await approve(team.admin, run)).body).toMatchObject({ status: 'paused', approvals_needed: 1 });
    expect((await approve(await join('manager'), run)).body).toMatchObject({ status: 'running', approvals_needed: 0 });
  });

  it('a started quorum does not outlive the gate', async () => {
    const run = await buildRun(app, team, { actions: gated({ required_approvals: 2 }) });
    await approve(team.manager, run);
    await app.services.db('gates').where({ run_id: run.run_id }).update({ expires_at: app.services.db.fn.now() });
    expect((await approve(team.admin, run)).status).toBe(410);
    expect((await approve(team.manager, run)).status).toBe(410);
  });

  it('two different people racing for the last place make one decision, and each wakes the workflow once', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const run = await buildRun(app, team, { actions: gated({ required_approvals: 2 }) });
      const answers = await Promise.all([approve(team.manager, run), approve(team.admin, run)]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      expect(answers.map(({ body }) => body.status).toSorted(byText)).toEqual(['paused', 'running']);
      expect(await findWakes(run)).toHaveLength(2);
    }
  });
});

describe('self-approval', () => {
  it('where it is off, neither the creator nor who set the run off may approve; both may reject', async () => {
    const actions = gated({ allow_self_approval: false });
    const byAdmin = await buildRun(app, team, { creator: team.admin, actions });
    expect((await approve(team.admin, byAdmin)).status).toBe(403);
    expect((await approve(team.manager, byAdmin)).status).toBe(200);
    const triggered = await buildRun(app, team, { actions, fields: { triggered_by: team.manager.user_id } });
    expect((await approve(team.manager, triggered)).status).toBe(403);
    expect((await reject(team.manager, triggered)).status).toBe(200);
  });

  it('where it is on, the creator may', async () => {
    expect((await approve(team.admin, await buildRun(app, team, { creator: team.admin }))).status).toBe(200);
  });
});

describe('personal automations', () => {
  it('are decided by their creator whatever role the gate names, and by nobody else', async () => {
    const run = await buildRun(app, team, { inTeam: false, actions: gated({ role: 'admin' }) });
    for (const person of [team.admin, await buildPerson(app)]) {
      expect((await approve(person, run)).status).toBe(403);
      expect((await reject(person, run)).status).toBe(403);
      expect((await app.as(person).get(`/api/automations/runs/${run.run_id}`)).status).toBe(403);
    }
    expect((await app.as(team.member).get('/api/automations/approvals')).body.approvals).toMatchObject([
      { run_id: run.run_id, can_decide: true },
    ]);
    expect((await app.as(team.admin).get('/api/automations/approvals')).body).toEqual({ approvals: [], total: 0 });
    expect((await approve(team.member, run)).status).toBe(200);
    expect((await findAudit(run))[0].team_id).toBeNull();
  });
});

describe('races', () => {
  it('approve against approve: one 200, one 409, one wake', async () => {
    const automation = await buildRun(app, team);
    for (let round = 0; round < ROUNDS; round += 1) {
      const run = await buildRun(app, team, { automation });
      const answers = await Promise.all([approve(team.manager, run), approve(team.admin, run), approve(team.manager, run)]);
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409]);
      expect(await findWakes(run)).toHaveLength(1);
      expect(await findAudit(run)).toHaveLength(1);
    }
  });

  it('approve against reject: one decision, and the rows agree with it', async () => {
    const automation = await buildRun(app, team);
    for (let round = 0; round < ROUNDS; round += 1) {
      const run = await buildRun(app, team, { automation });
      const answers = await Promise.all([approve(team.manager, run), reject(team.admin, run)]);
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
      const approved = answers[0]?.status === 200;
      expect((await toGateView(run)).decision).toBe(approved ? 'approved' : 'rejected');
      expect((await toRow(run)).status).toBe(approved ? 'running' : 'skipped');
      expect(await buildActions(run)).toEqual(
        approved ? ['succeeded', 'succeeded', 'pending'] : ['succeeded', 'skipped', 'skipped'],
      );
      expect(await findWakes(run)).toHaveLength(1);
    }
  });

  it('approve around the border, while the timer looks too: either 200 and decided in time, or 410 and untouched', async () => {
    const seen = new Set<number>();
    const automation = await buildRun(app, team);
    for (let round = 0; round < ROUNDS; round += 1) {
      const run = await buildRun(app, team, { automation, expiresIn: 0.005 + (round % 5) * 0.006 });
      const look = () => readGate(app.services, run.run_id, run.gate_index, 'an-execution');
      const [{ status }] = await Promise.all([approve(team.manager, run), look(), look()]);
      seen.add(status);
      const gate = await toGateView(run);
      if (status === 200) {
        expect(gate.decided_at.getTime()).toBeLessThanOrEqual(gate.expires_at.getTime());
        expect(gate.lapsed_at).toBeNull();
        expect(await toRow(run)).toMatchObject({ status: 'running' });
      } else {
        expect(status).toBe(410);
        expect(gate.decision).toBeNull();
        expect(await toRow(run)).toMatchObject({ status: 'paused' });
        expect(await findWakes(run)).toHaveLength(0);
      }
    }
    expect([...seen].every((status) => [200, 410].includes(status))).toBe(true);
  });

  it('approve that waits for the row beyond the expiry: 410, because the clock is read when the decision is made', async () => {
    const run = await buildRun(app, team, { expiresIn: 0.3 });
    const holder = await app.services.db.transaction();
    await holder('automation_runs').where({ run_id: run.run_id }).forUpdate();
    const waiting = approve(team.manager, run);
    await new Promise((resolve) => setTimeout(resolve, 450));
    await holder.commit();
    expect((await waiting).status).toBe(410);
  });

  it('approve against deletion of the automation: cancelled or released, never both', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const run = await buildRun(app, team);
      const [decision, deletion] = await Promise.all([
        approve(team.manager, run),
        app.as(team.admin).delete(`/api/automations/${run.automation_id}`),
      ]);
      expect(deletion.status).toBe(200);
      expect([200, 409]).toContain(decision.status);
      expect((await toRow(run)).status).toBe(decision.status === 200 ? 'running' : 'cancelled');
      expect(deletion.body.cancelled_runs).toBe(decision.status === 200 ? 0 : 1);
    }
  });
});

describe('GET /api/automations/approvals', () => {
  it('lists what waits, oldest deadline first, without anything of the staged payload', async () => {
    const secret = 'do-not-show-this';
    const later = await buildRun(app, team, { expiresIn: 7200 });
    const lapsed = await buildRun(app, team, { expiresIn: -60 });
    const first = await buildRun(app, team, {
      actions: [
        GATED[0],
        { ...GATE, params: { role: 'admin', message: 'Ship it?', required_approvals: 2 } },
        { type: 'add_comment', params: { content: secret } },
      ] as typeof GATED,
      statuses: ['failed', 'running', 'staged'],
    });
    await buildRun(app, team, { status: 'running' });
    await approve(team.admin, first);
    const { status, body } = await app.as(team.guest).get('/api/automations/approvals');
    expect(status).toBe(200);
    expect(JSON.stringify(body)).not.toContain(secret);
    expect(body.total).toBe(3);
    expect(body.approvals).toMatchObject([
      { run_id: lapsed.run_id, expired: true },
      {
        run_id: first.run_id,
        automation_name: 'Deploy on merge',
        team_id: team.team_id,
        project_id: null,
        gate_index: 1,
        message: 'Ship it?',
        required_role: 'admin',
        required_approvals: 2,
        approvals: [{ user_id: team.admin.user_id, at: expect.stringMatching(/Z$/) }],
        can_decide: false,
        expired: false,
        trigger_type: 'forge.pr_merged',
        staged_action_types: ['add_comment'],
        failed_before_gate: 1,
      },
      { run_id: later.run_id, failed_before_gate: 0, staged_action_types: ['set_task_status'] },
    ]);
    const seen = async (person: Person) =>
      (await app.as(person).get('/api/automations/approvals')).body.approvals.map(
        (row: { can_decide: boolean }) => row.can_decide,
      );
    expect(await seen(team.manager)).toEqual([true, false, true]);
    expect(await seen(team.admin)).toEqual([true, true, true]);
    expect((await app.as(await buildPerson(app)).get('/api/automations/approvals')).body).toEqual({ approvals: [], total: 0 });
    const hash = body.approvals[1].staged_hash;
    expect(JSON.parse((await findAudit(first))[0].details).staged_hash).toBe(hash);
  });

  it('puts what waits in all of a person’s teams, and personally, into one order', async () => {
    const other = await buildTeam(app);
    await app.services.db('memberships').insert({ team_id: other.team_id, user_id: team.member.user_id, role: 'manager' });
    const waits = (whose: TestTeam, minutes: number, more = {}) => buildRun(app, whose, { expiresIn: 60 * minutes, ...more });
    await waits(await buildTeam(app), 5);
    const expected = [
      await waits(team, 10),
      await waits(other, 20),
      await waits(team, 30, { inTeam: false }),
      await waits(other, 40),
      await waits(team, 50),
    ].map(({ run_id }) => run_id);
    const listed = async (limit: number) => (await app.as(team.member).get(`/api/automations/approvals?limit=${limit}`)).body;
    const ids = ({ approvals }: { approvals: { run_id: string }[] }) => approvals.map(({ run_id }) => run_id);
    expect(ids(await listed(50))).toEqual(expected);
    expect(ids(await listed(3))).toEqual(expected.slice(0, 3));
    expect((await listed(1)).total).toBe(5);
    expect((await listed(50)).approvals.map(({ can_decide }: { can_decide: boolean }) => can_decide)).toEqual([
      false,
      true,
      true,
      true,
      false,
    ]);
  });

  it('keeps to the limit, tells the total, and refuses what is out of range', async () => {
    for (let i = 0; i < 3; i += 1) await buildRun(app, team);
    const member = app.as(team.member);
    const { body } = await member.get('/api/automations/approvals?limit=2');
    expect(body).toMatchObject({ total: 3, approvals: [{}, {}] });
    for (const limit of ['0', '201', '-1', 'x', '1.5', '']) {
      expect((await member.get(`/api/automations/approvals?limit=${limit}`)).status).toBe(422);
    }
    expect((await member.get('/api/automations/approvals?limit=200')).status).toBe(200);
  });
});
