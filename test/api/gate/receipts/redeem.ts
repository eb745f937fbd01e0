import { generateKeyPairSync } from 'node:crypto';
import type { Redemption } from '../../../../api/gate/receipts/sign-receipt.js';
import { hashText } from '../../../../api/gate/staging/canonical.js';
import { hashOperation } from '../../../../api/gate/staging/operation.js';

/** A new signing key, PEM. */
export const makeKey = (): string =>
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

export const TEAM = '019ac000-0000-7000-8000-000000000001';
export const OPERATION = { system: 'payments', name: 'refund', target: null, arguments: {} };

/** A redemption of a moment ago. */
export const redeem = (more: Partial<Redemption> = {}): Redemption => ({
  request_id: '019ac000-0000-7000-8000-000000000021',
  request_hash: `sha256:${'0'.repeat(64)}`,
  team_id: TEAM,
  revision: 1,
  role: 'manager',
  allow_self: false,
  operations: [{ system: 'payments', name: 'refund', target: null, sha256: hashText(hashOperation(OPERATION).hash) }],
  approved_by: [{ user_id: '019ac000-0000-7000-8000-000000000011', at: '2026-11-26T11:59:00Z' }],
  redemption_id: '019ac000-0000-7000-8000-000000000022',
  redeemed_at: new Date(Math.floor(Date.now() / 1_000) * 1_000),
  receipt_seconds: 300,
  ...more,
});
