import { z } from 'zod';
import { Changes } from '../../core/events/event-types.js';
import type { WebhookEvent } from './names.js';

const text = z.string();
const nullable = z.string().nullable();
const time = z.string().meta({ format: 'date-time' });

/** Fields of `object` that a receiver can rely on, by family of events; the record has more. */
const OBJECTS: Readonly<Record<string, z.ZodObject>> = {
  task: z.looseObject({ task_id: text, title: text, project_id: text, team_id: text, status: text }),
  comment: z.looseObject({ comment_id: text, task_id: text, content: text }),
  project: z.looseObject({ project_id: text, name: text, team_id: text, status: text }),
  note: z.looseObject({ note_id: text, title: text, team_id: text, kind: text }),
  cycle: z.looseObject({ cycle_id: text, name: text, team_id: text, status: text }),
  team: z.looseObject({ user_id: text, role: text }),
  runner: z.looseObject({ job_id: text, team_id: text, status: text, labels: z.array(text) }),
  bulk: z.looseObject({ job_id: text, team_id: text, kind: z.enum(['export', 'import']), status: text, error_code: nullable }),
  automation: z.looseObject({ run_id: text, automation_id: text, automation_name: text }),
  agent: z.looseObject({ action_id: text, session_id: text, source: text, risk: text }),
  webhook: z.looseObject({ webhook_id: text }),
};

const aboutRun = { run_id: text, automation_id: text, automation_name: text, gate_index: z.int() };

/** The same for single events. */
const OWN_OBJECTS: Partial<Record<WebhookEvent, z.ZodObject>> = {
  'approval.requested': z.looseObject({
    ...aboutRun,
    message: nullable.meta({ description: 'What the gate asks' }),
    required_role: text.meta({ description: 'Role from which on members may decide' }),
    required_approvals: z.int(),
    expires_at: time,
    url: z.url().meta({ description: 'Page of the run, for a button. It asks to sign in: the link itself grants nothing' }),
  }),
  'approval.decided': z.looseObject({ ...aboutRun, decision: z.enum(['approved', 'rejected']) }),
  'approval.expired': z.looseObject({ ...aboutRun, required_role: text, expires_at: time }),
  'webhook.disabled': z.looseObject({
    webhook_id: text,
    team_id: text,
    host: text,
    description: nullable,
    disabled_reason: z.enum(['gone', 'failing']),
  }),
};

const ChangedFields = Changes.meta({
  description: 'Changed fields, each {from, to}; free fields by their sizes. Long values are null in a thin event',
});

/** Returns the schema of an event's body. */
export function schemaOf(name: WebhookEvent): z.ZodObject {
  const object = OWN_OBJECTS[name] ?? OBJECTS[name.split('.', 1)[0] as string] ?? z.looseObject({});
  return z.looseObject({
    type: z.literal(name),
    timestamp: z.string().meta({ format: 'date-time', description: 'Time of the change' }),
    data: z.looseObject({
      event_id: text.meta({ description: 'Also the header `webhook-id`; the same at every attempt and in a replay' }),
      team_id: text,
      project_id: nullable,
      actor_id: nullable.meta({ description: 'User who caused it; null for the service itself' }),
      entity_type: text,
      entity_id: nullable,
      cascade_id: text.optional().meta({ description: 'Of a deletion or restoration: the same for everything that it moved' }),
      changes: ChangedFields,
      object: object
        .optional()
        .meta({ description: 'The record after the change, with more fields than are listed here; absent from a thin event' }),
      thin: z.literal(true).optional().meta({ description: 'The body would exceed 20 kB: read the record instead' }),
    }),
  });
}
