import type { Notice } from '../page.js';

const MAX_NOTICE_LENGTH = 600;

export const packNotice = ({ kind, text, at, redoes }: Notice): string =>
  Buffer.from(JSON.stringify({ kind, text: text.slice(0, MAX_NOTICE_LENGTH), at, redoes })).toString('base64url');

/** Reads the notice for this page from its cookie. The cookie is untrusted, so the notice is only shown as text. */
export function unpackNotice(packed: string | undefined): Notice | undefined {
  if (!packed) return undefined;
  try {
    const { kind, text, at, redoes } = JSON.parse(Buffer.from(packed, 'base64url').toString('utf8')) as Partial<Notice>;
    if (typeof text !== 'string') return undefined;
    const place = typeof at === 'string' ? { at } : {};
    return {
      kind: kind === 'good' ? 'good' : 'bad',
      text: text.slice(0, MAX_NOTICE_LENGTH),
      ...place,
      ...(redoes === true && { redoes }),
    };
  } catch {
    return undefined;
  }
}
