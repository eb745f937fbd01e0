import { defineStatement, run } from '../../../../db/statement.js';
import type { Services } from '../../../platform/context.js';

const statement = defineStatement({
  name: 'delete_expired_forge_secrets',
  text: /* sql */ `
    update forge_addresses set previous_data_key = null, previous_sealed_value = null, previous_until = null, previous_held_by = '{}'
    where previous_until < now() returning binding_id`,
});

/** Deletes secrets of addresses that a rotation replaced and that no longer count. Returns their number. */
export const deleteExpiredForgeSecrets = async ({ db }: Pick<Services, 'db'>): Promise<number> =>
  (await run(db, statement, [])).length;
