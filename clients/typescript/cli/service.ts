import { connect } from './account.js';
import type { Api } from './api.js';
import type { Given } from './args.js';
import { sendKept } from './run/outcome.js';
import type { Screen } from './terminal.js';

/**
 * Returns the service as the user of this command line, after sending it the outcomes that earlier calls could not.
 * @throws {Failure} not logged in
 */
export async function openService(given: Given, screen: Screen): Promise<Api> {
  const api = connect(given);
  for (const request_id of await sendKept(api))
    screen.say(`reported the outcome of ${request_id}, which was kept here`, { event: 'reported', request_id });
  return api;
}
