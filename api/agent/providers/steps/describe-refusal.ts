import type { DomainError } from '../../../platform/errors.js';

const MAX_FIELDS = 5;
const MAX_LENGTH = 500;

/** Returns in one line why a proposal was refused: our message, and the fields that are wrong. */
export function toRefusal({ message, detail }: DomainError): string {
  const fields = typeof detail === 'string' ? [] : detail.errors.slice(0, MAX_FIELDS);
  const reasons = fields.map(({ field, message: reason }) => `${field}: ${reason}`);
  return [message, ...reasons].join('; ').slice(0, MAX_LENGTH).toWellFormed();
}
