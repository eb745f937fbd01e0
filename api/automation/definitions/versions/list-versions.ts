import { AutomationVersion } from '../../../../db/models/automation/automation-version.js';
import type { Context } from '../../../platform/context.js';
import { type DomainError, notFound } from '../../../platform/errors.js';
import { getAutomation } from '../get-automation.js';
import type { VersionRecord } from './schema.js';

const present = (row: AutomationVersion, current: number): VersionRecord => ({
  version: row.version,
  automation_id: row.automation_id,
  name: row.name,
  trigger_type: row.trigger_type,
  condition: row.condition,
  actions: row.actions,
  schedule_cron: row.schedule_cron,
  schedule_timezone: row.schedule_timezone,
  changed_by: row.changed_by,
  changed_at: row.changed_at.toISOString(),
  change_note: row.change_note,
  restored_from: row.restored_from,
  is_current: row.version === current,
});

/** Names the reason when the version existed: each save created one, and old ones are deleted. */
export const versionNotFound = (version: number, current: number): DomainError =>
  notFound(
    'Version',
    version > 0 && version < current
      ? {
          detail: `Version ${version} was deleted. An automation keeps its newest versions, and older ones that a run refers to.`,
        }
      : undefined,
  );

/**
 * Lists the stored versions of an automation, newest first; each save created one.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED
 */
export async function listVersions(
  ctx: Context,
  automationId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<VersionRecord[]> {
  const { version } = await getAutomation(ctx, automationId);
  const rows = await AutomationVersion.query(ctx.db)
    .where({ automation_id: automationId })
    .orderBy('version', 'desc')
    .limit(limit)
    .offset(offset);
  return rows.map((row) => present(row, version));
}

/**
 * Returns one version.
 * @throws RESOURCE_NOT_FOUND automation or version | PERMISSION_DENIED
 */
export async function getVersion(ctx: Context, automationId: string, version: number): Promise<VersionRecord> {
  const automation = await getAutomation(ctx, automationId);
  const row = await AutomationVersion.query(ctx.db).findById([automationId, version]);
  if (!row) throw versionNotFound(version, automation.version);
  return present(row, automation.version);
}
