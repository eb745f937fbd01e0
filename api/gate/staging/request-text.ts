import { z } from 'zod';
import { invalid } from '../../platform/errors.js';
import { findInvisible } from '../../platform/validation/invisible.js';
import { canonicalJson } from './canonical.js';
import { hiddenKey } from './hidden-character.js';
import { hashOperation, hashRequest, type Operation } from './operation.js';

const OPERATION_BYTES = 64 * 1024;
const REQUEST_BYTES = 256 * 1024;
/** Systems that follow from the address of what Assent itself calls, so that nobody dodges a rule by a name. */
const RESERVED = /^(?:mcp\.|http\.|assent)/;

const SYSTEM = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** An operation as a program sends it. Arguments are checked below: a record of zod drops a key `__proto__`. */
export const OperationInput = z.strictObject({
  system: z.string().regex(SYSTEM),
  name: z.string().min(1).max(200),
  target: z.string().min(1).max(2_000).nullable(),
  arguments: z.unknown(),
});

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Returns an operation that a person can be shown whole: invisible characters in values are shown, elsewhere refused. The result is a copy
 * that shares nothing with what was sent.
 * @param value parsed from JSON that is exact (endpoint/exact-json.ts)
 * @throws INVALID_REQUEST for a reserved system, arguments that are no object, invisible characters or more than 64 kB
 */
export function readOperation(asked: z.output<typeof OperationInput>): Operation {
  if (!SYSTEM.test(asked.system)) throw invalid('The system must be in the documented format');
  if (RESERVED.test(asked.system))
    throw invalid(`The system ${asked.system} is reserved`, { extra: { reason: 'reserved_system' } });
  return copyOperation(asked);
}

/**
 * Returns a copy of an operation of any system, as `readOperation` does.
 * @throws INVALID_REQUEST for arguments that are no object, invisible characters or more than 64 kB
 */
export function copyOperation({ arguments: given, ...rest }: z.output<typeof OperationInput>): Operation {
  if (!isObject(given)) throw invalid('arguments must be an object');
  const hidden = findInvisible(`${rest.name}${rest.target ?? ''}`) ?? hiddenKey(given);
  if (hidden !== undefined) throw invalid(`Name, target and keys may not contain the invisible character ${hidden}`);
  const text = canonicalJson({ ...rest, arguments: given });
  if (Buffer.byteLength(text) > OPERATION_BYTES) throw invalid(`An operation has at most ${OPERATION_BYTES / 1024} kB`);
  return JSON.parse(text) as Operation;
}

/** A request's text: what a person approves, and what is executed. */
interface RequestText {
  canonical: string;
  /** 32 bytes. */
  hash: Buffer;
  operations: { text: string; hash: Buffer }[];
}

/**
 * Returns the one text of a request, with its hash and those of its operations.
 * @throws INVALID_REQUEST for more than 256 kB
 */
export function writeRequestText(fields: Record<string, unknown> & { operations: readonly Operation[] }): RequestText {
  const canonical = canonicalJson({ v: 1, ...fields });
  if (Buffer.byteLength(canonical) > REQUEST_BYTES) throw invalid(`A request has at most ${REQUEST_BYTES / 1024} kB`);
  return { canonical, hash: hashRequest(canonical), operations: fields.operations.map(hashOperation) };
}
