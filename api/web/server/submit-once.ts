import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { holdKey } from '../../platform/database/hold-key.js';
import {
  claimKey,
  finishKey,
  type IdempotentRequest,
  readKey,
  type StoredKey,
} from '../../platform/database/idempotency-keys.js';
import type { Context } from '../../platform/context.js';
import { conflict } from '../../platform/errors.js';
import type { Page, PageRequest, PageResult, Redirect } from '../page.js';
import { CSRF_FIELD, readPageKey } from './csrf.js';
import type { Fields } from './read-form.js';
import { UNDO_MINUTES } from './undo.js';

/** A second click waits this long for the answer to the first one, ms. */
const MAX_WAIT_MS = 10_000;
const POLL_MS = 200;
const SEE_OTHER = 303;
const NO_ANSWER = 200;

/** Where a form was sent, with the headers of the request. */
interface Sent {
  page: Page;
  url: string;
  headers: IncomingHttpHeaders;
}

const BOUNDARY = /;\s*boundary=(?:"([^"]+)"|([^";\s]+))/i;

/**
 * Bytes of a form with a file, without what separates its parts: a browser makes another separator for each request, and the length differs too in some.
 * @param fields number of fields before the file
 */
function lengthOf(headers: IncomingHttpHeaders, fields: number): number {
  const [, quoted, plain = ''] = BOUNDARY.exec(headers['content-type'] ?? '') ?? [];
  const separators = fields + 2;
  return Number(headers['content-length'] ?? 0) - separators * (quoted ?? plain).length;
}

/**
 * Returns the key of a form: what one rendered page sends to one address with the same fields is one submission. Undefined for a visitor, and for a
 * form from before its page had keys. A file is known by its name and the length of the form, before it is read. The digest is keyed: a form may hold a password, which could be guessed from a plain one.
 */
function keyOf(
  { ctx, form, file }: PageRequest<unknown, unknown, Fields>,
  { url, headers }: Sent,
): IdempotentRequest | undefined {
  const { [CSRF_FIELD]: token, ...fields } = form;
  const key = readPageKey(token);
  if (key === undefined || ctx.actor.type === 'system') return undefined;
  const address = createHmac('sha256', ctx.config.JWT_SECRET)
    .update(
      `form fields\0${JSON.stringify([url, fields, ...(file ? [file.filename, lengthOf(headers, Object.keys(form).length)] : [])])}`,
    )
    .digest();
  return { userId: ctx.actor.userId, key, address, fingerprint: address, requestId: ctx.requestId };
}

/** A redirect as it is kept, and when, ms since 1970. */
interface KeptRedirect {
  to: string;
  notice: Redirect['notice'] | undefined;
  at: number;
}

/** Redirects are kept, unless they change who is signed in or say that nothing was done. */
function keep(result: PageResult): { status: number; body: string } | null {
  if (!('to' in result) || result.notice?.kind === 'bad') return null;
  const { to, notice, ...session } = result;
  const kept: KeptRedirect = { to, notice, at: Date.now() };
  return Object.keys(session).length > 0 ? null : { status: SEE_OTHER, body: JSON.stringify(kept) };
}

const sentAlready = () => conflict('This form was sent already. Reload the page to see what came of it.');

/**
 * Returns the first answer; once its offer to undo has expired, without that.
 * @throws RESOURCE_CONFLICT the answer was not kept, such as a page with a new secret, or was lost
 */
function repeat({ body }: StoredKey): Redirect {
  if (body === null) throw sentAlready();
  const { to, notice, at } = JSON.parse(body) as KeptRedirect;
  const isOld = Date.now() - at > UNDO_MINUTES * 60_000;
  return { to, ...(notice && { notice: isOld ? { ...notice, undo: undefined } : notice }) };
}

/** Calls the handler of a form whose key is claimed. */
async function perform(ctx: Context, use: IdempotentRequest, submit: () => Promise<PageResult>): Promise<PageResult> {
  let kept: ReturnType<typeof keep> = null;
  try {
    return await holdKey(ctx, use, submit, (result) => (kept = keep(result)));
  } finally {
    // The key of committed work was not released: it is finished without an answer.
    if (kept === null) {
      await finishKey(ctx.db, use, NO_ANSWER, null).catch((err: unknown) => ctx.log.warn({ err }, 'form key not settled'));
    }
  }
}

/**
 * Calls the handler of a form at most once for each time that its page was rendered: a second click or a reload gets the redirect of the first
 * submission. One that was refused, or changed nothing, may be sent again.
 * @throws what `submit` throws; RESOURCE_CONFLICT the first one takes too long, or its answer cannot be repeated
 */
export async function submitOnce(
  visit: PageRequest<unknown, unknown, Fields>,
  sent: Sent,
  submit: () => Promise<PageResult>,
): Promise<PageResult> {
  const { ctx } = visit;
  const use = sent.page.method === 'post' ? keyOf(visit, sent) : undefined;
  if (!use) return submit();
  const end = Date.now() + MAX_WAIT_MS;
  while (Date.now() < end) {
    if (await claimKey(ctx.db, use)) return perform(ctx, use, submit);
    const first = await readKey(ctx.db, use);
    if (first && (first.status !== null || first.lost)) return repeat(first);
    await pause(POLL_MS);
  }
  throw sentAlready();
}
