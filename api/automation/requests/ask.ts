import { type Prepared, createRequest } from '../../gate/requests/create/create-request.js';
import { readOperations } from '../../gate/requests/create/compose-request.js';
import type { ChangeRequest } from '../../gate/requests/schema.js';
import { authorize } from '../../platform/access/access.js';
import { seatInTeam } from '../../platform/access/seats.js';
import type { Context } from '../../platform/context.js';
import { buildHttpOperation, EDITABLE } from './http-operation.js';
import type { CreateRequest } from './schema.js';

/**
 * Asks people for a yes to what the caller will do, or to what Assent does itself after the yes.
 * @throws the errors of `createRequest` and `buildHttpOperation`
 */
export async function askForChange(
  ctx: Context,
  { operation, operations = operation ? [operation] : [], http, ...input }: CreateRequest,
): Promise<ChangeRequest> {
  if (http === undefined) {
    const prepared: Prepared = { operations: readOperations(operations), executor: 'requester' };
    return createRequest(ctx, input, prepared);
  }
  // Before anything of the team is read: a stranger learns no name of a secret.
  authorize('request.create', await seatInTeam(ctx, input.team_id));
  const built = await buildHttpOperation(ctx, input.team_id, http);
  const editable = input.editable.length > 0 ? input.editable : EDITABLE;
  return createRequest(ctx, { ...input, editable }, { operations: [built], executor: 'assent' });
}
