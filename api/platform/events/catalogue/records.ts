import { z } from 'zod';

/** Changed fields; long texts by their sizes. */
export const Changes = z.record(
  z.string(),
  z.union([z.object({ from_bytes: z.int(), to_bytes: z.int() }), z.object({ from: z.unknown(), to: z.unknown() })]),
);

const text = z.string();
const nullable = z.string().nullable();

export const Task = z.looseObject({ task_id: text, title: text, project_id: text, team_id: text, status: text });
export const Project = z.looseObject({ project_id: text, name: text, team_id: text, status: text });
export const Comment = z.looseObject({ comment_id: text, task_id: text, content: text });
export const Note = z.looseObject({ note_id: text, title: text, team_id: text, kind: text });
export const Relation = z.looseObject({ relation_id: text, source_id: text, target_id: text, relation_type: text });
export const Cycle = z.looseObject({ cycle_id: text, name: text, team_id: text, number: z.int(), status: text });
export const Plan = z.looseObject({ action_id: text, session_id: text, source: text, risk: text });
export const Member = z.looseObject({ user_id: text, role: text });
export const RunnerJob = z.looseObject({ job_id: text, team_id: text, status: text, labels: z.array(text) });
export const BulkJob = z.looseObject({
  job_id: text,
  team_id: text,
  kind: z.enum(['export', 'import']),
  status: text,
  error_code: nullable,
});
export const Webhook = z.looseObject({
  webhook_id: text,
  team_id: text,
  host: text,
  description: nullable,
  disabled_reason: z.enum(['gone', 'failing']),
});

/** Where the record of an event's family stands in its payload, and what it is to a receiver. The payload of one about a run says it itself. */
export const ENTITIES: Readonly<Record<string, { type: string; record: string; id: string; schema: z.ZodObject }>> = {
  task: { type: 'task', record: 'task', id: 'task_id', schema: Task },
  comment: { type: 'comment', record: 'comment', id: 'comment_id', schema: Comment },
  project: { type: 'project', record: 'project', id: 'project_id', schema: Project },
  cycle: { type: 'cycle', record: 'cycle', id: 'cycle_id', schema: Cycle },
  note: { type: 'note', record: 'note', id: 'note_id', schema: Note },
  team: { type: 'user', record: 'member', id: 'user_id', schema: Member },
  runner: { type: 'runner_job', record: 'job', id: 'job_id', schema: RunnerJob },
  bulk: { type: 'bulk_job', record: 'job', id: 'job_id', schema: BulkJob },
  agent: { type: 'agent_plan', record: 'plan', id: 'action_id', schema: Plan },
  webhook: { type: 'webhook', record: 'webhook', id: 'webhook_id', schema: z.looseObject({ webhook_id: text }) },
};

export const PERSON = '0197a000-0000-7000-8000-000000000005';
export const TEAM = '0197a000-0000-7000-8000-000000000003';
export const CASCADE = '0197a000-0000-7000-8000-000000000014';

export const TASK = {
  task_id: '0197a000-0000-7000-8000-000000000001',
  title: 'Sign-in fails on Safari',
  project_id: '0197a000-0000-7000-8000-000000000002',
  team_id: TEAM,
  description: null,
  assigned_to: null,
  status: 'todo',
  priority: 'high',
  due_date: '2026-12-01',
  tags: ['bug'],
  version: 1,
};
export const PROJECT = { project_id: TASK.project_id, name: 'Apollo', team_id: TEAM, status: 'active' };

/** Example of a change of one field. */
export const changed = (field: string, from: unknown, to: unknown) => ({ changes: { [field]: { from, to } } });
