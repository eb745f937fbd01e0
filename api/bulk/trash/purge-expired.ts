import { type Services, serviceContext } from '../../platform/context.js';
import { purgeBefore } from './purge-before.js';

/**
 * Permanently deletes everything past the trash's retention; may run at any time. A project that cannot be deleted does not block
 * others. Returns the number of items.
 * @throws the first database error, after all others are done
 */
export async function purgeExpired(services: Services): Promise<number> {
  const errors: unknown[] = [];
  const purged = await purgeBefore(serviceContext(services, 'trash'), {
    teamId: null,
    days: services.config.TRASH_RETENTION_DAYS,
    cause: 'retention',
    allow: async () => undefined,
    onFailure: (err, place_id) => {
      errors.push(err);
      services.log.error({ err, place_id }, 'a project or the items of a team could not be purged, will be tried again');
    },
  });
  if (errors.length > 0) throw errors[0];
  return purged;
}
