import { createHash } from 'node:crypto';
import { type Etag, versionEtag } from '../../../platform/endpoint/etags.js';

/** Returns the tag of a list: weak, because it identifies the tasks and not the bytes. */
export const weakEtag = (count: number, mark: bigint): Etag => `W/"${count}-${BigInt.asUintN(64, mark).toString(36)}"`;

/**
 * Returns the tag of a task: its version, which If-Match accepts. If the response contains more than the version covers
 * (subtasks, links), a digest of the whole response follows.
 */
export const taskEtag = (version: number, answer?: string): Etag =>
  answer === undefined
    ? versionEtag(version)
    : `"${version}-${createHash('sha256').update(answer).digest('base64url').slice(0, 16)}"`;
