/** Shapes and samples that the events of several families share. */
import { z } from 'zod';
import type { Payload } from '../declare.js';

/** Changed fields; long texts by their sizes. */
export const Changes = z.record(
  z.string(),
  z.union([z.object({ from_bytes: z.int(), to_bytes: z.int() }), z.object({ from: z.unknown(), to: z.unknown() })]),
);

const text = z.string();
const nullable = z.string().nullable();

export const Task = z.looseObject({ task_id: text, title: text, project_id: text, team_id: text, status: text });
/** The custom field that an event is about; its value before and after is in `changes`: as data (`value`) and in words (`text`). */
export const Field = z.looseObject({ field_id: text, key: text, name: text, type: text });
export const Project = z.looseObject({ project_id: text, name: text, team_id: text, status: text });
export const ProjectUpdate = z.looseObject({ update_id: text, project_id: text, health: text, content: text });
export const Comment = z.looseObject({ comment_id: text, task_id: text, content: text });
export const Note = z.looseObject({ note_id: text, title: text, team_id: text, kind: text });
export const Relation = z.looseObject({ relation_id: text, source_id: text, target_id: text, relation_type: text });
export const Cycle = z.looseObject({ cycle_id: text, name: text, team_id: text, number: z.int(), status: text });
export const Plan = z.looseObject({ action_id: text, session_id: text, source: text, risk: text });
export const Request = z.looseObject({ request_id: text, team_id: text, title: text, status: text, systems: z.array(text) });
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
  project_update: { type: 'project_update', record: 'update', id: 'update_id', schema: ProjectUpdate },
  project: { type: 'project', record: 'project', id: 'project_id', schema: Project },
  cycle: { type: 'cycle', record: 'cycle', id: 'cycle_id', schema: Cycle },
  note: { type: 'note', record: 'note', id: 'note_id', schema: Note },
  team: { type: 'user', record: 'member', id: 'user_id', schema: Member },
  runner: { type: 'runner_job', record: 'job', id: 'job_id', schema: RunnerJob },
  bulk: { type: 'bulk_job', record: 'job', id: 'job_id', schema: BulkJob },
  request: { type: 'change_request', record: 'request', id: 'request_id', schema: Request },
  agent: { type: 'agent_plan', record: 'plan', id: 'action_id', schema: Plan },
  webhook: { type: 'webhook', record: 'webhook', id: 'webhook_id', schema: z.looseObject({ webhook_id: text }) },
};

export const PERSON = '0197a000-0000-7000-8000-000000000005';
export const TEAM = '0197a000-0000-7000-8000-000000000003';
/** A stage in the examples; its name there is `STAGE_NAME`. */
export const STAGE = '0197a000-0000-7000-8000-000000000015';
export const STAGE_NAME = 'In QA';
export const CASCADE = '0197a000-0000-7000-8000-000000000014';

export const TASK = {
  task_id: '0197a000-0000-7000-8000-000000000001',
  title: 'Sign-in fails on Safari',
  project_id: '0197a000-0000-7000-8000-000000000002',
  team_id: TEAM,
  description: null,
  assigned_to: null,
  status: 'todo',
  resolution: null,
  priority: 'high',
  due_date: '2026-12-01',
  tags: ['bug'],
  version: 1,
  number: 12,
  estimate: 3,
  stage_id: null as string | null,
};
export const FIELD = { field_id: '0197a000-0000-7000-8000-000000000016', key: 'severity', name: 'Severity', type: 'select' };
export const PROJECT = { project_id: TASK.project_id, name: 'Apollo', team_id: TEAM, status: 'active' };

const run = { run_id: text, automation_id: text, automation_name: text };
/** The payload of an event about a run; `object`: what a receiver can rely on. */
export const aboutRun = (object: z.ZodRawShape = {}) => ({
  entity_type: z.literal('automation_run'),
  entity_id: text,
  changes: Changes,
  object: z.looseObject({ ...run, ...object }),
});

export const RUN = '0197a000-0000-7000-8000-000000000010';
/** Example of such a payload. */
export const runSample = (object: object) => ({
  project_id: null,
  actor_id: null,
  entity_type: 'automation_run',
  entity_id: RUN,
  changes: {},
  object: {
    run_id: RUN,
    automation_id: '0197a000-0000-7000-8000-000000000011',
    automation_name: 'Ask before a release',
    ...object,
  },
});

/** Example of a change of one field. */
export const changed = (field: string, from: unknown, to: unknown) => ({ changes: { [field]: { from, to } } });

/** Returns `to` of one changed field; undefined if the field did not change. */
export function changedTo(payload: Payload, field: string): unknown {
  const changes = payload['changes'];
  if (typeof changes !== 'object' || changes === null || !Object.hasOwn(changes, field)) return undefined;
  const change = (changes as Record<string, unknown>)[field];
  return typeof change === 'object' && change !== null ? ((change as Record<string, unknown>)['to'] ?? null) : undefined;
}
