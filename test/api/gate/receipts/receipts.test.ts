import { createHmac, generateKeyPairSync, type KeyObject, sign as signBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { deriveKeyId } from '../../../../api/audit/signing-keys.js';
import { type Redemption, signReceipt } from '../../../../api/gate/receipts/sign-receipt.js';
import { hashText } from '../../../../api/gate/staging/canonical.js';
import { hashOperation, type Operation } from '../../../../api/gate/staging/operation.js';
import { verifyReceipt, type VerifyReceiptOptions } from '../../../../clients/typescript/receipts.js';

// What an attacker may try with a receipt, between the service that signs it and whoever executes.

const ISSUER = 'https://assent.example';
const [TEAM, ANOTHER_TEAM] = [uuidv7(), uuidv7()];
const [MAX, UMA] = [uuidv7(), uuidv7()];
const NOW = Date.parse('2026-11-26T12:00:00Z');
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const stranger = generateKeyPairSync('ed25519');
const toJwk = (key: KeyObject, kid = deriveKeyId(key)) => ({ ...key.export({ format: 'jwk' }), kid, alg: 'EdDSA', use: 'sig' });
const jwks = { keys: [toJwk(publicKey)] };

const PAYMENT: Operation = { system: 'payments', name: 'refund', target: 'order-7', arguments: { cents: 82_000, to: 'Ann' } };
const DEPLOY: Operation = { system: 'deploy', name: 'apply', target: 'prod', arguments: {} };
const text = hashOperation(PAYMENT).text;

const redeem = (operations: Operation[] = [PAYMENT], more: Partial<Redemption> = {}): Redemption => ({
  request_id: uuidv7(),
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
  redemption_id: uuidv7(),
  redeemed_at: new Date(NOW - 1_500),
  receipt_seconds: 300,
  ...more,
});
const issue = (redemption = redeem(), key = privateKey) => signReceipt(redemption, ISSUER, key);

/** Verifies as the executor of payments does, with a memory of its own. */
function check(receipt: string, operationText = text, options: Partial<VerifyReceiptOptions> = {}) {
  const used = new Set<string>();
  const firstUse = (key: string) => used.size < used.add(key).size;
  return verifyReceipt(receipt, operationText, {
    jwks,
    issuer: ISSUER,
    team: TEAM,
    system: 'payments',
    firstUse,
    now: NOW,
    ...options,
  });
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const decode = (part = '') => JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;
/** A receipt with another header or other claims, signed again by a key that the attacker has. */
async function forge(header: object, claims: object = {}, key = stranger.privateKey): Promise<string> {
  const [head, body] = (await issue()).split('.');
  const start = `${encode({ ...decode(head), ...header })}.${encode({ ...decode(body), ...claims })}`;
  return `${start}.${signBytes(null, Buffer.from(start), key).toString('base64url')}`;
}

it('proves the operation, and gives a copy that nothing changes afterwards', async () => {
  const operation = await check(await issue());
  expect(operation).toEqual(PAYMENT);
  expect(() => Object.assign(operation.arguments, { cents: 1 })).toThrow('read only');
});

it('is the same bytes for the same redemption', async () => {
  const redemption = redeem();
  expect(await issue(redemption)).toBe(await issue(redemption));
});

it.each<[string, Partial<Operation>]>([
  ['amount', { arguments: { cents: 820_000, to: 'Ann' } }],
  ['number as text', { arguments: { cents: '82000', to: 'Ann' } }],
  ['argument more', { arguments: { cents: 82_000, to: 'Ann', memo: null } }],
  ['zero-width joiner', { arguments: { cents: 82_000, to: 'An\u200dn' } }],
  ['target', { target: 'order-8' }],
  ['absent target', { target: null }],
  ['name', { name: 'refund_all' }],
  ['tool', { tool_hash: 'ab'.repeat(32) }],
])('refuses another operation: %s', async (_, change) => {
  const other = hashOperation({ ...PAYMENT, ...change }).text;
  await expect(check(await issue(), other)).rejects.toThrow('People approved another operation');
});

it.each([
  ['a blank', (given: string) => `${given} `],
  [
    'members in another order',
    (given: string) => JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(given) as object).toReversed())),
  ],
  ['the same number, written otherwise', (given: string) => given.replace('82000', '8.2e4')],
  ['a key twice', (given: string) => given.replace('"cents":82000', '"cents":82000,"cents":1')],
])('refuses another text of the same operation: %s', async (_, change) => {
  await expect(check(await issue(), change(text))).rejects.toThrow('People approved another operation');
});

it.each<[string, Partial<VerifyReceiptOptions>, string]>([
  ['another team', { team: ANOTHER_TEAM }, 'for another team or system'],
  ['another system', { system: 'deploy' }, 'for another team or system'],
  ['another installation', { issuer: 'https://assent.example.com' }, 'of another installation'],
  ['after its end', { now: NOW + 310_000 }, 'has expired'],
  ['before its start', { now: NOW - 60_000 }, 'not valid yet'],
  ['too few people', { approvals: 2 }, '1 people approved, and 2 must'],
  ['no key', { jwks: { keys: [] } }, 'signed by another key'],
  ['two keys of one name', { jwks: { keys: [toJwk(publicKey), toJwk(publicKey)] } }, 'signed by another key'],
  ['a key of another name', { jwks: { keys: [toJwk(publicKey, 'other')] } }, 'signed by another key'],
  ['another key of that name', { jwks: { keys: [toJwk(stranger.publicKey, deriveKeyId(publicKey))] } }, 'The signature is wrong'],
])('is refused for %s', async (_, options, why) => {
  await expect(check(await issue(), text, options)).rejects.toThrow(why);
});

it('of several systems proves to each only its own', async () => {
  const receipt = await issue(redeem([PAYMENT, DEPLOY]));
  expect(await check(receipt)).toEqual(PAYMENT);
  expect(await check(receipt, hashOperation(DEPLOY).text, { system: 'deploy' })).toEqual(DEPLOY);
  await expect(check(receipt, hashOperation(DEPLOY).text)).rejects.toThrow('The operation is for another system');
});

it('counts people, not approvals', async () => {
  const twice = [MAX, MAX].map((user_id) => ({ user_id, at: '2026-11-26T11:59:00Z' }));
  await expect(check(await issue(redeem([PAYMENT], { approved_by: twice })), text, { approvals: 2 })).rejects.toThrow('1 people');
  const two = [MAX, UMA].map((user_id) => ({ user_id, at: '2026-11-26T11:59:00Z' }));
  expect(await check(await issue(redeem([PAYMENT], { approved_by: two })), text, { approvals: 2 })).toEqual(PAYMENT);
});

it('is used once for each operation, however it is spelled, and a refused one uses nothing', async () => {
  const used = new Map<string, number>();
  const firstUse = (key: string, until: number) => used.size < used.set(key, until).size;
  const another = { ...PAYMENT, target: 'order-8' };
  const receipt = await issue(redeem([PAYMENT, another]));
  await expect(check(receipt, text, { firstUse, now: NOW + 400_000 })).rejects.toThrow('has expired');
  await expect(check(receipt, text, { firstUse, approvals: 2 })).rejects.toThrow('1 people');
  expect(used.size).toBe(0);
  expect(await check(receipt, text, { firstUse })).toEqual(PAYMENT);
  await expect(check(receipt, text, { firstUse })).rejects.toThrow('executed before');
  expect(await check(receipt, hashOperation(another).text, { firstUse })).toEqual(another);
  expect([...used.values()].every((until) => until * 1_000 >= NOW + 298_000)).toBe(true);
});

it.each([
  ['padding', (receipt: string) => `${receipt}==`],
  ['a blank', (receipt: string) => `${receipt} `],
  ['a line', (receipt: string) => receipt.replace('.', '\n.')],
  ['a part more', (receipt: string) => `${receipt}.x`],
  ['a part less', (receipt: string) => receipt.slice(0, receipt.lastIndexOf('.'))],
  // The last digit of 64 bytes has four bits that nothing uses.
  ['unused bits', (receipt: string) => receipt.slice(0, -1) + String.fromCharCode(receipt.charCodeAt(receipt.length - 1) + 1)],
  ['nothing', () => ''],
])('has one spelling: %s is refused', async (_, change) => {
  await expect(check(change(await issue()))).rejects.toThrow('not in its compact form');
});

it.each<[string, object]>([
  ['alg none', { alg: 'none' }],
  ['a type of another use', { typ: 'JWT' }],
  ['a critical extension', { crit: ['exp'] }],
  ['HS256', { alg: 'HS256' }],
])('follows nothing in the header: %s, even with the right key', async (_, header) => {
  await expect(check(await forge(header, {}, privateKey))).rejects.toThrow('This is no receipt');
});

it('follows no key in the header, and no address', async () => {
  const jwk = toJwk(stranger.publicKey);
  await expect(check(await forge({ jwk, jku: 'https://evil.example' }))).rejects.toThrow('The signature is wrong');
  await expect(check(await forge({ jwk, kid: jwk.kid }))).rejects.toThrow('signed by another key');
});

it('is no HMAC under the public key', async () => {
  const [, body] = (await issue()).split('.');
  const start = `${encode({ alg: 'EdDSA', typ: 'assent-receipt+jwt', kid: deriveKeyId(publicKey) })}.${body}`;
  const mac = createHmac('sha512', publicKey.export({ type: 'spki', format: 'pem' }))
    .update(start)
    .digest('base64url');
  await expect(check(`${start}.${mac}`)).rejects.toThrow('The signature is wrong');
});

it.each<[string, object, string]>([
  ['a life of a year', { exp: NOW / 1_000 + 31_536_000 }, 'longer than an hour'],
  ['a time that is a text', { exp: '9999999999' }, 'has no times'],
  ['no operations', { assent: { team_id: TEAM } }, 'This is no receipt'],
  ['no redemption', { jti: null }, 'This is no receipt'],
])('is refused with claims that the service never signs: %s', async (_, claims, why) => {
  await expect(check(await forge({}, claims, privateKey))).rejects.toThrow(why);
});

it('is never issued for longer than an hour', () => {
  expect(() => issue(redeem([PAYMENT], { receipt_seconds: 3_601 }))).toThrow(RangeError);
  expect(() => issue(redeem([PAYMENT], { receipt_seconds: 0 }))).toThrow(RangeError);
});
