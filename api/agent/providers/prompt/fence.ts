import { randomBytes } from 'node:crypto';
import { withoutInvisible } from '../../../core/validation/invisible.js';

/** Returns a word that no text can know in advance. */
export const newNonce = (): string => randomBytes(9).toString('base64url');

/** Returns the beginning of a text for a prompt, and whether it was cut. */
export function cutText(text: string, max: number): { text: string; isCut: boolean } {
  const clean = withoutInvisible(text).trim();
  return clean.length <= max ? { text: clean, isCut: false } : { text: clean.slice(0, max).toWellFormed(), isCut: true };
}

/** Returns JSON in which no text can open or close a tag. */
export const dataJson = (value: unknown): string => JSON.stringify(value).replaceAll('<', '\\u003c').replaceAll('>', '\\u003e');

/** Returns a block of data: the nonce and the escapes keep its texts inside it. */
export const fenced = (nonce: string, json: string): string => `<data n=${nonce}>\n${json}\n</data>`;
