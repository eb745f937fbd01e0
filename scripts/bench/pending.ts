import { v7 as uuidv7 } from 'uuid';
import { composeTail, type StoredTail } from '../../api/automation/runs/staging/tail.js';
import type { World } from './seed.js';
import type { Servers } from './servers.js';

/** Runs waiting at their gate, as `openGate` leaves them: each for a task of the project, with a deadline within four days. */
const PENDING = /* sql */ `
  with made as (
    insert into automation_runs (run_id, automation_id, automation_version, automation_name, team_id, project_id, creator_id, status,
      gate_expires_at, trigger_type, event, triggered_by, correlation_id, claimed_by, started_at)
    select uuidv7(), a.automation_id, a.version, a.name, a.team_id, a.project_id, a.created_by, 'paused',
      now() + interval '1 day' + random() * interval '3 days', a.trigger_type,
      jsonb_build_object('type', 'task.created', 'task', task_json(t), 'team_id', a.team_id), a.created_by, uuidv7(), 'bench', now()
    from automations a, generate_series(1, :count), (select * from tasks where task_id = :task) t where a.automation_id = :automation
    returning run_id, gate_expires_at
  ), steps as (
    insert into run_actions (run_id, index, type, status, attempts, started_at)
    select run_id, 0, 'require_approval', 'running', 1, now() from made
    union all select run_id, 1, 'set_task_status', 'staged', 0, null from made
  )
  insert into gates (run_id, gate_index, required_role, expires_at, staged, staged_hash, staged_tried)
  select run_id, 0, 'manager', gate_expires_at, :staged, :staged_hash, true from made returning run_id`;

const ACTIONS = [
  { type: 'require_approval', params: { role: 'manager' } },
  { type: 'set_task_status', params: { task_id: '{{event.task.task_id}}', status: 'in_progress' } },
];

/** Creates an automation with a gate by SQL, without a subscription, so that only the section's own runs wait. */
export async function gatedAutomation({ db }: Servers, { teamId, userId }: World): Promise<string> {
  const id = uuidv7();
  const definition = { name: 'Ask first', trigger_type: 'manual', actions: JSON.stringify(ACTIONS) };
  await db('automations').insert({
    automation_id: id,
    ...definition,
    team_id: teamId,
    created_by: userId,
    updated_by: userId,
  });
  await db('automation_versions').insert({ automation_id: id, version: 1, ...definition, changed_by: userId });
  return id;
}

/** Deletes the runs: they have no workflow, and the worker of a later section would start them all. */
export async function dropPending({ db }: Servers, automation: string): Promise<void> {
  await db('automation_runs').where({ automation_id: automation }).delete();
}

/** What each gate releases, as `openGate` stages it. */
const tailFor = (automation: string, task: string, creator: string): StoredTail =>
  composeTail({
    v: 1,
    run_id: uuidv7(),
    gate_index: 0,
    automation_id: automation,
    automation_version: 1,
    creator_id: creator,
    actions: [
      {
        index: 1,
        type: 'set_task_status',
        name: null,
        tool: 'task.set_status',
        entity_type: 'task',
        entity_id: task,
        title: 'Check valve',
        params: { task_id: task, status: 'in_progress' },
        secrets: {},
        before: { status: 'todo' },
        after: { status: 'in_progress' },
        risk: 'low',
        reversible: true,
        expected_version: 1,
        refused: null,
      },
    ],
  });

/** Inserts this many runs that wait for approval; returns their ids. */
export async function addPending(
  { db }: Servers,
  { tasks, userId }: World,
  automation: string,
  count: number,
): Promise<string[]> {
  const task = tasks[0] as string;
  const values = { count, automation, task, ...tailFor(automation, task, userId) };
  const { rows } = await db.raw<{ rows: { run_id: string }[] }>(PENDING, values);
  return rows.map((row) => row.run_id);
}
