import { v7 as uuidv7 } from 'uuid';
import type { ActionStatus, RunStatus } from '../../api/automation/runs/record/rules.js';
import type { TestApp } from '../support/app.js';
import type { Person, TestTeam } from './people.js';

type Action = { type: string; name?: string; if?: string; params?: Record<string, unknown>; on_failure?: 'continue' | 'stop' };

interface RunOptions {
  creator?: Person;
  /** false: a personal automation of the creator's. */
  inTeam?: boolean;
  actions?: Action[];
  /** One an action; where absent, as the opened gate leaves them. */
  statuses?: ActionStatus[];
  status?: RunStatus;
  /** Index of the gate that is open; the first one where absent. */
  gateIndex?: number;
  /** Seconds until the gate expires, by the database's clock; negative = expired. */
  expiresIn?: number;
  automation?: { automation_id: string };
  fields?: Record<string, unknown>;
}

export interface TestRun {
  run_id: string;
  automation_id: string;
  gate_index: number;
}

const COMMENT: Action = { type: 'add_comment', params: { task_id: 'nobody', content: 'Hello' } };
export const GATE: Action = { type: 'require_approval', params: {} };
export const GATED: Action[] = [COMMENT, GATE, { type: 'set_task_status', params: { task_id: 'nobody', status: 'done' } }];

async function createAutomation(
  app: TestApp,
  team: TestTeam,
  { creator = team.member, inTeam = true, actions = GATED }: RunOptions,
) {
  const made = await app.as(creator).post('/api/automations', {
    name: 'Deploy on merge',
    trigger_type: 'forge.pr_merged',
    actions,
    ...(inTeam ? { team_id: team.team_id } : {}),
  });
  if (made.status !== 201) throw new Error(`no automation: ${JSON.stringify(made.body)}`);
  return made.body as { automation_id: string };
}

const getStatuses = (count: number, gateIndex: number): ActionStatus[] =>
  Array.from({ length: count }, (_, index) => (index < gateIndex ? 'succeeded' : index === gateIndex ? 'running' : 'staged'));

const gateRow = (app: TestApp, action: Action, expiresIn: number) => {
  const params = action.params ?? {};
  return {
    required_role: params['role'] ?? 'manager',
    required_approvals: params['required_approvals'] ?? 1,
    allow_self_approval: params['allow_self_approval'] ?? true,
    message: params['message'] ?? null,
    requested_at: app.services.db.raw("clock_timestamp() - interval '1 day'"),
    expires_at: app.services.db.raw('clock_timestamp() + make_interval(secs => ?)', [expiresIn]),
  };
};

/** The gate's row, with its deadline on the run. */
async function insertGate(
  app: TestApp,
  place: { run_id: string; gate_index: number },
  gate: Action,
  expiresIn: number,
): Promise<void> {
  const { db } = app.services;
  await db('gates').insert({ ...place, ...gateRow(app, gate, expiresIn) });
  await db('automation_runs')
    .where({ run_id: place.run_id })
    .update({ gate_expires_at: db('gates').where(place).select('expires_at') });
}

/** A run as its rows stand when a gate has been opened, or in any other state that is asked for. */
export async function buildRun(app: TestApp, team: TestTeam, options: RunOptions = {}): Promise<TestRun> {
  const { db } = app.services;
  const { creator = team.member, inTeam = true, status = 'paused', expiresIn = 3600, fields = {} } = options;
  const { automation_id } = options.automation ?? (await createAutomation(app, team, options));
  const version = await db('automation_versions').where({ automation_id }).orderBy('version', 'desc').first();
  const actions = version.actions as Action[];
  const gateIndex = options.gateIndex ?? actions.findIndex(({ type }) => type === GATE.type);
  const run_id = uuidv7();
  const finished = !['queued', 'running', 'paused'].includes(status);
  await db('automation_runs').insert({
    run_id,
    automation_id,
    automation_version: version.version,
    automation_name: version.name,
    team_id: inTeam ? team.team_id : null,
    creator_id: creator.user_id,
    status,
    trigger_type: version.trigger_type,
    event: JSON.stringify({ type: 'forge.pr_merged', pr_number: 12 }),
    correlation_id: uuidv7(),
    started_at: status === 'queued' ? null : db.fn.now(),
    finished_at: finished ? db.fn.now() : null,
    claimed_by: status === 'queued' ? null : 'an-execution',
    ...fields,
  });
  const statuses = options.statuses ?? getStatuses(actions.length, gateIndex);
  const rows = actions.map(({ type, name, on_failure }, index) => ({
    run_id,
    index,
    type,
    name: name ?? null,
    on_failure,
    status: statuses[index],
    error: statuses[index] === 'failed' ? JSON.stringify({ code: 'template_missing', message: 'event.task is not there' }) : null,
  }));
  if (rows.length > 0) await db('run_actions').insert(rows);
  const gate = actions[gateIndex];
  if (gate && status !== 'queued') await insertGate(app, { run_id, gate_index: gateIndex }, gate, expiresIn);
  return { run_id, automation_id, gate_index: gateIndex };
}

/** Opens the run's next gate like the workflow. */
export async function openNextGate(app: TestApp, run: TestRun, gateIndex: number): Promise<void> {
  const { db } = app.services;
  const { run_id } = run;
  await insertGate(app, { run_id, gate_index: gateIndex }, GATE, 3600);
  await db('automation_runs').where({ run_id }).update({ status: 'paused' });
  await db('run_actions')
    .where({ run_id })
    .where('index', '<', gateIndex)
    .where({ status: 'pending' })
    .update({ status: 'succeeded' });
  await db('run_actions').where({ run_id, index: gateIndex }).update({ status: 'running' });
  await db('run_actions').where({ run_id, status: 'pending' }).where('index', '>', gateIndex).update({ status: 'staged' });
}

/** Skipped runs of an automation, a team or all, oldest first, with the fields of a run. */
export const skippedRuns = (app: TestApp, where: { automation_id?: string; team_id?: string } = {}): Promise<SkippedRow[]> =>
  app.services
    .db<SkippedRow>('skipped_runs')
    .join('automations', 'automations.automation_id', 'skipped_runs.automation_id')
    .where(Object.fromEntries(Object.entries(where).map(([name, value]) => [`automations.${name}`, value])))
    .orderBy('run_id')
    .select('skipped_runs.*');

export interface SkippedRow {
  run_id: string;
  automation_id: string;
  automation_version: number;
  triggered_by: string | null;
  depth: number;
  is_loop: boolean;
  condition_error: string | null;
}
