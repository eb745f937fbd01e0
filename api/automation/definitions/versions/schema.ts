import { z } from 'zod';
import { Id, Timestamp } from '../../../platform/fields.js';
import { AutomationRecord, StoredAction } from '../schema.js';

const Version = z.int().min(1).max(2_147_483_647);

/** A version that is not a number does not exist: 404. */
export const VersionParams = z.object({
  automation_id: Id,
  version: z.string().transform((text) => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : 0)),
});

export const RollBack = z
  .object({
    version: Version.meta({ description: 'The version to restore' }),
    force: z.boolean().nullish().meta({ description: 'Restore although the version refers to deleted secrets' }),
  })
  .meta({ id: 'RollBack' });
export type RollBack = z.output<typeof RollBack>;

export const VersionRecord = z
  .object({
    version: z.int(),
    automation_id: z.string(),
    name: z.string(),
    trigger_type: z.string(),
    condition: z.string().nullable(),
    actions: z.array(StoredAction),
    schedule_cron: z.string().nullable(),
    schedule_timezone: z.string(),
    changed_by: z.string(),
    changed_at: Timestamp,
    change_note: z.string().nullable(),
    restored_from: z.int().nullable(),
    is_current: z.boolean(),
  })
  .meta({ id: 'AutomationVersion' });
export type VersionRecord = z.output<typeof VersionRecord>;

export const RolledBack = z
  .object({
    automation: AutomationRecord,
    version: z.int().meta({ description: 'The new version' }),
    restored_from: z.int(),
    missing_secrets: z.array(z.string()),
  })
  .meta({ id: 'RolledBack' });
export type RolledBack = z.output<typeof RolledBack>;
