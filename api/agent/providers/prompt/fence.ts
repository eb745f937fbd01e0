import { randomBytes } from 'node:crypto';
import { withoutInvisible } from '../../../platform/validation/invisible.js';

/** Returns a word that no text can know in advance. */
export const newNonce = (): string => randomBytes(9).toString('base64url');

/** Returns the beginning of a text for a prompt, and whether it was cut. */
export function cutText(text: string, max: number): { text: string; isCut: boolean } {
  // Only the part that may be shown is cleaned; a text with more invisible than visible characters loses some of these.
  const read = text.slice(0, 2 * max + 200);
  const clean = withoutInvisible(read).trim();
  if (clean.length <= max) return { text: clean, isCut: read.length < text.length };
  return { text: clean.slice(0, max).toWellFormed(), isCut: true };
}

/** Returns JSON in which no text can open or close a tag. */
export const dataJson = (value: unknown): string => JSON.stringify(value).replaceAll('<', '\\u003c').replaceAll('>', '\\u003e');

/** Returns a block of data: the nonce and the escapes keep its texts inside it. */
export const fenced = (nonce: string, json: string): string => `<data n=${nonce}>\n${json}\n</data>`;
