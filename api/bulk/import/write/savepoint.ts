import type { Context } from '../../../platform/context.js';
import { fromDatabaseError } from '../../../platform/database/database-errors.js';
import { DomainError } from '../../../platform/errors.js';
import { newId } from '../../../platform/ids.js';

/** Why a record was refused, as a sentence. */
export class Refusal {
  constructor(readonly message: string) {}
}

const MAX_LENGTH = 300;

/** Names what a client could change; the fields of a 422 with their reasons. */
function joinMessage({ message, detail }: DomainError): string {
  const text = typeof detail === 'string' ? message : detail.errors.map((error) => error.message).join('; ');
  return text.slice(0, MAX_LENGTH);
}

/** Returns the refusal that an error is; undefined for one that says nothing about the record, such as a lost connection. */
export function toRefusal(error: unknown): Refusal | undefined {
  const known = error instanceof DomainError ? error : fromDatabaseError(error);
  return known && known.status < 500 ? new Refusal(joinMessage(known)) : undefined;
}

/**
 * Does the work of one record inside of the chunk's transaction: if it is refused, what it wrote is undone, and the others stay.
 * @throws every error that is no refusal
 */
export async function withSavepoint<T>(ctx: Context, work: (ctx: Context) => Promise<T>): Promise<T | Refusal> {
  try {
    return await ctx.db.transaction((db) => work({ ...ctx, db, requestId: newId() }));
  } catch (error) {
    const refusal = toRefusal(error);
    if (refusal) return refusal;
    throw error;
  }
}
