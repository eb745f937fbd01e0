import type { ClaimedOperation } from '../../gate/requests/content.js';
import { readPrepared } from '../../gate/requests/create/compose-request.js';
import type { Context } from '../../platform/context.js';
import { invalid } from '../../platform/errors.js';
import { OutboundFailure } from '../../platform/http-client/failure.js';
import { outboundPolicy } from '../../platform/http-client/policy.js';
import { parseDestination } from '../../platform/http-client/send-request.js';
import { LITERAL_ORIGIN } from '../actions/literal-origin.js';
import { checkTemplates, findEventPaths, findSecretHandles } from '../language/template.js';
import { missingSecrets } from '../secrets/vault.js';
import type { HttpCall } from './schema.js';

/** What an approver may edit of such a request: never where it goes. */
export const EDITABLE = ['/operations/0/arguments/headers', '/operations/0/arguments/body'];

/** Returns where a request goes, as rules name it: the host in lower case, with the port if it is not the scheme's own. */
const systemOf = ({ host }: URL): string => `http.${host}`;

/** @throws INVALID_REQUEST an address that no request may go to, with the outbound policy's reason */
function parseUrl(ctx: Context, text: string): URL {
  if (!LITERAL_ORIGIN.test(text)) throw invalid('The scheme and the host of the address must be literal');
  try {
    return parseDestination(outboundPolicy(ctx.config), text);
  } catch (error) {
    if (error instanceof OutboundFailure) throw invalid(error.message, { extra: { reason: error.reason } });
    throw error;
  }
}

/**
 * Returns the operation of an HTTP request that Assent sends: its system follows from the address, so that no name dodges a rule. Secrets stay
 * `{{secret:NAME}}`.
 * @throws INVALID_REQUEST the address, a template, `secret_unknown`, invisible characters or more than 64 kB
 */
export async function buildHttpOperation(ctx: Context, teamId: string, call: HttpCall): Promise<ClaimedOperation> {
  const { method, url, headers = {}, body, summary, risk, reversible } = call;
  const given = { url, headers, ...(body !== undefined && { body }) };
  const templates = checkTemplates(given);
  if (!templates.ok) throw invalid(`${templates.path}: ${templates.message}`);
  if (findEventPaths(given).length > 0) throw invalid('Only {{secret:NAME}} may stand in double braces: there is no event here');
  const [unknown] = await missingSecrets(ctx, teamId, findSecretHandles(given));
  if (unknown !== undefined) throw invalid(`The team has no secret ${unknown}`, { extra: { reason: 'secret_unknown' } });
  return readPrepared({
    system: systemOf(parseUrl(ctx, url)),
    name: method,
    target: url.replace(/[?#].*$/su, ''),
    arguments: given,
    ...(summary !== undefined && { summary }),
    ...(risk && { risk }),
    ...(reversible !== undefined && { reversible }),
  });
}
