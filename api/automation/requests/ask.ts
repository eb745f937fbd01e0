import { type Prepared, createRequest } from '../../gate/requests/create/create-request.js';
import { readOperations } from '../../gate/requests/create/compose-request.js';
import type { ChangeRequest } from '../../gate/requests/schema.js';
import { authorize } from '../../platform/access/access.js';
import { seatInTeam } from '../../platform/access/seats.js';
import type { Context } from '../../platform/context.js';
import { invalid } from '../../platform/errors.js';
import { buildHttpOperation, EDITABLE } from './http-operation.js';
import type { CreateRequest } from './schema.js';

const isEditable = (pointer: string): boolean => EDITABLE.some((one) => pointer === one || pointer.startsWith(`${one}/`));

/** @throws INVALID_REQUEST `not_editable`: a pointer to where the request goes, which its system and the rules follow from */
function checkEditable(editable: readonly string[]): void {
  const refused = editable.find((pointer) => !isEditable(pointer));
  if (refused === undefined) return;
  throw invalid('Only headers and body of a request that Assent sends may be edited', {
    extra: { reason: 'not_editable', path: refused },
  });
}

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
  checkEditable(input.editable);
  const built = await buildHttpOperation(ctx, input.team_id, http);
  const editable = input.editable.length > 0 ? input.editable : EDITABLE;
  return createRequest(ctx, { ...input, editable }, { operations: [built], executor: 'assent' });
}
