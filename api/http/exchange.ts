import type { IncomingMessage } from 'node:http';
import type { Logger } from '../platform/telemetry/log.js';

/** A request as plain values, independent of Koa. */
export interface Incoming {
  request: IncomingMessage;
  params: Record<string, string>;
  query: Record<string, string | string[] | undefined>;
  requestId: string;
  /** Its lines carry the request's id. */
  log: Logger;
  ip: string | null;
}

/** A response as plain values. */
export interface Outgoing {
  status: number;
  /** A value to serialize, or serialized JSON. */
  body: unknown;
  headers: Record<string, string>;
}
