import { raw } from 'objection';
import { Webhook } from '../../db/models/webhook.js';
import type { Services } from '../core/context.js';

/** Deletes secrets that a rotation replaced and that no longer sign. Returns their number. */
export const deleteExpiredSecrets = async ({ db }: Pick<Services, 'db'>): Promise<number> =>
  await Webhook.query(db)
    .where('previous_until', '<', raw('now()'))
    .patch({ previous_data_key: null, previous_sealed_value: null, previous_until: null });
