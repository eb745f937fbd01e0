import type { Config } from '../../core/config.js';
import { encryptField, decryptField } from '../../core/crypto/encryption.js';

/**
 * How far a sign-in or sign-up has come. The answer to a challenge takes the password once more, because a challenge has no handle
 * (A3); so that nobody types it twice it goes with the browser for ten minutes: encrypted, out of reach of scripts, of use in this
 * browser only, and gone with the sign-in.
 */
export type Step =
  | { kind: 'two-factor' | 'mailed-code'; email: string; password: string; next: string }
  | { kind: 'sign-up'; email: string; name: string }
  | { kind: 'reset'; email: string };

const LIFE_MS = 10 * 60_000;

/** `binding` is what the forms of this browser are bound to: in another browser it does not open. */
export const packStep = (config: Config, binding: string, step: Step): string =>
  encryptField(config, 'web-step', binding, JSON.stringify({ step, until: Date.now() + LIFE_MS })).toString('base64url');

/** Null where there is none, or it is too old, or somebody else's. */
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
