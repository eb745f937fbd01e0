import type { OnHangUp } from '../../../gate/requests/read/request-listener.js';
import { toDomainError } from '../../../platform/database/database-errors.js';
import type { DomainError } from '../../../platform/errors.js';
import type { Context } from '../../../platform/context.js';
import type { ToolRow, UpstreamRow } from '../upstreams/read-upstreams.js';

/** A token that talks to a server through the gateway. */
export interface Gateway {
  ctx: Context;
  upstream: UpstreamRow;
  tokenId: string;
  onHangUp: OnHangUp;
}

/** A call of a tool by a token. */
export interface GatewayCall extends Gateway {
  tool: ToolRow;
  given: Record<string, unknown>;
}

/** Returns what an agent may read of an error; logs one of ours. */
export function toKnownError({ ctx }: Gateway, thrown: unknown): DomainError {
  const error = toDomainError(thrown);
  if (error.status >= 500) ctx.log.error({ err: error.cause ?? error }, 'a message to the gateway failed');
  return error;
}
