import { findSecretHandles } from '../automations/language/template.js';
import type { ActionDescription } from './action-type.js';

/** Scheme and host written out and ended, so that nothing a template fills in behind them can become a part of them. */
const LITERAL_ORIGIN = /^https?:\/\/[^/?#\\@{}\s\p{Cc}]+(?:[/?#]|$)/iu;

/**
 * True for an action that sends a secret to an address whose scheme and host come from a template: an event must not say where a
 * secret goes. `params` as they are stored.
 */
export function hasTemplatedOrigin({ secrets, needs = [] }: ActionDescription, params: Record<string, unknown>): boolean {
  if (!secrets || (needs.length === 0 && findSecretHandles(params).length === 0)) return false;
  return !LITERAL_ORIGIN.test(String(params['url']));
}
