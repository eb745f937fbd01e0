import type { FoundFile } from './get-file.js';
import { cleanName } from './rules.js';
import type { ByteRange } from './store/object-store.js';

/** Characters that may stand in an extended value (RFC 8187); encodeURIComponent leaves some others. */
const extended = (text: string): string =>
  encodeURIComponent(text).replace(/['()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

/** Returns Content-Disposition (RFC 6266): always an attachment, with a plain name for old clients. */
export function contentDisposition(title: string): string {
  const name = cleanName(title) || 'file';
  const plain = name.replace(/[^\x20-\x7e]|["%\\]/gu, '_');
  return `attachment; filename="${plain}"; filename*=UTF-8''${extended(name)}`;
}

/**
 * Parses a Range header with one range of bytes. Undefined: send everything, because there is no header, it is not valid, or it names
 * several ranges. Null: no byte of the file is in the range.
 */
export function rangeOf(header: string | undefined, size: number): ByteRange | null | undefined {
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? [];
  if (from === '' && to === '') return undefined;
  if (from === '') return Number(to) === 0 || size === 0 ? null : { first: Math.max(0, size - Number(to)), last: size - 1 };
  if (to !== '' && Number(to) < Number(from)) return undefined;
  if (Number(from) >= size) return null;
  return { first: Number(from), last: to === '' ? size - 1 : Math.min(Number(to), size - 1) };
}

/** Headers of every download. Nothing in the file may run, wherever it is opened. */
export const downloadHeaders = ({ item, stored }: FoundFile) => ({
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
  'Content-Type': stored.content_type,
  'Content-Disposition': contentDisposition(item.title),
});
