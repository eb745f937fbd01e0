import { findSecretHandles } from '../language/template.js';
import type { ActionDescription } from '../../gate/contract/action-type.js';

/** A literal, complete scheme and host, so that a template after them cannot become part of them. */
export const LITERAL_ORIGIN = /^https?:\/\/[^/?#\\@{}\s\p{Cc}]+(?:[/?#]|$)/iu;

/**
 * Returns true if an action would send a secret to an address whose scheme or host comes from a template: an event must not
 * choose where a secret goes. `params` as stored.
 */
export function hasTemplatedOrigin({ secrets, needs = [] }: ActionDescription, params: Record<string, unknown>): boolean {
  if (secrets !== true || (needs.length === 0 && findSecretHandles(params).length === 0)) return false;
  return !LITERAL_ORIGIN.test(String(params['url']));
}
