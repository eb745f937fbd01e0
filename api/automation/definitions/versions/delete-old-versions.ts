import type { Knex } from 'knex';
import { Automation } from '../../../../db/models/automation/automation.js';
import { run } from '../../../../db/statement.js';
import type { Services } from '../../../platform/context.js';
import { deleteOldVersionsStatement } from './delete-old-versions.sql.js';

/**
 * Deletes an automation's versions beyond its budgets, in the transaction that has locked the automation
 * (docs/decisions/automation.md#versions-of-automations). `only`: versions to look at; null looks at all.
 */
export async function deleteOldVersions(
  { db, config }: Pick<Services, 'db' | 'config'>,
  automationId: string,
  only: readonly number[] | null = null,
): Promise<void> {
  await run(db, deleteOldVersionsStatement, [automationId, config.AUTOMATION_VERSIONS, config.AUTOMATION_VERSIONS_BYTES, only]);
}

/** Versions of an automation that deleted runs referred to. */
export interface ReleasedVersions extends Record<string, unknown> {
  automation_id: string;
  versions: number[];
}

/** Deletes released versions that are beyond their automation's budgets, each automation in its own transaction. */
export async function deleteReleasedVersions(
  { db, config }: Pick<Services, 'db' | 'config'>,
  released: readonly ReleasedVersions[],
): Promise<void> {
  for (const { automation_id, versions } of released) {
    await db.transaction(async (trx: Knex) => {
      await Automation.query(trx).findById(automation_id).forNoKeyUpdate();
      await deleteOldVersions({ db: trx, config }, automation_id, versions);
    });
  }
}
