import { z } from 'zod';
import { AUDIT_ACTIONS, type AuditAction } from '../../platform/changes/audit-actions.js';
import { FEATURES, type Feature, SEVERITIES, type Severity } from '../../platform/changes/change-kinds.js';
import { ClampedInt, Id, StrictInt, Text, Timestamp } from '../../platform/fields.js';
import { pagedBy } from '../../platform/endpoint/pages.js';

/** Longer than every stored time, so cutting a bound there changes no comparison. */
const MAX_BOUND = 64;

/** A word of a vocabulary. Any other value is dropped, which widens the query. */
const Word = <T extends string>(words: readonly T[]) =>
  z
    .string()
    .transform((value) => words.find((word) => word === value))
    .optional()
    .meta({
      override: { anyOf: [{ type: 'string', enum: [...words] }, { type: 'string' }], description: 'An unknown value is dropped' },
    });

/**
 * A bound of the time, which is compared as text and never validated. PostgreSQL stores no NUL and no lone surrogates, and no stored time has
 * one: what follows a NUL decides nothing.
 */
const Bound = z
  .string()
  .transform((value) => value.slice(0, MAX_BOUND).replace(/\0.*$/s, '').toWellFormed())
  .optional()
  .meta({
    override: {
      type: 'string',
      description: 'Inclusive. Compared as text with the naive UTC `timestamp`: send it without `Z` or offset',
      example: '2026-11-20T17:51:02.123456',
    },
  });

const filters = {
  user_id: Id.optional().meta({ description: 'Only entries by this actor' }),
  feature: Word<Feature>(FEATURES),
  action: Word<AuditAction>(AUDIT_ACTIONS),
  severity: Word<Severity>(SEVERITIES),
  from_time: Bound,
  to_time: Bound,
  ip_address: Text.max(64).optional(),
  entity_type: Text.max(100).optional().meta({ example: 'task' }),
  entity_id: Text.max(512).optional(),
  correlation_id: Id.optional(),
};

/** Any number of digits, without a default: which of the parameters are given decides. */
const Digits = (min: number) =>
  z
    .string()
    .regex(/^[0-9]+$/, `must be a whole number, ${min} or more`)
    .transform((digits) => Math.min(Number(digits), Number.MAX_SAFE_INTEGER))
    .pipe(z.number().min(min))
    .optional();
const integer = (minimum: number, description: string) => ({ override: { type: 'integer' as const, minimum, description } });

export const ListEntries = z.object({
  team_id: Id.optional().meta({ description: 'Only this team' }),
  ...filters,
  limit: pagedBy(ClampedInt(1, 500, 50), { aliases: ['skip', 'page'] }),
  offset: Digits(0).meta(integer(0, 'Rows to skip; precedes `skip` and `page`')),
  skip: Digits(0).meta(integer(0, 'Old name of `offset`')),
  page: Digits(1).meta(integer(1, 'Page number; ignored with `offset` or `skip`')),
});
export type ListEntries = z.output<typeof ListEntries>;

export const EntryParams = z.object({ audit_id: Id });
export const CorrelationParams = z.object({ correlation_id: Id });

export const ExportEntries = z.object({
  format: z.enum(['json', 'csv']).meta({ description: 'Recorded and returned only: `data` is the same for both' }),
  team_id: Id.optional(),
  ...filters,
});
export type ExportEntries = z.output<typeof ExportEntries>;

export const ReadStats = z.object({ team_id: Id.optional(), days: StrictInt(1, 365, 30) });
export type ReadStats = z.output<typeof ReadStats>;

const Sha256 = z.string().meta({ description: 'SHA-256, hexadecimal' });

export const AuditEntry = z
  .object({
    audit_id: z.string(),
    sequence: z.int().meta({ description: 'Position in the chain of the team, from 1 without gaps' }),
    correlation_id: z.string(),
    timestamp: z.string().meta({ description: 'Naive UTC with six digits', example: '2026-11-20T17:51:02.123456' }),
    team_id: z.string(),
    user_id: z.string().nullable(),
    user_email: z.string().nullable(),
    actor_type: z.enum(['user', 'pat', 'automation', 'agent', 'system']),
    impersonator_id: z.string().nullable(),
    token_id: z.string().nullable(),
    ip_address: z.string().nullable(),
    user_agent: z.string().nullable(),
    feature: z.string(),
    action: z.string(),
    severity: z.enum(SEVERITIES),
    outcome: z.enum(['success', 'failure', 'denied']),
    entity_type: z.string(),
    entity_id: z.string().nullable(),
    details: z.unknown(),
    details_text: z.string().meta({ description: 'The stored text of `details`, which the chain hashes' }),
    prev_hash: Sha256,
    entry_hash: Sha256,
  })
  .meta({ id: 'AuditEntry' });

export const AuditPage = z
  .object({
    entries: z.array(AuditEntry),
    total: z.int().meta({ description: 'Exact up to 10000' }),
    total_capped: z.literal(true).optional().meta({ description: 'There are more than `total`' }),
    count: z.int().meta({ description: 'Number of `entries`' }),
    limit: z.int(),
    offset: z.int(),
    skip: z.int().meta({ description: 'Rows skipped' }),
    has_more: z.boolean(),
  })
  .meta({ id: 'AuditPage' });

export const AuditTrail = z
  .object({ correlation_id: z.string(), count: z.int(), entries: z.array(AuditEntry) })
  .meta({ id: 'AuditTrail' });

export const AuditExport = z
  .object({
    format: z.enum(['json', 'csv']),
    record_count: z.int().meta({ description: '10000 means that the export was cut' }),
    exported_at: Timestamp,
    audit_id: z.string().meta({ description: 'Entry that records this export' }),
    filters: z.record(z.string(), z.string()).meta({ description: 'Filters that were applied, without unknown words' }),
    chain: z
      .array(
        z.object({
          team_id: z.string(),
          first_sequence: z.int().nullable().meta({ description: 'Lowest sequence among the exported entries of the team' }),
          last_sequence: z.int().meta({ description: 'Last sequence of the chain when the export was made' }),
          head_hash: Sha256,
        }),
      )
      .meta({ description: 'State of the chain of each exported team, by `team_id`' }),
    proof: z
      .object({ key_id: z.string(), signature: z.string().meta({ description: 'Ed25519, base64' }) })
      .meta({ description: 'Signature over everything here and the hashes of the entries (docs/audit-example/README.md)' }),
    data: z.array(AuditEntry),
  })
  .meta({ id: 'AuditExport' });

const Counts = z.record(z.string(), z.int());
export const AuditStats = z
  .object({
    team_id: z.string().nullable().meta({ description: 'Null: all covered teams' }),
    days: z.int(),
    from_time: z.string(),
    to_time: z.string(),
    total: z.int(),
    by_feature: Counts,
    by_action: Counts,
    by_severity: Counts,
    by_user: z.array(z.object({ user_id: z.string(), count: z.int() })).meta({ description: 'The ten most active' }),
    by_day: z
      .array(z.object({ date: z.string(), count: z.int() }))
      .meta({ description: 'Every day of the window, oldest first' }),
  })
  .meta({ id: 'AuditStats' });
export type AuditStats = z.output<typeof AuditStats>;

export const AuditVocabulary = z
  .object({
    features: z.array(z.enum(FEATURES)),
    actions: z.array(z.enum(AUDIT_ACTIONS as [AuditAction, ...AuditAction[]])),
    severities: z.array(z.enum(SEVERITIES)),
  })
  .meta({ id: 'AuditVocabulary' });
