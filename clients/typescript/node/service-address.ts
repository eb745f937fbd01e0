/** An address that no token may be sent to. */
export class AddressError extends Error {
  override readonly name = 'AddressError';
}

/**
 * Returns the address without a slash at its end.
 * @throws {AddressError} unless it is https, or http on this machine
 */
export function readServiceAddress(text: string, allowsInsecure: boolean): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol))
    throw new AddressError(`${text} is no address: write one that begins with https://, or http:// on this machine.`);
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (url.protocol === 'http:' && !isLocal && !allowsInsecure) {
    throw new AddressError(`${text} is not https: anybody on the way could read the token. --insecure allows it.`);
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}
