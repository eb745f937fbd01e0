import { createHash } from 'node:crypto';

/** An entity tag as in the ETag header (RFC 9110, section 8.8.3). */
export type Etag = `"${string}"` | `W/"${string}"`;

/** Returns the tag of a list: weak, because it identifies the tasks and not the bytes. */
export const weakEtag = (count: number, mark: bigint): Etag => `W/"${count}-${BigInt.asUintN(64, mark).toString(36)}"`;

/**
 * Returns the tag of a task: its version, which If-Match accepts. If the response contains more than the version covers
 * (subtasks, links), a digest of the whole response follows.
 */
export const taskEtag = (version: number, answer?: string): Etag =>
  answer === undefined ? `"${version}"` : `"${version}-${createHash('sha256').update(answer).digest('base64url').slice(0, 16)}"`;

const opaque = (etag: string): string => etag.replace(/^W\//, '');

/**
 * Parses an If-None-Match header into a test for tags that the client has. Weak and strong tags compare alike (RFC 9110, section
 * 13.1.2). Returns undefined without the header.
 */
export function etagMatcher(ifNoneMatch: string | undefined): ((etag: Etag) => boolean) | undefined {
  if (ifNoneMatch === undefined) return undefined;
  if (ifNoneMatch.trim() === '*') return () => true;
  const known = new Set((ifNoneMatch.match(/(?:W\/)?"[^"]*"/g) ?? []).map(opaque));
  return (etag) => known.has(opaque(etag));
}
