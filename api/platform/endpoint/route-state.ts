import type { Logger } from '../telemetry/log.js';
import type { Endpoint } from './endpoint.js';

/** What Koa keeps of one request, for the API and the web app. */
export interface RouteState {
  requestId: string;
  /** Its lines carry the request's id. */
  log: Logger;
  /** Headers for the response, errors included. */
  headers: Record<string, string>;
  endpoint?: Endpoint;
  /** Method and declared path of a web page. */
  page?: string;
}
