import { findSecretHandles } from '../automations/language/template.js';
import { outboundTypes } from './registry.js';

/** The names of the secrets that these actions refer to, or need without naming them; each once. Source: decision F12. */
export function secretHandles(actions: readonly { type: string; params?: unknown }[]): string[] {
  const named = findSecretHandles(actions.map(({ params }) => params));
  const needed = actions.flatMap(({ type }) => outboundTypes()[type]?.needs ?? []);
  return [...new Set([...named, ...needed])];
}

/** The types of actions that need the secret without naming it. */
export const typesNeeding = (secret: string): string[] =>
  Object.values(outboundTypes()).flatMap(({ type, needs }) => (needs?.includes(secret) ? [type] : []));
