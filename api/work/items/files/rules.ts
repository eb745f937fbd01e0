/** Maximum bytes of a file. */
export const MAX_FILE_BYTES = 26_214_400;
/** Maximum code points of a name. */
const MAX_NAME_LENGTH = 255;
/** Longest file extension that survives when a name is cut. */
const MAX_EXTENSION_LENGTH = 20;

const DEFAULT_TYPE = 'application/octet-stream';
/** `type/subtype` of RFC 6838. */
const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,62}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,62}$/;

/**
 * Returns the name to store: the last path segment, without control characters, line separators and marks that reverse the direction of
 * text. At most 255 characters; a longer one keeps its extension. Empty if nothing is left (docs/decisions/work.md#file-names).
 */
export function cleanName(given: string): string {
  const segment = given.split(/[\\/]/).at(-1) as string;
  const name = segment
    .toWellFormed()
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, '')
    .trim();
  if (/^[\p{Cf}\p{Z}]*$/u.test(name) || name === '.' || name === '..') return '';
  const characters = Array.from(name);
  if (characters.length <= MAX_NAME_LENGTH) return name;
  const dot = characters.lastIndexOf('.');
  const extension = dot > 0 && characters.length - dot <= MAX_EXTENSION_LENGTH ? characters.slice(dot) : [];
  return [...characters.slice(0, MAX_NAME_LENGTH - extension.length), ...extension].join('');
}

/** Returns the declared media type, or the type of unknown bytes if it is not well-formed. */
export const cleanType = (given: string): string => (MEDIA_TYPE.test(given) ? given : DEFAULT_TYPE);

/** First bytes of common types, at an offset. */
const SIGNATURES: [type: string, offset: number, bytes: string][] = [
  ['image/png', 0, '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', 0, '\xff\xd8\xff'],
  ['image/gif', 0, 'GIF8'],
  ['image/webp', 8, 'WEBP'],
  ['image/avif', 4, 'ftypavif'],
  ['application/pdf', 0, '%PDF-'],
  ['application/zip', 0, 'PK\x03\x04'],
  ['application/gzip', 0, '\x1f\x8b'],
  ['video/mp4', 4, 'ftyp'],
  ['application/vnd.microsoft.portable-executable', 0, 'MZ'],
  ['application/x-elf', 0, '\x7fELF'],
];
/** Types that pages show as pictures. Each is of pixels alone: nothing in it can run, unlike in SVG. */
const PICTURE_TYPES: readonly string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif'];

/** Returns whether pages show a file as a picture, by the type that its bytes show. */
export const isPicture = (sniffedType: string | null): sniffedType is string =>
  sniffedType !== null && PICTURE_TYPES.includes(sniffedType);

/** Bytes that `sniffType` looks at. */
export const SNIFFED_BYTES = 512;

/** Returns the media type that the first bytes show; null if they are of no common type. */
export function sniffType(head: Uint8Array): string | null {
  const text = Buffer.from(head.subarray(0, SNIFFED_BYTES)).toString('latin1');
  const found = SIGNATURES.find(([, offset, bytes]) => text.startsWith(bytes, offset));
  if (found) return found[0];
  const start = text.trimStart().toLowerCase();
  if (/^<(!doctype html|html|head|body|script)\b/.test(start)) return 'text/html';
  if (/^(<\?xml[^>]*>\s*)?(<!--[\s\S]*?-->\s*)?(<!doctype svg[^>]*>\s*)?<svg\b/.test(start)) return 'image/svg+xml';
  return null;
}
