import ipaddr from 'ipaddr.js';
import { type Config, webAddress } from '../../platform/config.js';
import { invalidFields } from '../../platform/errors.js';
import { OutboundFailure } from '../../platform/http-client/failure.js';
import { isException, isReachable, type OutboundPolicy } from '../../platform/http-client/policy.js';
import { resolveBySystem, resolvePublicName } from '../../platform/http-client/resolve.js';
import { parseDestination, getPort } from '../../platform/http-client/send-request.js';

/** Where deliveries may go: https to public addresses, and what the operator opened. Checked when saved and at each connection (docs/decisions/integrations.md#webhook-addresses). */
export const webhookPolicy = ({ OUTBOUND_PORTS, WEBHOOK_ALLOWED_HOSTS, NODE_ENV }: Config): OutboundPolicy => ({
  allowLoopback: false,
  ports: OUTBOUND_PORTS,
  httpsOnly: true,
  hidesUnknownHosts: true,
  exceptions: { hosts: WEBHOOK_ALLOWED_HOSTS, thisMachine: NODE_ENV !== 'production' },
  // A name on the list may be known to this machine alone.
  resolve: (host) => (isListed(WEBHOOK_ALLOWED_HOSTS, host) ? resolveBySystem(host) : resolvePublicName(host)),
});

/** Returns whether the list names this host, with or without a port. */
const isListed = (hosts: readonly string[], host: string): boolean =>
  hosts.some((pattern) => pattern.replace(/:[0-9]+$/, '') === host.replace(/\.$/, ''));

/** Time for one look-up while saving. */
const LOOKUP_MS = 2_000;

const lookUp = async (host: string): Promise<string[]> =>
  (await resolvePublicName(host, LOOKUP_MS)).map(({ address }) => address);

const refused = (message: string) => invalidFields([{ field: 'body.url', message: `url ${message}`, type: 'custom' }]);

/** One text for an unknown host and for a private one: the difference would describe the network of the installation. */
const UNREACHABLE = 'must lead to a public address, at a port to which webhooks may be sent';

/** What an automation does sends events again: each delivery would start a run, whose causes nobody knows any more. */
const OWN_ADDRESS = 'must not be the address of an automation: let the automation start on the event itself';

function parse(policy: OutboundPolicy, text: string): URL {
  try {
    return parseDestination(policy, text);
  } catch (thrown) {
    if (!(thrown instanceof OutboundFailure)) throw thrown;
    throw refused(thrown.reason === 'url_blocked' ? UNREACHABLE : 'must be an https address without credentials');
  }
}

/**
 * Checks the address of an endpoint before it is saved, outside any transaction, because a host name is resolved.
 * @throws VALIDATION_ERROR not https, with credentials, or not at a public address
 */
export async function checkWebhookUrl(config: Config, text: string, lookUpAddresses = lookUp): Promise<void> {
  const policy = webhookPolicy(config);
  const url = parse(policy, text);
  if (url.href.startsWith(webAddress(config, '/api/hooks/'))) throw refused(OWN_ADDRESS);
  const destination = { host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port: getPort(url) };
  const isAddress = ipaddr.isValid(destination.host);
  // The operator vouches for a name on the list, which may be known to the worker only.
  if (!isAddress && isException(policy, destination.host, destination.port)) return;
  const addresses = isAddress ? [destination.host] : await lookUpAddresses(destination.host.replace(/\.$/, ''));
  if (addresses.length > 0 && addresses.every((address) => isReachable(policy, destination, address))) return;
  throw refused(UNREACHABLE);
}
