import { canonicalJson, computeHash } from './canonical.js';

/** What a program wants to do: exactly what a person approves and the program then executes. */
export interface Operation {
  /** Where it acts, such as `payments`. */
  system: string;
  name: string;
  target: string | null;
  arguments: Record<string, unknown>;
  /** Only of a tool of an MCP server: SHA-256 of its pinned definition, in hexadecimal digits. */
  tool_hash?: string;
}

/** An operation, the canonical text of it, and the text's hash of 32 bytes. */
interface HashedOperation {
  text: string;
  hash: Buffer;
}

/**
 * Returns the text that a receipt's verifier hashes, and its hash. Members beside those of an operation, such as its summary or risk, are in neither.
 * @throws TypeError for arguments that are not plain JSON (canonical.ts)
 */
export function hashOperation({ system, name, target, arguments: given, tool_hash }: Operation): HashedOperation {
  const text = canonicalJson({ system, name, target, arguments: given, tool_hash });
  return { text, hash: computeHash('assent.operation.v1\n', text) };
}

/** Returns the hash of a change request's canonical text, 32 bytes. */
export const hashRequest = (canonical: string): Buffer => computeHash('assent.request.v1\n', canonical);
