import { setTimeout as sleep } from 'node:timers/promises';
import { readGate } from '../../../../api/automation/runs/approvals/read-gate.js';
import { buildCookie, buildPerson, buildTeam, buildToken, type Person, type TestTeam } from '../../../factories/people.js';
import { buildRun, GATE, GATED, type TestRun } from '../../../factories/runs.js';
import { type Answer, startApp, type TestApp } from '../../../support/app.js';
import { lockWaiters } from '../../../support/database.js';
import { until } from '../../../support/worker.js';

// An approval counts only while its user has the role; a user who regains the role may approve again. Lists, records, pages and the
// workflow all show the approvals that count.

let app: TestApp;
let team: TestTeam;
let root: Person;
/** The manager's: it rests while they are suspended, and works again afterwards. */
let token: string;

beforeAll(async () => {
  app = await startApp();
  root = await buildPerson(app, { role: 'admin' });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  token = await buildToken(app, team.manager, ['approvals:decide']);
});

const ROUNDS = Number(process.env['CAS_ROUNDS'] ?? 8);
const db = () => app.services.db;
const gated = (params: object) => [GATED[0], { ...GATE, params }, GATED[2]] as typeof GATED;
const forTwo = () => buildRun(app, team, { actions: gated({ required_approvals: 2 }) });
const approve = (who: Person | string, { run_id }: TestRun) => app.as(who).post(`/api/automations/runs/${run_id}/approve`);
const findSeat = ({ user_id }: Person) => `/api/teams/${team.team_id}/members/${user_id}`;
const setRole = (role: string) => app.as(team.admin).patch(findSeat(team.manager), { role });
const createMembership = () =>
  app.as(team.admin).post(`/api/teams/${team.team_id}/members`, { user_id: team.manager.user_id, role: 'manager' });
const act = (verb: string) => app.as(root).post(`/api/admin/users/${team.manager.user_id}/${verb}`, { reason: 'Lost laptop' });
const listApprovalsOfRuns = ({ run_id }: TestRun) => db()('gate_approvals').where({ run_id }).pluck<string[]>('user_id');
const findWakes = async ({ run_id }: TestRun) => (await db()('outbox').where({ kind: 'run.wake', subject: run_id })).length;

/** Returns the number of approvals from every place that shows it. */
async function saidYes(run: TestRun): Promise<number[]> {
  const { approvals } = (await app.as(team.guest).get('/api/automations/approvals')).body;
  const listed = approvals.find(({ run_id }: TestRun) => run_id === run.run_id);
  const { approval } = (await app.as(team.guest).get(`/api/automations/runs/${run.run_id}`)).body;
  const view = await readGate(app.services, run.run_id, run.gate_index, 'an-execution');
  return [listed.approvals.length, approval.approvals.length, view.approvals as number];
}

type Change = () => Promise<Answer>;
const DOORS: [name: string, lose: Change, regain: Change][] = [
  ['a lower role', () => setRole('member'), () => setRole('manager')],
  ['removal', () => app.as(team.admin).delete(findSeat(team.manager)), createMembership],
  ['leaving', () => app.as(team.manager).delete(findSeat(team.manager)), createMembership],
  ['suspension', () => act('suspend'), () => act('reinstate')],
];

it.each(DOORS)('%s takes back the yes; given back, the person may say it again', async (_name, lose, regain) => {
  const run = await forTwo();
  expect((await approve(token, run)).body.approvals_needed).toBe(1);
  expect(await saidYes(run)).toEqual([1, 1, 1]);
  const wakes = await findWakes(run);
  const lost = await lose();
  expect(lost.status).toBeLessThan(300);
  expect(await saidYes(run)).toEqual([0, 0, 0]);
  expect(await findWakes(run)).toBe(wakes + 1);
  const [entry] = await db()('audit_entries').where({ audit_id: lost.headers.get('x-correlation-id') });
  expect(JSON.parse(entry.details)).toMatchObject({ voided_approvals: 1 });
  expect((await approve(team.admin, run)).body.approvals_needed).toBe(1);
  expect((await regain()).status).toBeLessThan(300);
  expect(await saidYes(run)).toEqual([1, 1, 1]);
  expect((await approve(token, run)).body).toMatchObject({ status: 'running', approvals_needed: 0 });
});

it('revokes it at the start of a deprovisioning, not only with the membership', async () => {
  const run = await forTwo();
  await approve(team.manager, run);
  expect((await act('deprovision')).status).toBe(202);
  expect(await saidYes(run)).toEqual([0, 0, 0]);
});

it('a role that is still enough keeps the yes, and so does a gate that was decided, or a run that has ended', async () => {
  const low = await buildRun(app, team, { actions: gated({ required_approvals: 2, role: 'member' }) });
  const [decided, ended] = [await forTwo(), await forTwo()];
  for (const run of [low, decided, ended]) await approve(team.manager, run);
  await approve(team.admin, decided);
  await app.as(team.member).post(`/api/automations/runs/${ended.run_id}/cancel`);
  await setRole('member');
  expect(await listApprovalsOfRuns(low)).toEqual([team.manager.user_id]);
  expect(await listApprovalsOfRuns(decided)).toHaveLength(2);
  expect(await listApprovalsOfRuns(ended)).toEqual([team.manager.user_id]);
  await setRole('guest');
  expect(await listApprovalsOfRuns(low)).toEqual([]);
  expect(await listApprovalsOfRuns(decided)).toHaveLength(2);
});

it('another team’s gates keep the yes', async () => {
  const other = await buildTeam(app);
  await app.as(other.admin).post(`/api/teams/${other.team_id}/members`, { user_id: team.manager.user_id, role: 'manager' });
  const run = await buildRun(app, other, { actions: gated({ required_approvals: 2 }) });
  await approve(team.manager, run);
  await setRole('guest');
  expect(await listApprovalsOfRuns(run)).toEqual([team.manager.user_id]);
});

it('the page offers the button again to a user whose approval was revoked', async () => {
  const run = await forTwo();
  await approve(team.manager, run);
  const path = `/app/runs/${run.run_id}`;
  const shows = async () => {
    const cookie = await buildCookie(app, team.manager);
    return (await fetch(`${app.url}${path}`, { headers: { cookie } })).text();
  };
  expect(await shows()).toContain('You approved. Still needed: 1.');
  await setRole('member');
  await approve(team.admin, run);
  await setRole('manager');
  const html = await shows();
  expect(html).toContain('1 of 2 approved');
  expect(html).not.toContain('You approved. Still');
  expect(html).toContain(`${path}/approve"`);
});

it.each([DOORS[0], DOORS[3]] as typeof DOORS)(
  'a yes against %s: whichever comes first, none is left',
  async (_name, lose, regain) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const run = await forTwo();
      const late = sleep(round % 4);
      const [answer] = await Promise.all([late.then(() => approve(token, run)), lose()]);
      expect([200, 401, 403]).toContain(answer.status);
      expect(await listApprovalsOfRuns(run)).toEqual([]);
      await regain();
    }
  },
);

it('the last yes against the loss of the first: open with both, or waiting with one', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const run = await forTwo();
    await approve(team.manager, run);
    const late = sleep(round % 4);
    const [answer] = await Promise.all([late.then(() => approve(team.admin, run)), setRole('member')]);
    const isOpen = answer.body.approvals_needed === 0;
    expect(await listApprovalsOfRuns(run)).toHaveLength(isOpen ? 2 : 1);
    await setRole('manager');
  }
});

it.each([
  ['a team’s', true, 1],
  ['a personal', false, 0],
])('a yes to %s gate that was on its way when its person was suspended does not count', async (_name, inTeam, missing) => {
  const actions = gated({ required_approvals: 1 + missing });
  const run = await buildRun(app, team, { creator: team.manager, inTeam, actions });
  const blocker = await db().transaction();
  await blocker('automation_runs').where({ run_id: run.run_id }).forUpdate();
  const late = approve(token, run);
  await until(async () => (await lockWaiters(db())) > 0);
  expect((await act('suspend')).status).toBe(200);
  await blocker.rollback();
  expect((await late).status).toBe(401);
  expect(await listApprovalsOfRuns(run)).toEqual([]);
  await act('reinstate');
  expect((await approve(token, run)).body.approvals_needed).toBe(missing);
});
