import { invalid } from '../errors.js';
import { Reply } from './endpoint.js';

/** An entity tag as in the ETag header (RFC 9110, section 8.8.3). */
export type Etag = `"${string}"` | `W/"${string}"`;

/** Returns the tag of a record: its version, which If-Match accepts. */
export const versionEtag = (version: number): Etag => `"${version}"`;

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

/** Clients may store the response but must revalidate it: permissions can end at any time. */
export const revalidated = (etag: Etag) => ({ ETag: etag, 'Cache-Control': 'private, no-cache', Vary: 'Authorization' });

export const notModified = (etag: Etag) => new Reply(null, { status: 304, headers: revalidated(etag) });

/** Returns a record with its tag, or 304 if the client has it. */
export function replyUnlessKnown(etag: Etag, ifNoneMatch: string | undefined, body: unknown): Reply {
  return etagMatcher(ifNoneMatch)?.(etag) ? notModified(etag) : new Reply(body, { headers: revalidated(etag) });
}

/**
 * Returns the expected version from the body or If-Match. Every ETag of ours starts with the version, even one that a proxy made
 * weak. `*` only requires that the record exists. `what` names the record, such as `task`.
 * @throws INVALID_REQUEST different versions, or an If-Match that is no single ETag of ours
 */
export function expectedVersion(what: string, ifMatch: string | undefined, version: number | null | undefined): number | null {
  if (ifMatch === undefined || ifMatch.trim() === '*') return version ?? null;
  const tagged = /^(?:W\/)?"(\d{1,9})(?:-[\w-]+)?"$/.exec(ifMatch.trim())?.[1];
  if (tagged === undefined) throw invalid(`If-Match must be a single ETag of the ${what}`);
  if (version != null && version !== Number(tagged)) throw invalid('If-Match and version differ');
  return Number(tagged);
}
