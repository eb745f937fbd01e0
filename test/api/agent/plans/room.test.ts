import type { ProposedAction } from '../../../../api/agent/plans/proposal.js';
import type { PlanSource } from '../../../../api/gate/work-actions/action.js';
import { listPendingAfter } from '../../../../api/agent/plans/waiting/list-pending.js';
import { buildSession, buildContext, stage, staged } from '../../../factories/agent.js';
import { buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';

// How much room one person, or one source, takes from the others.

let app: TestApp;
let team: TestTeam;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
});

const db = () => app.services.db;
const task = async (title: string) => buildTask(app, team, await buildProject(app, team), { title });
const act = (tool: ProposedAction['tool'], params: Record<string, unknown>, entity_id: string): ProposedAction => ({
  tool,
  params,
  entity_id,
});

describe('room for plans', () => {
  const fill = async (owner: Person | null, source: string, bytes = 2) => {
    const { session_id } = await buildSession(app, owner ?? team, owner ? {} : { kind: 'ci_triage' });
    await db().raw(
      `insert into agent_plans (action_id, session_id, owner_id, team_id, team_ids, source, staged_for, summary, risk, canonical, plan_hash,
        correlation_id, expires_at)
      select uuidv7(), ?, ?, ?, array[?::uuid], ?, ?, 'x', 'low', rpad('{"actions":[],"summary":""}', greatest(?, 30)), '\\x00', uuidv7(),
        now() + interval '1 day' from generate_series(1, 100)`,
      [session_id, owner?.user_id ?? null, owner ? null : team.team_id, team.team_id, source, team.admin.user_id, bytes],
    );
  };
  const full = { code: 'RESOURCE_CONFLICT', message: expect.stringContaining('100 staged plans in the team') };

  it('one person does not take it all', async () => {
    const { task_id } = await task('Login 500');
    await fill(team.admin, 'chat');
    await expect(stage(app, team.admin, [act('task.delete', {}, task_id)])).rejects.toMatchObject(full);
    expect(await staged(app, team.member, [act('task.delete', {}, task_id)])).toBeDefined();
  });

  it('nor do strangers whose builds fail', async () => {
    const { task_id } = await task('Login 500');
    await fill(null, 'ci_failure_triage');
    const of = async (kind: string, source: PlanSource) =>
      stage(app, team.admin, [act('task.comment', { content: 'x' }, task_id)], {
        session: await buildSession(app, team, { kind }),
        source,
      });
    await expect(of('ci_triage', 'ci_failure_triage')).rejects.toMatchObject(full);
    expect((await of('overnight_triage', 'overnight_triage')).plan).not.toBeNull();
  });

  it('a page of waiting plans ends where it becomes large, and says that there are more', async () => {
    await fill(team.admin, 'mcp', 262_144);
    const { body } = await app.as(team.admin).get('/api/ai-workspace/agent/pending?limit=200');
    expect([body.pending.length, body.total]).toEqual([16, 100]);
    const first = await listPendingAfter(buildContext(app, team.admin), 50);
    const next = await listPendingAfter(buildContext(app, team.admin), 50, first.plans.at(-1)?.action_id);
    expect([first.hasMore, first.plans.length, next.plans.length]).toEqual([true, 4, 4]);
    expect(new Set([...first.plans, ...next.plans].map(({ action_id }) => action_id)).size).toBe(8);
  });
});
