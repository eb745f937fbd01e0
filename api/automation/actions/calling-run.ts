import { timingSafeEqual } from 'node:crypto';
import { type EncryptionConfig, keyedHash, keyedHashes } from '../../platform/crypto/encryption.js';

/** Names the run and the action that send a request, signed by this service: who calls an address of ours stays known, and nobody else can claim it. */
export const RUN_HEADER = 'assent-run';

const OWNER = 'calling run';
/** Effect key of an action, id of the run and index, and the signature of it. */
const NAMED = /^(([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}):\d+) ([\da-f]{64})$/;

/** Returns the header for a request with this effect key. */
export const nameCaller = (config: EncryptionConfig, key: string): string =>
  `${key} ${keyedHash(config, 'caller', OWNER, key).toString('hex')}`;

/** Returns the id of the run that a header names; undefined if it is not one of ours. */
export function readCaller(config: EncryptionConfig, header: string | string[] | undefined): string | undefined {
  const [, key, runId, signature] = NAMED.exec(typeof header === 'string' ? header : '') ?? [];
  if (key === undefined || signature === undefined) return undefined;
  const given = Buffer.from(signature, 'hex');
  return keyedHashes(config, 'caller', OWNER, key).some((hash) => timingSafeEqual(hash, given)) ? runId : undefined;
}
