import { createHash, randomBytes } from 'node:crypto';

/** Begins the token of an address; no other credential begins like it. */
const PREFIX = 'svc_hook_';
const TOKEN_BYTES = 32;

/** Returns a new token of an address. */
export const newHookToken = (): string => `${PREFIX}${randomBytes(TOKEN_BYTES).toString('base64url')}`;

/** Returns the SHA-256 under which a token, or the key of a call, is stored and looked up. */
export const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();
