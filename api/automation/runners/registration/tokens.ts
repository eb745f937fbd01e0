import { createHash } from 'node:crypto';

/** Prefixes of the tokens of this feature; no other credential begins like them. */
export const REGISTRATION_PREFIX = 'svc_reg_';
export const RUNNER_PREFIX = 'svc_run_';

/** Returns the SHA-256 under which a token is stored and looked up. */
export const hashOfToken = (token: string): Buffer => createHash('sha256').update(token).digest();
