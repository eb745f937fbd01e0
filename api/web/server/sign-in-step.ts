import type { Config } from '../../platform/config.js';
import { encryptField, decryptField } from '../../platform/crypto/encryption.js';

/**
 * State of a sign-in or sign-up. A challenge has no id, so its response needs the password again. To avoid typing it twice, the
 * browser keeps it for ten minutes: encrypted, unreadable for scripts, bound to this browser, deleted after sign-in.
 */
export type Step =
  | { kind: 'two-factor' | 'mailed-code'; email: string; password: string; next: string; timezone: string }
  | { kind: 'sign-up'; email: string; name: string; next: string }
  | { kind: 'reset'; email: string };

const LIFE_MS = 10 * 60_000;

/** Encrypts a step. `binding` is the CSRF binding of this browser; another browser cannot decrypt it. */
export const packStep = (config: Config, binding: string, step: Step): string =>
  encryptField(config, 'web-step', binding, JSON.stringify({ step, until: Date.now() + LIFE_MS })).toString('base64url');

/** Returns null for a missing, expired or foreign step. */
export function unpackStep(config: Config, binding: string, packed: string | undefined): Step | null {
  if (!packed) return null;
  try {
    const { step, until } = JSON.parse(decryptField(config, 'web-step', binding, Buffer.from(packed, 'base64url'))) as {
      step: Step;
      until: number;
    };
    return until > Date.now() ? step : null;
  } catch {
    return null;
  }
}
