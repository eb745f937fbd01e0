import { deprovisionActivities } from '../../../../activities/deprovisioning.js';
import { listMails } from '../../../../api/platform/mail/list-mails.js';
import type { DeprovisionActivity } from '../../../../workflows/contracts/deprovision-contract.js';
import { planJob } from '../../../../api/identity/admin/deprovisioning/plan-job.js';
import { buildAutomation, gate } from '../../../factories/automations.js';
import {
  buildPerson,
  buildProject,
  buildTask,
  buildTeam,
  buildToken,
  type Person,
  type TestTeam,
} from '../../../factories/people.js';
import { buildRun } from '../../../factories/runs.js';
import { type Client, startApp, type TestApp } from '../../../support/app.js';
import { lockWaiters } from '../../../support/database.js';
import { until } from '../../../support/worker.js';

// Deprovisioning: the request, and each step by its activity; test/workflows has the workflow.

let app: TestApp;
let root: Person;
let admin: Client;
let team: TestTeam;
beforeAll(async () => {
  app = await startApp();
  root = await buildPerson(app, { role: 'admin' });
  admin = app.as(root);
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
});

const db = () => app.services.db;
const REASON = 'Left the company';
const deprovision = (person: Person, body: object = {}, by = admin) =>
  by.post(`/api/admin/users/${person.user_id}/deprovision`, { reason: REASON, ...body });
const startJob = async (person: Person) => (await deprovision(person)).body.job_id as string;
const getJob = async (id: string) => (await admin.get(`/api/admin/deprovisions/${id}`)).body;
const findAudit = (where: object) => db()('audit_entries').where(where).orderBy('timestamp');
const findSeats = (person: Person) => db()('memberships').where({ user_id: person.user_id }).pluck('team_id');
const findAdmins = (team_id: string) => db()('memberships').where({ team_id, role: 'admin' }).pluck<string[]>('user_id');
const getStatus = async ({ user_id }: Person) => (await db()('users').where({ user_id }).first()).status;

/** Plays the workflow by its activities, each step `times` times: at least once is what Temporal promises. */
async function play(jobId: string, times = 1): Promise<void> {
  const activities = deprovisionActivities(app.services);
  for (let plan = await planJob(app.services, jobId); plan?.steps.length; plan = await planJob(app.services, jobId)) {
    for (const { step, teamId } of plan.steps) {
      const first = await (activities[step] as DeprovisionActivity)(jobId, teamId);
      const again = Array.from({ length: times - 1 }, () => (activities[step] as DeprovisionActivity)(jobId, teamId));
      for (const result of await Promise.all(again)) expect(result).toEqual(first);
    }
  }
}

it('202: nothing signs in as the person from then on, and the job tells how far it is', async () => {
  const token = await buildToken(app, team.member, ['admin:*']);
  const { status, body, headers } = await deprovision(team.member);
  expect({ status, body }).toEqual({ status: 202, body: { job_id: expect.any(String), status: 'queued' } });
  for (const credential of [team.member.token, token]) expect((await app.as(credential).get('/api/auth/me')).status).toBe(401);
  expect(await getJob(body.job_id)).toMatchObject({
    user_id: team.member.user_id,
    created_by: root.user_id,
    reason: REASON,
    status: 'queued',
    // Done by the request itself.
    steps: [{ step: 'deactivateAutomations', team_id: null, result: { automations: 0 }, done_at: expect.any(String) }],
    finished_at: null,
  });
  const waiting = await db()('outbox').where({ kind: 'user.deprovision', subject: team.member.user_id });
  expect(waiting).toMatchObject([{ payload: { job_id: body.job_id }, correlation_id: headers.get('x-correlation-id') }]);
  expect(await findAudit({ entity_id: team.member.user_id, action: 'deprovision' })).toMatchObject([
    { severity: 'HIGH', user_id: root.user_id, audit_id: headers.get('x-correlation-id') },
  ]);
  for (const act of ['suspend', 'reinstate']) {
    expect((await admin.post(`/api/admin/users/${team.member.user_id}/${act}`, { reason: REASON })).status).toBe(409);
  }
});

it('10 at once make one job; again, it is the same one', async () => {
  const answers = await Promise.all(Array.from({ length: 10 }, () => deprovision(team.member)));
  expect(new Set(answers.map(({ body }) => body.job_id)).size).toBe(1);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
  expect(await db()('outbox').where({ kind: 'user.deprovision', subject: team.member.user_id })).toHaveLength(1);
});

it('each step happens once, however often it is tried: tokens, sessions, automations, memberships, tasks, gates', async () => {
  const other = await buildTeam(app);
  await app.as(other.admin).post(`/api/teams/${other.team_id}/members`, { user_id: team.manager.user_id, role: 'guest' });
  const leaver = team.manager;
  await buildToken(app, leaver, ['admin:*']);
  const project = await buildProject(app, team);
  const open = await buildTask(app, team, project, { assigned_to: leaver.user_id });
  const done = await buildTask(app, team, project, { assigned_to: leaver.user_id, status: 'done' });
  const own = await buildAutomation(app, team, { actions: [gate()], creator: leaver });
  await buildRun(app, team, { creator: team.member });

  const jobId = await startJob(leaver);
  await play(jobId, 4);

  const job = await getJob(jobId);
  expect(job).toMatchObject({ status: 'succeeded', finished_at: expect.any(String) });
  expect(job.steps.map(({ step }: { step: string }) => step)).toEqual([
    'deactivateAutomations',
    'revokeTokens',
    'endSessions',
    'leaveTeam',
    'leaveTeam',
    'askOthers',
    'askOthers',
  ]);
  const toResult = (name: string) => job.steps.find(({ step }: { step: string }) => step === name).result;
  expect(toResult('deactivateAutomations')).toEqual({ automations: 1 });
  expect(toResult('revokeTokens')).toEqual({ tokens: 1, connections: 0 });
  expect(toResult('endSessions')).toMatchObject({ sessions: 1 });
  const left = job.steps.filter(({ step }: { step: string }) => step === 'leaveTeam');
  expect(left.reduce((sum: number, { result }: { result: { tasks: number } }) => sum + result.tasks, 0)).toBe(1);
  expect(await db()('personal_access_tokens').where({ user_id: leaver.user_id }).whereNull('revoked_at')).toEqual([]);
  expect(await db()('sessions').where({ user_id: leaver.user_id }).whereNull('ended_at')).toEqual([]);
  expect(await findSeats(leaver)).toEqual([]);
  expect(await db()('tasks').where({ task_id: open.task_id }).first()).toMatchObject({ assigned_to: null, version: 2 });
  expect(await db()('tasks').where({ task_id: done.task_id }).first()).toMatchObject({ assigned_to: leaver.user_id, version: 1 });
  expect(await db()('automations').where(own).first()).toMatchObject({
    is_active: false,
    disabled_reason: 'creator_left',
  });
  expect(await findAudit({ entity_id: own.automation_id, action: 'toggle' })).toHaveLength(1);
  const removed = await findAudit({ action: 'remove_member', team_id: team.team_id });
  expect(removed).toMatchObject([{ actor_type: 'system', user_id: root.user_id, severity: 'MEDIUM' }]);
  for (const action of ['revoke_tokens', 'end_sessions']) {
    expect(await findAudit({ entity_id: leaver.user_id, action })).toMatchObject([{ severity: 'HIGH', user_id: root.user_id }]);
  }
  const { correlation_id } = removed[0];
  expect((await findAudit({ correlation_id })).length).toBeGreaterThan(5);
  expect(await listMails(app.services, team.admin.email)).toMatchObject([
    { subject: expect.stringContaining('A run is waiting') },
    { subject: 'Disabled: Test automation' },
  ]);
  for (const person of [team.member, team.guest, leaver, other.admin]) {
    const subjects = (await listMails(app.services, person.email)).map(({ subject }) => subject);
    expect(subjects.filter((subject) => subject !== 'You were added to a team')).toEqual([]);
  }
});

describe('the last admin of a team', () => {
  it('409 without reassign_to, and nothing has changed', async () => {
    const answer = await deprovision(team.admin);
    expect(answer).toMatchObject({ status: 409, body: { detail: expect.stringContaining(team.team_id) } });
    expect((await app.as(team.admin).get('/api/auth/me')).status).toBe(200);
    expect(await db()('deprovision_jobs').where({ user_id: team.admin.user_id })).toEqual([]);
  });

  it('reassign_to is admin at once, a member or not, and takes the open tasks of the teams they are in', async () => {
    const other = await buildTeam(app);
    const project = await buildProject(app, team);
    await app.as(other.admin).post(`/api/teams/${other.team_id}/members`, { user_id: team.admin.user_id });
    const elsewhere = await buildTask(app, other, await buildProject(app, other), { assigned_to: team.admin.user_id });
    const here = await buildTask(app, team, project, { assigned_to: team.admin.user_id });
    const heir = await buildPerson(app);
    const answer = await deprovision(team.admin, { reassign_to: heir.user_id });
    expect(answer.status).toBe(202);
    expect(new Set(await findAdmins(team.team_id))).toEqual(new Set([team.admin.user_id, heir.user_id]));
    expect((await app.as(heir).get('/api/notifications')).body).toMatchObject([
      { kind: 'member_added', message: expect.stringMatching(/^An administrator added you to the team .* as admin\./) },
    ]);
    await play(answer.body.job_id);
    expect(await findAdmins(team.team_id)).toEqual([heir.user_id]);
    const assignee = async ({ task_id }: { task_id: string }) => (await db()('tasks').where({ task_id }).first()).assigned_to;
    expect([await assignee(here), await assignee(elsewhere)]).toEqual([heir.user_id, null]);
    expect(await findSeats(heir)).toEqual([team.team_id]);

    const second = await buildTeam(app);
    expect((await deprovision(second.admin, { reassign_to: second.guest.user_id })).status).toBe(202);
    expect(await findAdmins(second.team_id)).toContain(second.guest.user_id);
  });

  it('400 for a successor who is nobody, gone, or the person', async () => {
    const gone = await buildPerson(app, { status: 'suspended' });
    for (const reassign_to of [gone.user_id, team.admin.user_id, 'garbage']) {
      expect((await deprovision(team.admin, { reassign_to })).status).toBe(400);
    }
  });

  it('does not count a suspended admin: the other admin stays', async () => {
    const members = `/api/teams/${team.team_id}/members`;
    const second = await buildPerson(app);
    await app.as(team.admin).post(members, { user_id: second.user_id, role: 'admin' });
    expect((await deprovision(second)).status).toBe(202);
    expect((await app.as(team.admin).delete(`${members}/${team.admin.user_id}`)).status).toBe(409);
    expect((await app.as(team.admin).patch(`${members}/${team.admin.user_id}`, { role: 'member' })).status).toBe(409);
    expect((await deprovision(team.admin)).status).toBe(409);
  });

  it('raced: two admins deprovisioned, or one while the other leaves, and one is always left', async () => {
    for (let round = 0; round < 8; round += 1) {
      const fresh = await buildTeam(app);
      const second = await buildPerson(app);
      await app.as(fresh.admin).post(`/api/teams/${fresh.team_id}/members`, { user_id: second.user_id, role: 'admin' });
      const leave = () => app.as(second).delete(`/api/teams/${fresh.team_id}/members/${second.user_id}`);
      const demote = () => app.as(second).patch(`/api/teams/${fresh.team_id}/members/${second.user_id}`, { role: 'member' });
      const answers = await Promise.all([
        deprovision(fresh.admin),
        [() => deprovision(second), leave, demote][round % 3]?.() as ReturnType<typeof leave>,
      ]);
      expect(answers.map(({ status }) => status).filter((status) => status < 300)).toHaveLength(1);
      const left = await Promise.all((await findAdmins(fresh.team_id)).map((user_id) => getStatus({ user_id } as Person)));
      expect(left.filter((status) => status === 'active').length).toBeGreaterThan(0);
    }
  });
});

it('gives no membership to a user who is being deprovisioned', async () => {
  const person = await buildPerson(app);
  const { user_id } = person;
  // Locks the user like requestDeprovision, and commits while the membership is being created.
  const leaving = await db().transaction();
  await leaving('users').where({ user_id }).forUpdate();
  const added = app.as(team.admin).post(`/api/teams/${team.team_id}/members`, { user_id });
  await until(async () => (await lockWaiters(db())) > 0);
  await leaving('users').where({ user_id }).update({ status: 'deprovisioned' });
  await leaving.commit();
  expect((await added).status).toBe(404);
  expect(await findSeats(person)).toEqual([]);
});

it('409 for oneself; the same rule for an operator’s last administrator; 404 for nobody', async () => {
  expect((await deprovision(root)).status).toBe(409);
  expect((await deprovision({ user_id: 'garbage' } as Person)).status).toBe(404);
  expect((await deprovision(team.member, { reason: '' })).status).toBe(422);
  expect((await admin.get('/api/admin/deprovisions/garbage')).status).toBe(404);
});
