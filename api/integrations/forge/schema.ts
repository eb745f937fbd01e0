import { z } from 'zod';
import { ClampedInt, Id, TaskId, Timestamp } from '../../platform/fields.js';
import { byOffset } from '../../platform/endpoint/pages.js';
import { FORGE_EVENTS } from '../../platform/events/catalogue/forge.js';

/** `owner/name`, stored in lower case: code hosts ignore the case. */
const Repo = z
  .string()
  .trim()
  .toLowerCase()
  .max(200)
  .regex(/^(?!\.{1,2}\/)[A-Za-z0-9_.-]+\/(?!\.{1,2}$)[A-Za-z0-9_.-]+$/, 'must be owner/name')
  .meta({ example: 'acme/rocket' });

const ForgeEvent = z.enum(FORGE_EVENTS);

/** Response to a signed delivery: a ping, or the event it maps to. */
export const Accepted = z
  .union([
    z.object({ received: z.literal(true), ping: z.literal(true) }),
    z.object({ received: z.literal(true), event: ForgeEvent.nullable(), duplicate: z.boolean() }),
  ])
  .meta({ id: 'ForgeDeliveryAccepted' });

export const WebhookStatus = z
  .object({
    signing_secret_configured: z.boolean(),
    received_total: z.int().meta({
      description: 'Every delivery with a valid signature, including pings, duplicates, unsupported events and invalid JSON',
    }),
    last_received_at: Timestamp.nullable(),
    last_signature_failure_at: Timestamp.nullable(),
    signature_failures_total: z.int(),
    duplicates_total: z.int(),
    ignored_total: z.int().meta({ description: 'Accepted and ignored: unsupported events' }),
    last_event: z.string().nullable().meta({ description: 'Event header of the last delivery' }),
  })
  .meta({ id: 'ForgeWebhookStatus' });
export type WebhookStatus = z.output<typeof WebhookStatus>;

export const ListDeliveries = z.object({
  team_id: Id,
  ...byOffset(),
});
export type ListDeliveries = z.output<typeof ListDeliveries>;

export const ForgeDelivery = z
  .object({
    delivery_id: z.string(),
    event: z.string().nullable(),
    normalized: z.string().nullable(),
    repo: z.string().nullable(),
    received_at: Timestamp,
    outcome: z
      .enum(['applied', 'ignored', 'duplicate', 'failed', 'refused'])
      .nullable()
      .meta({ description: 'null until the delivery is applied; `refused` only at the address of a binding' }),
    reason: z.string().nullable(),
    armed_runs: z.array(z.string()).meta({ description: 'Runs of the team’s automations that it started' }),
  })
  .meta({ id: 'ForgeDelivery' });
export type ForgeDelivery = z.output<typeof ForgeDelivery>;

export const ListRepositories = z.object({ team_id: Id, ...byOffset(ClampedInt(1, 500, 500)) });
export type ListRepositories = z.output<typeof ListRepositories>;

export const BindRepository = z
  .object({
    repo: Repo,
    team_id: Id,
    project_id: Id.nullish(),
    sync_issues: z.boolean().default(false).meta({ description: 'Issues become tasks of the project and follow their state' }),
  })
  .refine(({ sync_issues, project_id }) => !sync_issues || project_id != null, {
    path: ['project_id'],
    message: 'Issue sync requires project_id',
  })
  .meta({ id: 'BindRepository' });
export type BindRepository = z.output<typeof BindRepository>;

export const RepositoryBinding = z
  .object({
    binding_id: z.string(),
    repo: z.string(),
    team_id: z.string(),
    project_id: z.string().nullable(),
    sync_issues: z.boolean(),
    created_by: z.string(),
    created_at: Timestamp,
  })
  .meta({ id: 'RepositoryBinding' });
export type RepositoryBinding = z.output<typeof RepositoryBinding>;

export const BindingParams = z.object({ binding_id: Id });
export const UnboundRepository = z.object({ success: z.literal(true), binding_id: z.string() }).meta({ id: 'UnboundRepository' });

export const LinkParams = z.object({ task_id: TaskId });
export const LinkIssue = z.object({ repo: Repo, issue_number: z.int().min(1).max(2_147_483_647) }).meta({ id: 'LinkIssue' });
export type LinkIssue = z.output<typeof LinkIssue>;

export const ForgeLink = z
  .object({
    task_id: z.string(),
    repo: z.string(),
    number: z.int(),
    kind: z.enum(['issue', 'pull_request']),
    url: z.string().nullable(),
  })
  .meta({ id: 'ForgeLink' });
export type ForgeLink = z.output<typeof ForgeLink>;
