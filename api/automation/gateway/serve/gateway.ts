import type { Context } from '../../../platform/context.js';
import type { ToolRow, UpstreamRow } from '../upstreams/read-upstreams.js';

/** A token that talks to a server through the gateway. */
export interface Gateway {
  ctx: Context;
  upstream: UpstreamRow;
  tokenId: string;
  /** Calls the listener when the client closes its connection; returns how to stop listening. */
  onHangUp: (listener: () => void) => () => void;
}

/** A call of a tool by a token. */
export interface GatewayCall extends Gateway {
  tool: ToolRow;
  given: Record<string, unknown>;
}
