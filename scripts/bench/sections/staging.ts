import { v7 as uuidv7 } from 'uuid';
import { loadConfig } from '../../../api/platform/config.js';
import type { Services } from '../../../api/platform/context.js';
import { createLogger } from '../../../api/platform/telemetry/log.js';
import { lockRun } from '../../../api/automation/runs/execution/load-run.js';
import { storeTail } from '../../../api/automation/runs/staging/store-tail.js';
import type { Result, Section } from '../report.js';
import type { World } from '../seed.js';
import type { Servers } from '../servers.js';
import { quantile } from '../statistics.js';
import { addPending, dropPending } from '../pending.js';

const RUNS = 300;

/** Five changes of one task, one of each kind that an automation makes most. */
export const LOCAL = [
  { type: 'set_task_status', params: { task_id: '{{event.task.task_id}}', status: 'in_progress' } },
  {
    type: 'update_task',
    params: { task_id: '{{event.task.task_id}}', priority: 'high', description: 'From {{event.task.title}}' },
  },
  { type: 'add_comment', params: { task_id: '{{event.task.task_id}}', content: 'Taken over: {{event.task.title}}' } },
  { type: 'create_task', params: { project_id: '{{event.task.project_id}}', title: 'Follow {{event.task.title}} up' } },
  { type: 'assign_task', params: { task_id: '{{event.task.task_id}}', assigned_to: null } },
];

/** Creates an automation with a gate before these actions, without a subscription. */
export async function gated({ db }: Servers, { teamId, userId }: World, actions: object[]): Promise<string> {
  const automation_id = uuidv7();
  const all = JSON.stringify([{ type: 'require_approval', params: { role: 'manager' } }, ...actions]);
  const definition = { name: 'Ask first', trigger_type: 'manual', actions: all };
  await db('automations').insert({ automation_id, ...definition, team_id: teamId, created_by: userId, updated_by: userId });
  await db('automation_versions').insert({ automation_id, version: 1, ...definition, changed_by: userId });
  return automation_id;
}

/** Returns the milliseconds that each of many gates needs to stage what it releases. */
async function stageMany(services: Services, runs: readonly string[]): Promise<number[]> {
  const times: number[] = [];
  for (const runId of runs) {
    await services.db('gates').where({ run_id: runId }).update({ staged: null, staged_hash: null, staged_tried: false });
    const began = performance.now();
    await services.db.transaction(async (db) => {
      const row = await lockRun(db, runId);
      if (row) await storeTail({ ...services, db }, row, 0);
    });
    times.push(performance.now() - began);
  }
  return times;
}

/** What it costs a run to stage five local actions at a gate, beside a gate before nothing: the same transaction, one after the other. */
export const stagingSection: Section = async (servers, world) => {
  const config = loadConfig({ NODE_ENV: 'test', DATABASE_URL: 'postgres://bench', LOG_LEVEL: 'silent' });
  const services: Services = { db: servers.db, config, log: createLogger(config, 'script'), notifyRelay: () => undefined };
  const measured: { p50: number; p99: number }[] = [];
  for (const actions of [[], LOCAL]) {
    const automation = await gated(servers, world, actions);
    const runs = await addPending(servers, world, automation, RUNS);
    await stageMany(services, runs.slice(0, 50));
    const times = await stageMany(services, runs);
    measured.push({ p50: quantile(times, 0.5), p99: quantile(times, 0.99) });
    await dropPending(servers, automation);
  }
  const [none, five] = measured as [(typeof measured)[0], (typeof measured)[0]];
  const result: Result = {
    name: 'staging five local actions at a gate',
    goals: [{ what: 'more than staging none, p50', value: five.p50 - none.p50, goal: 4, better: 'less', unit: ' ms' }],
    notes: [`none p50 ${none.p50.toFixed(2)} ms  five p50 ${five.p50.toFixed(2)} ms  p99 ${five.p99.toFixed(2)} ms`],
  };
  return [result];
};
