import { invalid } from '../../../platform/errors.js';
import { findInvisible } from '../../../platform/validation/invisible.js';
import type { Risk } from '../../contract/action-type.js';
import type { Terms } from '../../requirement/request-rules.js';
import { computeHash, canonicalJson } from '../../staging/canonical.js';
import { hiddenCharacter } from '../../staging/hidden-character.js';
import type { Operation } from '../../staging/operation.js';
import { copyOperation, readOperation, writeRequestText } from '../../staging/request-text.js';
import type { ClaimedOperation, RequestContent } from '../content.js';
import type { AskedOperation } from '../schema.js';

/** @throws INVALID_REQUEST naming the field */
export function checkVisible(texts: Readonly<Record<string, unknown>>): void {
  for (const [name, text] of Object.entries(texts)) {
    const hidden = typeof text === 'string' ? findInvisible(text) : hiddenCharacter(text ?? null);
    if (hidden !== undefined) throw invalid(`${name} may not contain the invisible character ${hidden}`);
  }
}

/** Returns an operation with its claims. */
function withClaims(
  read: (asked: AskedOperation) => Operation,
  { summary, risk, reversible, ...rest }: AskedOperation,
): ClaimedOperation {
  checkVisible({ summary });
  const claims = {
    ...(summary !== undefined && { summary }),
    ...(risk && { risk }),
    ...(reversible !== undefined && { reversible }),
  };
  return { ...read(rest), ...claims };
}

/**
 * Returns the operations of a request as a person can be shown them. `own`: systems that are reserved, but the request has them already.
 * @throws INVALID_REQUEST for a reserved system, arguments that are no object, invisible characters, or more than 64 kB
 */
export const readOperations = (asked: readonly AskedOperation[], own: readonly string[] = []): ClaimedOperation[] =>
  asked.map((one) => withClaims(own.includes(one.system) ? copyOperation : readOperation, one));

/** Returns an operation that Assent itself performs. @throws as `readOperations` */
export const readPrepared = (asked: AskedOperation): ClaimedOperation => withClaims(copyOperation, asked);

/** Returns the hash of where an operation acts, whatever its arguments. */
export const hashPlace = ({ system, name, target }: Operation): Buffer =>
  computeHash('assent.place.v1\n', canonicalJson([system, name, target]));

const RISKS: readonly Risk[] = ['low', 'medium', 'high'];

/** Returns the highest risk that the requester claims; null without a claim. */
const highestClaim = (operations: readonly ClaimedOperation[]): Risk | null =>
  RISKS.findLast((risk) => operations.some((operation) => operation.risk === risk)) ?? null;

/** A request to be stored: its text, and what its columns repeat of it. */
export interface ComposedRequest {
  content: RequestContent;
  canonical: string;
  hash: Buffer;
  operationHashes: Buffer[];
  placeHashes: Buffer[];
  systems: string[];
  risk: Risk | null;
}

/** Returns the requirement as the text of a request shows it. */
export const toRequirement = ({ requirement, require_code }: Terms): RequestContent['requirement'] => ({
  ...(requirement as RequestContent['requirement']),
  code: require_code,
});

/** Returns the text of a request and its columns. @throws INVALID_REQUEST for more than 256 kB */
export function composeRequest(content: RequestContent): ComposedRequest {
  const { operations } = content;
  const { canonical, hash, operations: hashed } = writeRequestText({ ...content });
  return {
    content,
    canonical,
    hash,
    operationHashes: hashed.map((one) => one.hash),
    placeHashes: operations.map(hashPlace),
    systems: [...new Set(operations.map(({ system }) => system))],
    risk: highestClaim(operations),
  };
}
