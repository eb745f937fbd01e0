import { v7 as uuidv7 } from 'uuid';
import { stagePlan } from '../../../api/agent/plans/stage-plan.js';
import type { Context } from '../../../api/platform/context.js';
import { run } from '../../../db/statement.js';
import { call } from '../client.js';
import type { Goal, Result, Section } from '../report.js';
import type { World } from '../seed.js';
import type { Service, Servers } from '../servers.js';
import { quantile } from '../statistics.js';
import { withSides } from './requests-section.js';

const PLANS = 40;
const WARM_UP = 10;
const ACTIONS = 50;
/** Fewer than one person may have staged in a team. */
const SINGLE = 90;
/** Staged plans of the list: each team has at most 200, so they are spread over teams of the caller. */
const STAGED = 10_000;
const TEAMS = 50;

const below = (what: string, value: number, goal: number, unit = ' ms'): Goal => ({ what, value, goal, better: 'less', unit });
const p50 = (values: readonly number[]): number => quantile(values.slice(WARM_UP), 0.5);

async function timed(count: number, work: (nth: number) => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    const from = performance.now();
    await work(nth);
    times.push(performance.now() - from);
  }
  return times;
}

/** The context of the seeded user, over the bench's own pool. Staging updates uses no setting. */
const buildContext = ({ db }: Servers, { userId }: World): Context => {
  const requestId = uuidv7();
  const actor = {
    type: 'user',
    userId,
    email: 'bench@bench.test',
    role: 'user',
    sessionId: requestId,
    impersonatorId: null,
  } as const;
  const services = { db, config: {}, log: {}, notifyRelay: () => undefined } as unknown as Pick<
    Context,
    'db' | 'config' | 'log' | 'notifyRelay'
  >;
  return { ...services, actor, requestId, correlationId: requestId, ip: null, userAgent: null };
};

interface StagedPlan {
  session_id: string;
  action_id: string;
}

/** Stages one plan that changes the priority of `count` tasks, in a session of its own. */
async function stageOne(servers: Servers, world: World, nth: number, count: number): Promise<StagedPlan> {
  const session_id = uuidv7();
  await servers.db('agent_sessions').insert({ session_id, kind: 'chat', owner_id: world.userId, title: 'Bench' });
  const actions = Array.from({ length: count }, (_, at) => ({
    tool: 'task.update' as const,
    entity_id: world.tasks[(nth * count + at) % world.tasks.length] as string,
    params: { priority: nth % 2 === 0 ? 'urgent' : 'high', estimated_hours: (nth % 900) + 1 },
  }));
  const session = { session_id, owner_id: world.userId, team_id: null };
  const proposal = { session, source: 'chat', actions, lifeHours: 24, onRefusal: 'refuse' } as const;
  const { plan } = await stagePlan(buildContext(servers, world), proposal);
  if (!plan) throw new Error('Nothing was staged');
  return { session_id, action_id: plan.action_id };
}

const confirm = async (api: Service, world: World, plan: StagedPlan): Promise<void> => {
  const { body } = await call(api, world, 'POST', '/api/ai-workspace/agent/confirm', { ...plan });
  if (body['status'] !== 'applied') throw new Error(`Not applied: ${JSON.stringify(body)}`);
};

/** The baseline of a batch: as many bare updates, each sent by itself, in one transaction. */
export const bareUpdates = ({ db }: Servers, { tasks }: World, nth: number, count: number): Promise<void> =>
  db.transaction(async (trx) => {
    const statement = {
      name: 'bench_bare_update',
      text: 'update tasks set priority = $2, version = version + 1 where task_id = $1',
    };
    for (let at = 0; at < count; at += 1)
      await run(trx, statement, [tasks[(nth * count + at) % tasks.length], nth % 2 === 0 ? 'low' : 'high']);
  });

/** Staging and confirming plans of 50 changes and of one, one after the other. */
export const plansSection: Section = (servers, world) =>
  withSides(servers, async ({ product }): Promise<Result[]> => {
    await servers.db('agent_plans').where({ status: 'staged' }).update({ status: 'expired' });
    const plans: StagedPlan[] = [];
    const staging = await timed(PLANS, async (nth) => plans.push(await stageOne(servers, world, nth, ACTIONS)));
    const floor = p50(await timed(PLANS, (nth) => bareUpdates(servers, world, nth + PLANS, 2 * ACTIONS)));
    // The bare updates met other tasks, so no plan is stale.
    const confirming = await timed(PLANS, (nth) => confirm(product, world, plans[nth] as StagedPlan));
    const singles: StagedPlan[] = [];
    for (let nth = 0; nth < SINGLE; nth += 1) singles.push(await stageOne(servers, world, 20_000 + nth, 1));
    const one = p50(await timed(SINGLE, (nth) => confirm(product, world, singles[nth] as StagedPlan)));
    const patch = p50(
      await timed(SINGLE, (nth) =>
        call(product, world, 'PATCH', `/api/tasks/${world.tasks[50_000 + nth]}`, { estimated_hours: (nth % 900) + 0.5 }),
      ),
    );
    return [
      {
        name: `Plans of ${ACTIONS} changes, one after the other`,
        goals: [below('staging p50', p50(staging), 120), below('confirming p50', p50(confirming), 150)],
        notes: [`baseline, ${2 * ACTIONS} bare updates in one transaction: p50 ${floor.toFixed(1)} ms`],
      },
      {
        name: 'A plan of one change, confirmed',
        goals: [below('times a PATCH', one / patch, 2, '')],
        notes: [`confirmation p50 ${one.toFixed(2)} ms, PATCH p50 ${patch.toFixed(2)} ms`],
      },
    ];
  });

/** The list of what waits, with 10,000 staged plans in 50 teams of the caller. */
export const pendingSection: Section = (servers, world) =>
  withSides(servers, async ({ product }): Promise<Result[]> => {
    const { db } = servers;
    const { action_id } = await stageOne(servers, world, 90_000, 1);
    const teams = Array.from({ length: TEAMS }, () => uuidv7());
    await db('teams').insert(teams.map((team_id) => ({ team_id, name: 'Bench', created_by: world.userId })));
    await db('memberships').insert(teams.map((team_id) => ({ team_id, user_id: world.userId, role: 'admin' })));
    const sessions = teams.map((team_id) => ({ session_id: uuidv7(), kind: 'automation', team_id, title: 'Bench' }));
    await db('agent_sessions').insert(sessions);
    const spread = JSON.stringify(sessions);
    await db.raw(
      `with made as (
        insert into agent_plans (action_id, session_id, team_id, team_ids, source, staged_for, summary, risk, canonical, plan_hash, correlation_id, expires_at)
        select uuidv7(), s.session_id, s.team_id, array[s.team_id], 'automation', p.staged_for, p.summary, p.risk, p.canonical, p.plan_hash,
          uuidv7(), now() + n * interval '1 minute'
        from agent_plans p, jsonb_to_recordset(?::jsonb) as s(session_id uuid, team_id uuid), generate_series(1, ?::int) as n
        where p.action_id = ? returning action_id
      )
      insert into agent_actions (action_id, index, tool, entity_type, entity_id, risk, expected_version)
      select m.action_id, a.index, a.tool, a.entity_type, a.entity_id, a.risk, a.expected_version from made m, agent_actions a where a.action_id = ?`,
      [spread, STAGED / TEAMS, action_id, action_id],
    );
    await db.raw('analyze agent_plans, agent_actions');
    const times = await timed(200, () => call(product, world, 'GET', '/api/ai-workspace/agent/pending'));
    await db('agent_plans').whereIn('team_id', teams).update({ status: 'expired' });
    return [
      {
        name: `GET /api/ai-workspace/agent/pending at ${STAGED.toLocaleString('en')} staged plans, 50 shown`,
        goals: [below('p50', p50(times), 10)],
        notes: [`p99 ${quantile(times.slice(WARM_UP), 0.99).toFixed(1)} ms`],
      },
    ];
  });
