import ipaddr from 'ipaddr.js';
import type { ClaimedOperation } from '../../gate/requests/content.js';
import { readPrepared } from '../../gate/requests/create/compose-request.js';
import type { Context } from '../../platform/context.js';
import { invalid } from '../../platform/errors.js';
import { OutboundFailure } from '../../platform/http-client/failure.js';
import { outboundPolicy } from '../../platform/http-client/policy.js';
import { parseDestination, TRANSPORT_HEADERS } from '../../platform/http-client/send-request.js';
import { LITERAL_ORIGIN } from '../actions/literal-origin.js';
import { checkTemplates, findPaths, findSecretHandles } from '../language/template.js';
import { missingSecrets } from '../secrets/vault.js';
import type { HttpCall } from './schema.js';

/** What an approver may edit of such a request: never where it goes. */
export const EDITABLE = ['/operations/0/arguments/headers', '/operations/0/arguments/body'];

/** Headers by which the receiver recognizes the request and its approval. */
export const OWN_HEADERS = /^(?:assent-receipt|idempotency-key)$/i;

/** An IPv4 address inside an IPv6 one goes where the IPv4 address goes. */
function unwrapAddress(hostname: string): string {
  const address = hostname.replace(/^\[(.*)\]$/, '$1');
  return hostname !== address && ipaddr.process(address).kind() === 'ipv4' ? ipaddr.process(address).toString() : hostname;
}

/**
 * Returns the host as rules name it: in lower case, without the dot of the root, with the port if it is not the scheme's own. Other spellings reach the
 * same server.
 * @throws INVALID_REQUEST an empty label
 */
function nameHost({ hostname, port }: URL): string {
  const name = unwrapAddress(hostname).replace(/\.$/, '');
  if (name.split('.').includes('')) throw invalid('The host of the address has an empty label');
  return port === '' ? name : `${name}:${port}`;
}

/** Returns the path as rules name it: without escapes of characters that need none (RFC 3986, 6.2.2), and with the names of secrets as written. */
const namePath = ({ pathname }: URL): string =>
  pathname.replace(/%[0-9a-f]{2}/gi, (escape) => {
    const character = String.fromCharCode(Number.parseInt(escape.slice(1), 16));
    return /[\w.~{}-]/.test(character) ? character : escape.toUpperCase();
  });

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
 * @throws INVALID_REQUEST the address, a template, a header that Assent sets itself, `secret_unknown`, invisible characters or more than 64 kB
 */
export async function buildHttpOperation(ctx: Context, teamId: string, call: HttpCall): Promise<ClaimedOperation> {
  const { method, url, headers = {}, body, summary, risk, reversible } = call;
  const given = { url, headers, ...(body !== undefined && { body }) };
  const templates = checkTemplates(given);
  if (!templates.ok) throw invalid(`${templates.path}: ${templates.message}`);
  if (findPaths(given).length > 0) throw invalid('Only {{secret:NAME}} may stand in double braces: there is no event here');
  const [unknown] = await missingSecrets(ctx, teamId, findSecretHandles(given));
  if (unknown !== undefined) throw invalid(`The team has no secret ${unknown}`, { extra: { reason: 'secret_unknown' } });
  const own = Object.keys(headers).find((name) => OWN_HEADERS.test(name) || TRANSPORT_HEADERS.test(name));
  if (own !== undefined) throw invalid(`Assent sets the header ${own} itself`);
  const address = parseUrl(ctx, url);
  const host = nameHost(address);
  return readPrepared({
    system: `http.${host}`,
    name: method,
    target: `${address.protocol}//${host}${namePath(address)}`,
    arguments: given,
    ...(summary !== undefined && { summary }),
    ...(risk && { risk }),
    ...(reversible !== undefined && { reversible }),
  });
}
