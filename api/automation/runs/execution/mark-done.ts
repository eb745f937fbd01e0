import type { Knex } from 'knex';
import { run } from '../../../../db/statement.js';
import type { Effect } from '../../../gate/contract/action-type.js';
import { EFFECT, effectValues, perEntity, assertSameTeam } from './effect.sql.js';
import type { RunRow } from './load-run.js';

const statements = perEntity('mark_done', (sameTeamSql) => `with ${EFFECT} select ${sameTeamSql}`);

/**
 * Marks an action as succeeded, unless it is the run's last; the run's end marks that one (end-run.ts).
 * @throws FORBIDDEN if it acted in another team
 */
export async function markDone(db: Knex, begun: RunRow, index: number, effect: Effect): Promise<void> {
  assertSameTeam(await run(db, statements[effect.entity_type], effectValues(begun, index, effect)));
}
