import { canonicalJson } from './canonical.js';

/** A receipt that proves nothing about the operation, here and now. */
export class ReceiptVerificationError extends Error {
  override readonly name = 'ReceiptVerificationError';
}

/** What people approved: execute what `verifyReceipt` returned and nothing else. */
export interface ApprovedOperation {
  readonly system: string;
  readonly name: string;
  readonly target: string | null;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly tool_hash?: string;
}

/** A public key as JWKS lists it; other members are ignored. */
interface PublicJwk {
  kid?: string;
  kty?: string;
  crv?: string;
  x?: string;
}

export interface VerifyReceiptOptions {
  /** Keys of GET /api/receipts/jwks. Fetch them from the installation that you trust, never from an address in the receipt. */
  jwks: { keys: readonly PublicJwk[] };
  /** BASE_URL of the installation. */
  issuer: string;
  /** Id of the team whose people must have approved. */
  team: string;
  /** The system that executes, such as `payments`. */
  system: string;
  /**
   * Stores the key until this time (seconds since 1970) and returns `true` if it was not there: an insert with a unique key. It must
   * outlive the process, or an operation can be executed twice. Anything but `true` refuses.
   */
  firstUse: (key: string, until: number) => boolean | Promise<boolean>;
  /** How many people must have approved; default 1. */
  approvals?: number;
  /** Time of this clock, ms since 1970; default now. */
  now?: number;
}

interface Claims {
  iss: unknown;
  aud: unknown;
  jti: unknown;
  iat: number;
  nbf: number;
  exp: number;
  assent?: {
    v: unknown;
    team_id: unknown;
    operations: readonly ({ sha256: unknown } | null)[];
    approved_by: readonly ({ user_id: unknown } | null)[];
  } | null;
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Difference between the clocks that is accepted, s. */
const SKEW_SECONDS = 5;
const LONGEST_SECONDS = 3_600;
const ALGORITHM = 'Ed25519';

const fail = (why: string): never => {
  throw new ReceiptVerificationError(why);
};

/** Decodes base64url. Refuses every other spelling of the same bytes: padding, blanks and unused bits that are set. */
function decode(text: string): Bytes {
  if (!/^[A-Za-z0-9_-]+$/.test(text)) return fail('The receipt is not in its compact form');
  let binary = '';
  try {
    binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  } catch {
    fail('The receipt is not in its compact form');
  }
  const again = btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  if (again !== text) fail('The receipt is not in its compact form');
  return Uint8Array.from(binary, (char) => char.charCodeAt(0));
}

/** Parses an object as the service writes it, so that no member is there twice. */
function parse<T extends object>(bytes: Bytes): T {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value) && JSON.stringify(value) === text) return value as T;
  } catch {
    // As below.
  }
  return fail('The receipt holds no JSON');
}

/** Verifies header and signature by a key that the caller trusts; nothing in the header is followed. */
async function readClaims(receipt: string, keys: readonly PublicJwk[]): Promise<Claims> {
  const [head = '', body = '', signature = '', ...more] = receipt.split('.');
  const [headBytes, bodyBytes, signatureBytes] = [decode(head), decode(body), decode(signature)];
  if (more.length > 0) fail('The receipt is not in its compact form');
  const header = parse<Record<string, unknown>>(headBytes);
  if (header['alg'] !== 'EdDSA' || header['typ'] !== 'assent-receipt+jwt' || 'crit' in header) fail('This is no receipt');
  const { kid } = header;
  const found = keys.filter((key) => key.kid === kid && key.kty === 'OKP' && key.crv === ALGORITHM);
  const [jwk] = found;
  if (!jwk || found.length !== 1 || typeof kid !== 'string') return fail('The receipt is signed by another key');
  const key = await crypto.subtle.importKey('jwk', { kty: 'OKP', crv: ALGORITHM, x: jwk.x ?? '' }, ALGORITHM, false, ['verify']);
  const signed = new TextEncoder().encode(`${head}.${body}`);
  if (!(await crypto.subtle.verify(ALGORITHM, key, signatureBytes, signed))) fail('The signature is wrong');
  return parse<Claims>(bodyBytes);
}

function checkAudience({ iss, aud }: Claims, teamId: unknown, { issuer, team, system }: VerifyReceiptOptions): void {
  const audiences: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  if (iss !== issuer) fail('The receipt is of another installation');
  if (teamId !== team || !audiences.includes(`assent:${team}:${system}`)) fail('The receipt is for another team or system');
}

function checkTime({ iat, nbf, exp }: Claims, now: number): void {
  if (![iat, nbf, exp].every(Number.isInteger)) fail('The receipt has no times');
  if (exp - iat > LONGEST_SECONDS) fail('The receipt is valid for longer than an hour');
  if (now < nbf - SKEW_SECONDS) fail('The receipt is not valid yet, or this clock is wrong');
  if (now >= exp + SKEW_SECONDS) fail('The receipt has expired');
}

async function hashOperation(text: string): Promise<string> {
  // An encoder would put another character in the place of half a one.
  if (/\p{Surrogate}/u.test(text)) fail('The text of the operation is no Unicode');
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(`assent.operation.v1\n${text}`));
  return `sha256:${Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** Returns the text of an operation as the redemption returns it. */
function getText(operation: string | ApprovedOperation): string {
  if (typeof operation === 'string') return operation;
  try {
    return canonicalJson(operation);
  } catch (cause) {
    throw new ReceiptVerificationError(`The operation is no plain JSON: ${(cause as Error).message}`, { cause });
  }
}

function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  Object.values(value).forEach(freeze);
  return Object.freeze(value);
}

/**
 * Verifies that people approved exactly this operation, and that it is executed for the first time. Returns the operation to execute: a
 * frozen copy, which nothing that the caller holds can change.
 * @param receipt as the redemption returned it
 * @param operation its text, byte for byte as the redemption returned it; or an object, which is compared by its canonical text (RFC 8785)
 * @throws ReceiptVerificationError unless all of it holds; nothing is marked as used then
 */
export async function verifyReceipt(
  receipt: string,
  operation: string | ApprovedOperation,
  options: VerifyReceiptOptions,
): Promise<ApprovedOperation> {
  const { jwks, system, firstUse, approvals = 1, now = Date.now() } = options;
  if (!(approvals >= 1) || !Number.isFinite(now)) throw new RangeError('approvals must be 1 or more, and now a time');
  const claims = await readClaims(receipt, jwks.keys);
  const { jti, assent } = claims;
  if (typeof jti !== 'string' || assent?.v !== 1) return fail('This is no receipt');
  const { operations, approved_by, team_id } = assent;
  if (!Array.isArray(operations) || !Array.isArray(approved_by)) fail('This is no receipt');
  checkAudience(claims, team_id, options);
  checkTime(claims, now / 1_000);
  const text = getText(operation);
  const hash = await hashOperation(text);
  if (!operations.some((each) => each?.sha256 === hash)) fail('People approved another operation');
  const approved = JSON.parse(text) as ApprovedOperation;
  // A receipt of several operations has one audience for each.
  if (approved.system !== system) fail('The operation is for another system');
  const people = new Set(approved_by.flatMap((each) => (typeof each?.user_id === 'string' ? [each.user_id] : [])));
  if (people.size < approvals) fail(`${people.size} people approved, and ${approvals} must`);
  // Never by the text of the receipt: the redemption and the operation are what may be used once.
  const isFirst: unknown = await firstUse(`${jti}:${hash}`, claims.exp + SKEW_SECONDS);
  if (isFirst !== true) fail('The operation was executed before');
  return freeze(approved);
}
