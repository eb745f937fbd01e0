import { findSecretHandles } from '../language/template.js';
import { outboundTypes } from './registry.js';

/** Returns the names of the secrets that these actions refer to or need, each once. */
export function secretHandles(actions: readonly { type: string; params?: unknown }[]): string[] {
  const named = findSecretHandles(actions.map(({ params }) => params));
  const needed = actions.flatMap(({ type }) => outboundTypes()[type]?.needs ?? []);
  return [...new Set([...named, ...needed])];
}

/** Returns the action types that need the secret without naming it. */
export const typesNeeding = (secret: string): string[] =>
  Object.values(outboundTypes()).flatMap(({ type, needs }) => (needs?.includes(secret) ? [type] : []));
