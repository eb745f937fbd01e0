import { performAction } from '../../../../api/automation/runs/execution/perform-action.js';
import { buildSession, staged } from '../../../factories/agent.js';
import { buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../../../factories/people.js';
import { buildRun, GATE, type TestRun } from '../../../factories/runs.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { captureStatements } from '../../../support/statements.js';
import { givePasswords, signIn } from '../../web/browser.js';

// A line of what a machine changed names the machine, for whom it acted and who approved it, and tells short values.

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let task: { task_id: string };
beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
  task = await buildTask(app, team, project, { title: 'Login 500' });
});

interface Line {
  summary: string;
  cause: Record<string, unknown> | null;
  changes: Record<string, unknown> | null;
}
const newest = async (by: Person = team.guest): Promise<Line> =>
  (await app.as(by).get(`/api/activity?entity_id=${task.task_id}&limit=1`)).body[0];
const named = async ({ user_id }: Person) => ({
  user_id,
  name: (await app.services.db('users').where({ user_id }).first()).name as string,
});
/** The line as the page of the task shows it, without marks and its time. */
async function shown(by: Person): Promise<string | undefined> {
  await givePasswords(app);
  const { html } = await (await signIn(app, by)).get(`/app/items/${task.task_id}`);
  const line = /id="h-activity".*?<li>(.*?)<time/s.exec(html)?.[1];
  return line
    ?.replaceAll(/<[^>]+>/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

const perform = (run: TestRun, index: number) =>
  performAction(app.services, { runId: run.run_id, incarnation: 1, execution: 'an-execution' }, index);
const change = (status: string) => ({ type: 'set_task_status', params: { task_id: task.task_id, status } });
const approve = (run: TestRun, by: Person) => app.as(by).post(`/api/automations/runs/${run.run_id}/approve`);

describe('an automation', () => {
  it('is named, for whom it acted, and who approved its gate', async () => {
    const gate = { ...GATE, params: { required_approvals: 2 } };
    const run = await buildRun(app, team, { actions: [gate, change('done')] });
    for (const one of [team.manager, team.admin]) expect((await approve(run, one)).status).toBe(200);
    expect(await perform(run, 1)).toMatchObject({ outcome: 'succeeded' });
    expect(await newest()).toMatchObject({
      cause: {
        type: 'automation',
        automation_id: run.automation_id,
        automation_name: 'Deploy on merge',
        run_id: run.run_id,
        action_id: null,
        for_user: await named(team.member),
        triggered_by: null,
        approvers: [await named(team.manager), await named(team.admin)],
      },
      changes: { status: { from: 'todo', to: 'done' } },
    });
    const [member, manager] = [await named(team.member), await named(team.manager)];
    expect(await shown(team.admin)).toBe(
      `automation Deploy on merge, for ${member.name}, approved by ${manager.name} and you: changed status from To do to Done`,
    );
  });

  it('says that an approver also created or started it, in its activity and on the page of the run', async () => {
    const { user_id } = team.manager;
    const started = (creator: Person, triggered_by: string | null) =>
      buildRun(app, team, { actions: [GATE, change('done')], creator, fields: { trigger_type: 'manual', triggered_by } });
    const cases = [
      [await started(team.manager, user_id), 'created the automation and started it'],
      [await started(team.member, user_id), 'started it'],
      [await started(team.manager, team.member.user_id), 'created the automation'],
      [await started(team.member, team.member.user_id), null],
    ] as const;
    const { name } = await named(team.manager);
    for (const [run, also] of cases) {
      await app.as(team.member).patch(`/api/tasks/${task.task_id}`, { status: 'todo' });
      expect((await approve(run, team.manager)).status).toBe(200);
      expect(await perform(run, 1)).toMatchObject({ outcome: 'succeeded' });
      const approved = `approved by ${name}${also === null ? '' : `, who also ${also}`}: changed status`;
      expect(await shown(team.admin)).toContain(approved);
      const page = await (await signIn(app, team.manager)).get(`/app/runs/${run.run_id}`);
      const said = /You approved.*?<\/p>/.exec(page.html)?.[0].replaceAll(/<[^>]+>/g, '');
      expect(said).toMatch(also === null ? /^You approved [\d:]+$/ : new RegExp(`^You approved [\\d:]+, and also ${also}$`));
    }
  });

  it('has no approval before its gate, and that of the last gate after two', async () => {
    const run = await buildRun(app, team, {
      actions: [change('in_progress'), GATE, change('in_review')],
      status: 'running',
      gateIndex: 1,
      statuses: ['pending', 'pending', 'pending'],
    });
    await perform(run, 0);
    await app.services.db('automation_runs').where({ run_id: run.run_id }).update({ status: 'paused' });
    expect((await approve(run, team.manager)).status).toBe(200);
    expect((await newest()).cause).toMatchObject({ automation_name: 'Deploy on merge', approvers: [] });
    await perform(run, 2);
    expect((await newest()).cause).toMatchObject({ approvers: [await named(team.manager)] });
    await app.services.db('memberships').where({ team_id: team.team_id, user_id: team.manager.user_id }).delete();
    expect((await newest()).cause).toMatchObject({ approvers: [{ user_id: team.manager.user_id, name: null }] });
  });

  it('of a personal automation is not named to others', async () => {
    const run = await buildRun(app, team, { actions: [change('done')], inTeam: false, status: 'running', statuses: ['pending'] });
    await perform(run, 0);
    const hidden = { type: 'automation', automation_id: null, automation_name: null, run_id: null, approvers: [] };
    expect((await newest(team.admin)).cause).toMatchObject({ ...hidden, for_user: await named(team.member) });
    expect((await newest(team.member)).cause).toMatchObject({ automation_name: 'Deploy on merge', run_id: run.run_id });
    expect(await shown(team.admin)).toMatch(/^an automation, for .+: changed status from To do to Done$/);
  });
});

it('a plan names for whom it was staged and who confirmed it', async () => {
  const session = await buildSession(app, team, { kind: 'automation' });
  const action = { tool: 'task.update', params: { title: 'Login 502' }, entity_id: task.task_id } as const;
  const { action_id } = await staged(app, team.member, [action], { session, source: 'automation', lifeHours: 168 });
  const { session_id } = session;
  await app.as(team.manager).post('/api/ai-workspace/agent/confirm', { session_id, action_id, confirmed: true });
  const [member, manager] = [await named(team.member), await named(team.manager)];
  expect(await newest()).toMatchObject({
    cause: { type: 'plan', action_id, automation_name: null, run_id: null, for_user: member, approvers: [manager] },
    changes: { title: { from: 'Login 500', to: 'Login 502' } },
  });
  expect(await shown(team.admin)).toBe(
    `the agent, for ${member.name}, confirmed by ${manager.name}: changed title from “Login 500” to “Login 502”`,
  );
});

it('tells short values of what a person changed, and no long ones', async () => {
  const body = {
    title: 'x'.repeat(200),
    description: 'Secret',
    assigned_to: team.member.user_id,
    due_date: '2030-01-02',
    tags: ['a'],
  };
  expect((await app.as(team.manager).patch(`/api/tasks/${task.task_id}`, body)).status).toBe(200);
  const { cause, changes } = await newest();
  expect([cause, Object.keys(changes ?? {}).toSorted()]).toEqual([null, ['assigned_to', 'due_date', 'tags', 'title']]);
  const line = await shown(team.member);
  expect(line).toMatch(/^P \S+ changed .*assignee from nobody to you/);
  expect(line).toMatch(/due date from none to 2 Jan/);
  expect(line).toMatch(/title(,|$)/);
});

it('reads causes by one statement a page, and lines of an older version without', async () => {
  for (const status of ['in_progress', 'in_review', 'done'])
    await app.as(team.manager).patch(`/api/tasks/${task.task_id}`, { status });
  const read = () => app.as(team.guest).get(`/api/activity?entity_id=${task.task_id}`);
  const names = (await captureStatements(read)).map(({ name }) => name);
  expect(names.filter((name) => name === 'activity_causes')).toHaveLength(1);
  await app.services.db('activity').where({ entity_id: task.task_id }).update({ audit_id: null });
  expect((await read()).body[0]).toMatchObject({ summary: expect.stringContaining('status'), cause: null, changes: null });
});
