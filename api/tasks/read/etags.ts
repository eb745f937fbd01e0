import { createHash } from 'node:crypto';

/** A tag of an answer as it stands in the ETag header (RFC 9110, 8.8.3). */
export type Etag = `"${string}"` | `W/"${string}"`;

/** The tag of a list: weak, because it speaks of the tasks and not of the bytes. */
export const weakEtag = (count: number, mark: bigint): Etag => `W/"${count}-${BigInt.asUintN(64, mark).toString(36)}"`;

/**
 * The tag of a task: its version, which If-Match takes, and where the answer shows more than the version counts (subtasks, links)
 * a digest of the whole answer behind it.
 */
export const taskEtag = (version: number, answer?: string): Etag =>
  answer === undefined ? `"${version}"` : `"${version}-${createHash('sha256').update(answer).digest('base64url').slice(0, 16)}"`;

const opaque = (etag: string): string => etag.replace(/^W\//, '');

/**
 * What an If-None-Match header says of a tag: true when the client has that answer. Weak and strong tags compare alike (RFC 9110,
 * 13.1.2). Undefined without the header: nothing is to be compared.
 */
export function etagMatcher(ifNoneMatch: string | undefined): ((etag: Etag) => boolean) | undefined {
  if (ifNoneMatch === undefined) return undefined;
  if (ifNoneMatch.trim() === '*') return () => true;
  const held = new Set((ifNoneMatch.match(/(?:W\/)?"[^"]*"/g) ?? []).map(opaque));
  return (etag) => held.has(opaque(etag));
}
