import type { IncomingMessage } from 'node:http';
import type { Logger } from '../core/telemetry/log.js';

/** What the Koa layer knows of a request, and nothing more. */
export interface Incoming {
  request: IncomingMessage;
  params: Record<string, string>;
  query: Record<string, string | string[] | undefined>;
  requestId: string;
  /** Its lines carry the request's id. */
  log: Logger;
  ip: string | null;
}

/** What it sends back. */
export interface Outgoing {
  status: number;
  /** A value to serialise, or JSON already written. */
  body: unknown;
  headers: Record<string, string>;
}
