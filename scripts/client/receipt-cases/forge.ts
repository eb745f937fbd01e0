import { createPrivateKey, type KeyObject, sign as signBytes } from 'node:crypto';
import { deriveKeyId } from '../../../api/audit/signing-keys.js';
import { receiptKeys } from '../../../api/gate/receipts/keys.js';
import { type Redemption, signReceipt } from '../../../api/gate/receipts/sign-receipt.js';
import { canonicalJson, hashText } from '../../../api/gate/staging/canonical.js';
import { hashOperation, type Operation } from '../../../api/gate/staging/operation.js';

// How the cases of receipts are made: fixed keys, a fixed time, and receipts as the service and as an attacker sign them.

export interface Call {
  receipt: string;
  operation_text: string;
  /** Not the text is given, but the object that it denotes. Verifiers without this mode pass over these calls. */
  compare?: true;
  /** Options that differ from those of the file. */
  options?: Record<string, unknown>;
  /** Message of the error; without one the operation is returned, as the text says it. */
  refused?: string;
  /** What `first_use` is called with, if it is. */
  first_use?: [key: string, until: number];
}

export const NOW = Date.parse('2026-11-26T12:00:00Z') / 1_000;
const id = (last: number): string => `019ac000-0000-7000-8000-${String(last).padStart(12, '0')}`;
export const [TEAM, OTHER_TEAM, MAX, UMA] = [id(1), id(2), id(11), id(12)];
export const ISSUER = 'https://assent.example';

/** A key of PKCS 8 is a fixed head and any 32 bytes. */
const makeKey = (byte: number): KeyObject =>
  createPrivateKey({
    key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), Buffer.alloc(32, byte)]),
    format: 'der',
    type: 'pkcs8',
  });
export const OURS = makeKey(1);
export const STRANGER = makeKey(2);
export const getJwk = (key: KeyObject, kid = deriveKeyId(key)) => {
  const pem = key.export({ type: 'pkcs8', format: 'pem' }).toString();
  return { ...receiptKeys({ RECEIPT_SIGNING_KEY: pem }).jwks.keys[0], kid };
};

export const OPTIONS = {
  jwks: { keys: [getJwk(OURS)] },
  issuer: ISSUER,
  team: TEAM,
  system: 'payments',
  approvals: 1,
  now: NOW,
};

export const PAYMENT: Operation = {
  system: 'payments',
  name: 'refund',
  target: 'order-7',
  arguments: { cents: 82_000, to: 'Zoë' },
};
export const DEPLOY: Operation = { system: 'deploy', name: 'apply', target: 'prod', arguments: {} };
export const getText = (operation: Operation): string => hashOperation(operation).text;
export const TEXT = getText(PAYMENT);
export const withArguments = (json: string): Operation => ({
  ...PAYMENT,
  arguments: JSON.parse(json) as Record<string, unknown>,
});

const redeem = (operations: Operation[], more: Partial<Redemption> = {}): Redemption => ({
  request_id: id(21),
  request_hash: `sha256:${'0'.repeat(64)}`,
  team_id: TEAM,
  revision: 1,
  role: 'manager',
  allow_self: false,
  operations: operations.map((operation) => ({
    system: operation.system,
    name: operation.name,
    target: operation.target,
    sha256: hashText(hashOperation(operation).hash),
  })),
  approved_by: [{ user_id: MAX, at: '2026-11-26T11:59:00Z' }],
  redemption_id: id(22),
  redeemed_at: new Date((NOW - 1) * 1_000),
  receipt_seconds: 300,
  ...more,
});
export const issue = (operations = [PAYMENT], more: Partial<Redemption> = {}): Promise<string> =>
  signReceipt(redeem(operations, more), ISSUER, OURS);

export const encode = (text: string | Buffer): string => Buffer.from(text).toString('base64url');
export const decode = (part = ''): Record<string, unknown> =>
  JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;
export const signText = (head: string | Buffer, body: string | Buffer, key = OURS): string => {
  const start = `${encode(head)}.${encode(body)}`;
  return `${start}.${encode(signBytes(null, Buffer.from(start), key))}`;
};

export interface Parts {
  receipt: string;
  header: Record<string, unknown>;
  claims: Record<string, unknown>;
}
/** A receipt with another header or other claims, signed again. */
export const forge = ({ header, claims }: Parts, more: { header?: object; claims?: object }, key = OURS): string =>
  signText(JSON.stringify({ ...header, ...more.header }), canonicalJson({ ...claims, ...more.claims }), key);

const getFirstUse = (receipt: string, text: string): [string, number] => {
  const { jti, exp } = decode(receipt.split('.')[1]);
  return [`${String(jti)}:${hashText(hashOperation(JSON.parse(text) as Operation).hash)}`, Number(exp) + 5];
};
export const accept = (receipt: string, operation_text = TEXT, options?: Call['options']): Call => ({
  receipt,
  operation_text,
  ...(options && { options }),
  first_use: getFirstUse(receipt, operation_text),
});
export const refuse = (refused: string, receipt: string, operation_text = TEXT, options?: Call['options']): Call => ({
  receipt,
  operation_text,
  ...(options && { options }),
  refused,
});
export const executedBefore = (receipt: string, operation_text = TEXT): Call => ({
  ...accept(receipt, operation_text),
  refused: 'The operation was executed before',
});
export type Rows = [name: string, ...calls: Call[]][];
