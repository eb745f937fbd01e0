import type { KeyObject } from 'node:crypto';
import { CompactSign } from 'jose';
import { deriveKeyId } from '../../audit/signing-keys.js';
import { canonicalJson } from '../staging/canonical.js';

/** Longest time in which a receipt is valid, s. */
const MAX_RECEIPT_SECONDS = 3_600;

/** What was redeemed, as the row of its request stores it. */
export interface Redemption {
  request_id: string;
  request_hash: string;
  team_id: string;
  revision: number;
  role: string;
  /** Whether people behind the request were allowed to approve it. */
  allow_self: boolean;
  operations: readonly { system: string; name: string; target: string | null; sha256: string }[];
  approved_by: readonly { user_id: string; at: string }[];
  redemption_id: string;
  redeemed_at: Date;
  receipt_seconds: number;
}

/** One audience for each system, so that a check of the audience pins the team too. */
const getAudience = ({ team_id, operations }: Redemption): string | string[] => {
  const [first = '', ...more] = [...new Set(operations.map(({ system }) => `assent:${team_id}:${system}`))];
  return more.length === 0 ? first : [first, ...more];
};

/**
 * Signs that a redemption took place: a compact JWS (EdDSA) for the service that executes the operations. The same redemption gives the
 * same bytes.
 * @throws RangeError for a life that is no positive number of seconds, or longer than an hour
 */
export function signReceipt(redemption: Redemption, issuer: string, key: KeyObject): Promise<string> {
  const { receipt_seconds, redeemed_at, redemption_id, request_id, allow_self, ...rest } = redemption;
  if (!(receipt_seconds > 0 && receipt_seconds <= MAX_RECEIPT_SECONDS))
    throw new RangeError(`A receipt is valid for 1 to ${MAX_RECEIPT_SECONDS} s`);
  const { request_hash, team_id, operations, approved_by, role, revision } = rest;
  const iat = Math.floor(redeemed_at.getTime() / 1_000);
  const claims = {
    iss: issuer,
    aud: getAudience(redemption),
    sub: `request:${request_id}`,
    jti: redemption_id,
    iat,
    nbf: iat,
    exp: iat + receipt_seconds,
    assent: { v: 1, request_hash, team_id, operations, approved_by, role, self: allow_self, revision },
  };
  return new CompactSign(new TextEncoder().encode(canonicalJson(claims)))
    .setProtectedHeader({ alg: 'EdDSA', typ: 'assent-receipt+jwt', kid: deriveKeyId(key) })
    .sign(key);
}
