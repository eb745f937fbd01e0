import { z } from 'zod';
import { normalizeHostPattern } from '../http-client/host-patterns.js';

/** A list of hosts or addresses, each optionally with a port, separated by commas; stored in normalized form. */
export const allowedHosts = z
  .string()
  .default('')
  .transform((list) => list.split(',').flatMap((host) => host.trim() || []))
  .refine(
    (hosts) => hosts.every((host) => !host.startsWith('*') && normalizeHostPattern(host) !== null),
    'must be host names or addresses, each optionally with a port, separated by commas',
  )
  .transform((hosts) => hosts.map((host) => normalizeHostPattern(host) ?? host));
