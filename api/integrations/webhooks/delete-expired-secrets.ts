import { defineStatement, run } from '../../../db/statement.js';
import type { Services } from '../../platform/context.js';

const statement = defineStatement({
  name: 'delete_expired_webhook_secrets',
  text: /* sql */ `
    update webhooks set previous_data_key = null, previous_sealed_value = null, previous_until = null
    where previous_until < now() returning webhook_id`,
});

/** Deletes secrets that a rotation replaced and that no longer sign. Returns their number. */
export const deleteExpiredSecrets = async ({ db }: Pick<Services, 'db'>): Promise<number> =>
  (await run(db, statement, [])).length;
