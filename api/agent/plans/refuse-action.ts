import { fromDatabaseError } from '../../platform/database/database-errors.js';
import { DomainError } from '../../platform/errors.js';

/**
 * Rethrows what an action of a plan threw, with the index of the action.
 * @throws DomainError with `action_index`; faults as they are
 */
export function refuseAction(thrown: unknown, action_index: number): never {
  const error = thrown instanceof DomainError ? thrown : fromDatabaseError(thrown);
  if (!error || error.status >= 500) throw thrown;
  const { code, message, detail, status, headers, extra } = error;
  throw new DomainError(code, message, { detail, status, headers, extra: { ...extra, action_index }, cause: thrown });
}
