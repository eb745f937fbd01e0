import { type Services, serviceContext } from '../core/context.js';
import { purgeBefore } from './purge-before.js';

/**
 * Removes for good what has been in the trash for longer than it is kept; may be run at any time. Returns the number of items.
 * Source: contract, section 8; decision C8.
 */
export async function purgeExpired(services: Services): Promise<number> {
  const { rows } = await services.db.raw<{ rows: [{ until: string }] }>(
    'select (now() - make_interval(days => ?))::text as until',
    [services.config.TRASH_RETENTION_DAYS],
  );
  return purgeBefore(serviceContext(services, 'trash'), {
    teamId: null,
    until: rows[0].until,
    cause: 'retention',
    allow: async () => undefined,
  });
}
