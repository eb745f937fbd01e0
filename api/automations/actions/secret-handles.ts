import { findSecretHandles } from '../template.js';

/** The names of the secrets that these actions need, each once. Source: decision F12. */
export const secretHandles = (actions: readonly { type: string; params?: unknown }[]): string[] =>
  findSecretHandles(actions.map(({ params }) => params));
