/** Longest pattern, UTF-16 units: a DNS name has at most 253 characters, a wildcard two more and a port six. */
export const MAX_PATTERN_LENGTH = 261;

/** Part of no host: whatever ends one, hides another, or is removed or decoded when an address is read. */
const NOT_IN_HOST = /[\s\p{C}/\\?#@%*,;|^<>"'`{}]/u;
const PORT = /^[1-9][0-9]{0,4}$/;
const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** "example.com:443" as its host and port; the port is null where none is named, undefined where what is named is none. */
function splitPort(text: string): { host: string; port: string | null | undefined } {
  const bracket = text.lastIndexOf(']');
  const colon = text.indexOf(':', bracket + 1);
  if (colon === -1) return { host: text, port: null };
  // An IPv6 address without brackets has no port.
  if (bracket === -1 && text.indexOf(':', colon + 1) !== -1) return { host: `[${text}]`, port: null };
  const port = text.slice(colon + 1);
  return { host: text.slice(0, colon), port: PORT.test(port) && Number(port) <= 65_535 ? port : undefined };
}

/** The host as the URL standard writes it, without a trailing dot: lower case, Punycode, IP addresses in their one form. */
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
 * The one form in which a pattern is stored: `host`, `host:port`, `*.host` or `*.host:port`; null where the text is none of them. A
 * wildcard stands before a name of two labels or more: one over a whole top-level domain restricts nothing.
 */
export function normalizeHostPattern(text: string): string | null {
  const isWildcard = text.startsWith('*.');
  const { host: given, port } = splitPort(isWildcard ? text.slice(2) : text);
  const normalized = normalizeHost(given);
  if (!normalized || port === undefined) return null;
  if (isWildcard && (normalized.isAddress || !normalized.host.includes('.'))) return null;
  return `${isWildcard ? '*.' : ''}${normalized.host}${port === null ? '' : `:${port}`}`;
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

function matches(pattern: string, hostname: string, port: string): boolean {
  const { host, port: onlyPort } = splitPort(pattern);
  if (onlyPort !== null && onlyPort !== port) return false;
  if (!host.startsWith('*.')) return host === hostname;
  // At least one label before the dot: the name itself is not below itself.
  return hostname.endsWith(host.slice(1)) && hostname.length >= host.length;
}

/** True when a request to this address goes to one of the hosts. A pattern without a port takes any port. `patterns` are normalized. */
export function isHostAllowed(patterns: readonly string[], { hostname, port, protocol }: URL): boolean {
  const host = hostname.replace(/\.$/, '');
  const finalPort = port === '' ? (DEFAULT_PORTS[protocol] ?? '') : port;
  return patterns.some((pattern) => matches(pattern, host, finalPort));
}
