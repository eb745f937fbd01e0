import { expirePlans } from '../../../../api/agent/plans/waiting/expire-plans.js';
import { expireRun } from '../../../../api/automation/runs/approvals/expire-run.js';
import { buildSession, staged } from '../../../factories/agent.js';
import { buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../../../factories/people.js';
import { buildRun, GATE, openNextGate } from '../../../factories/runs.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { givePasswords, signIn } from '../../web/browser.js';

// What asked for a decision is read once there is one, whoever made it, however.

let app: TestApp;
let team: TestTeam;

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
});

const db = () => app.services.db;
const unread = async (person: Person): Promise<string[]> =>
  (await app.as(person).get('/api/notifications?unread=true')).body.map(({ kind }: { kind: string }) => kind);

describe('a gate', () => {
  /** Two approvers are asked, one of them is reminded, and told something else about the run. */
  async function asked(options: Parameters<typeof buildRun>[2] = {}) {
    const run = await buildRun(app, team, options);
    const row = { team_id: team.team_id, run_id: run.run_id, message: 'Ship it?' };
    for (const { user_id } of [team.manager, team.admin])
      await db()('notifications').insert({ ...row, user_id, kind: 'approval_requested' });
    for (const kind of ['approval_reminder', 'message'])
      await db()('notifications').insert({ ...row, user_id: team.manager.user_id, kind });
    return run;
  }
  const decide = (run_id: string, verb: string, by: Person = team.manager) =>
    app.as(by).post(`/api/automations/runs/${run_id}/${verb}`);
  const both = async () => [await unread(team.manager), await unread(team.admin)];
  const ALL = [['message', 'approval_reminder', 'approval_requested'], ['approval_requested']];

  it.each(['approve', 'reject', 'cancel'])('that ends by %s asks nobody any more', async (verb) => {
    const run = await asked();
    const other = await asked();
    expect((await decide(run.run_id, verb)).status).toBe(200);
    const left = await db()('notifications').where({ run_id: run.run_id }).whereNull('read_at').pluck('kind');
    expect(left).toEqual(['message']);
    expect(await db()('notifications').where({ run_id: other.run_id }).whereNull('read_at')).toHaveLength(4);
  });

  it('that needs another approval still asks; so does the next gate', async () => {
    const two = { ...GATE, params: { required_approvals: 2 } };
    const run = await asked({ actions: [two, GATE] });
    await decide(run.run_id, 'approve');
    expect(await both()).toEqual(ALL);
    await decide(run.run_id, 'approve', team.admin);
    expect(await both()).toEqual([['message'], []]);
    await openNextGate(app, run, 1);
    const again = {
      user_id: team.admin.user_id,
      team_id: team.team_id,
      run_id: run.run_id,
      kind: 'approval_requested',
      message: '2',
    };
    await db()('notifications').insert(again);
    expect(await both()).toEqual([['message'], ['approval_requested']]);
  });

  it('that expires, or whose automation is deleted, asks nobody any more', async () => {
    const late = await asked({ expiresIn: -1 });
    await expireRun(app.services, late.run_id, late.gate_index);
    expect(await both()).toEqual([['message'], []]);
    const gone = await asked();
    await app.as(team.admin).delete(`/api/automations/${gone.automation_id}`);
    expect(await both()).toEqual([['message', 'message'], []]);
  });

  it('is decided while a user marks the request as read', async () => {
    const run = await asked();
    await db().transaction(async (other) => {
      await other('notifications').where({ run_id: run.run_id, user_id: team.admin.user_id }).forUpdate();
      expect((await decide(run.run_id, 'approve')).status).toBe(200);
    });
    expect(await both()).toEqual([['message'], ['approval_requested']]);
  });
});

describe('a plan', () => {
  /** A plan of the team, and the task that it would rename. */
  async function asked() {
    const task = await buildTask(app, team, await buildProject(app, team), { title: 'Old' });
    const session = await buildSession(app, team, { kind: 'automation' });
    const action = { tool: 'task.update', params: { title: 'New' }, entity_id: task.task_id } as const;
    const plan = await staged(app, team.member, [action], { session, source: 'automation', lifeHours: 168 });
    return { task, place: { session_id: session.session_id, action_id: plan.action_id } };
  }
  const everyone = async () => [await unread(team.member), await unread(team.manager), await unread(team.admin)];
  const ASKED = [['plan_staged'], ['plan_staged'], ['plan_staged']];
  const decide = (body: object) => app.as(team.manager).post('/api/ai-workspace/agent/confirm', body);

  it('that is confirmed asks nobody any more; another one does', async () => {
    const { place } = await asked();
    expect(await everyone()).toEqual(ASKED);
    expect((await app.as(team.admin).get('/api/notifications')).body).toMatchObject([
      { action_id: place.action_id, run_id: null },
    ]);
    await asked();
    expect((await decide({ ...place, confirmed: true })).status).toBe(200);
    expect(await everyone()).toEqual(ASKED);
  });

  it('that is discarded, stale or expired asks nobody any more', async () => {
    const none = [[], [], []];
    expect((await decide({ ...(await asked()).place, confirmed: false })).status).toBe(200);
    expect(await everyone()).toEqual(none);

    const { task, place } = await asked();
    await app.as(team.member).patch(`/api/tasks/${task.task_id}`, { title: 'Newer' });
    expect((await decide({ ...place, confirmed: true })).status).toBe(409);
    expect(await everyone()).toEqual(none);

    const late = await asked();
    await db()('agent_plans')
      .where(late.place)
      .update({ expires_at: db().raw('clock_timestamp()') });
    await expirePlans(app.services);
    expect(await everyone()).toEqual(none);
  });

  it('leaves the count of the web app, where its line leads to it', async () => {
    await givePasswords(app);
    const { place } = await asked();
    const browser = await signIn(app, team.manager);
    const before = (await browser.get('/app/notifications')).html;
    expect(before).toContain('class="count">1<span class="unseen"> unread');
    expect(before).toContain(`<a href="/app/approvals/plan/${place.action_id}">`);
    await decide({ ...place, confirmed: true });
    expect((await browser.get('/app/notifications')).html).not.toMatch(/class="count">\d+<span class="unseen"> unread/);
  });
});
