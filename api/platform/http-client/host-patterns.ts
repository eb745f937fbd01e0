/** Maximum pattern length in UTF-16 units: 253 for a DNS name, two more for a wildcard and six for a port. */
export const MAX_PATTERN_LENGTH = 261;

/** Characters that no host contains: they end or hide a host, or URL parsing removes or decodes them. */
const NOT_IN_HOST = /[\s\p{C}/\\?#@%*,;|^<>"'`{}]/u;
const PORT = /^[1-9][0-9]{0,4}$/;
const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** Splits "example.com:443" into host and port; the port is null if absent and undefined if invalid. */
function splitPort(text: string): { host: string; port: string | null | undefined } {
  const bracket = text.lastIndexOf(']');
  const colon = text.indexOf(':', bracket + 1);
  if (colon === -1) return { host: text, port: null };
  // An IPv6 address without brackets has no port.
  if (bracket === -1 && text.indexOf(':', colon + 1) !== -1) return { host: `[${text}]`, port: null };
  const port = text.slice(colon + 1);
  return { host: text.slice(0, colon), port: PORT.test(port) && Number(port) <= 65_535 ? port : undefined };
}

/** Normalizes a host by the URL standard, without a trailing dot: lower case, Punycode, canonical IP addresses. */
function normalizeHost(host: string): { host: string; isAddress: boolean } | null {
  if (host === '' || NOT_IN_HOST.test(host) || !URL.canParse(`https://${host}/`)) return null;
  const { hostname } = new URL(`https://${host}/`);
  if (hostname.startsWith('[')) return { host: hostname, isAddress: true };
  const name = hostname.replace(/\.$/, '');
  const labels = name.split('.');
  if (name.length > 253 || !labels.every((label) => LABEL.test(label))) return null;
  return { host: name, isAddress: /^[0-9]+$/.test(labels.at(-1) as string) };
}

/**
 * Returns the stored form of a pattern: `host`, `host:port`, `*.host` or `*.host:port`; null if invalid. A wildcard needs a name
 * of two labels or more: one over a whole top-level domain would restrict nothing (docs/decisions/platform.md#host-patterns).
 */
export function normalizeHostPattern(text: string): string | null {
  const isWildcard = text.startsWith('*.');
  const { host: name, port } = splitPort(isWildcard ? text.slice(2) : text);
  const normalized = normalizeHost(name);
  if (!normalized || port === undefined) return null;
  if (isWildcard && (normalized.isAddress || !normalized.host.includes('.'))) return null;
  return `${isWildcard ? '*.' : ''}${normalized.host}${port === null ? '' : `:${port}`}`;
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

function matches(pattern: string, hostname: string, port: string): boolean {
  const { host, port: onlyPort } = splitPort(pattern);
  if (onlyPort !== null && onlyPort !== port) return false;
  if (!host.startsWith('*.')) return host === hostname;
  // A wildcard needs at least one label before the dot and does not match the name itself.
  return hostname.endsWith(host.slice(1)) && hostname.length >= host.length;
}

/**
 * Returns true if a request to this address goes to one of the hosts. A pattern without a port allows any port. `patterns` are
 * normalized.
 */
export function isHostAllowed(
  patterns: readonly string[],
  { hostname, port, protocol }: Pick<URL, 'hostname' | 'port' | 'protocol'>,
): boolean {
  const host = hostname.replace(/\.$/, '');
  const finalPort = port === '' ? (DEFAULT_PORTS[protocol] ?? '') : port;
  return patterns.some((pattern) => matches(pattern, host, finalPort));
}
