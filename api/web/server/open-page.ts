import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import type { User } from '../../identity/auth/schema.js';
import { checkCallerKind } from '../../platform/access/access.js';
import type { Context } from '../../platform/context.js';
import { type DomainError, forbidden, invalidFields } from '../../platform/errors.js';
import { toDomainError } from '../../platform/database/database-errors.js';
import type { ApprovalPage } from '../../automation/runs/approvals/list-approvals.js';
import type { RateLimiter } from '../../platform/endpoint/rate-limit.js';
import type { ChangedSince, PageResult, Page, FormError, PageRequest, View } from '../page.js';
import { readCookie } from './cookies.js';
import { CSRF_FIELD, isOurForm, isOurSite } from './csrf.js';
import { keptText, readKeptText } from './kept-text.js';
import { submitOnce } from './submit-once.js';
import { type IncomingFile, readUpload, type Upload } from '../../platform/endpoint/read-upload.js';
import { type Fields, readForm } from './read-form.js';
import { HOME, safePath } from './safe-path.js';
import type { BrowserSession } from './session.js';
import { unpackStep } from './sign-in-step.js';
import { FORM_MESSAGES } from '../wording/form-messages.js';
import { capitalize, plainMessage } from '../wording/plain-message.js';

export interface PageInput {
  limit: RateLimiter;
  request: IncomingMessage;
  session: BrowserSession;
  /** Requested path and query. */
  url: string;
  params: Record<string, string>;
  query: Record<string, unknown>;
  /** Context for operations; the actor is the user, or the system for a visitor. */
  ctx: Context;
  me: User | null;
  pending: ApprovalPage;
}

/** Query of a page's automatic refresh. */
const LIVE = /[?&]live$/;

/** Returns the sign-in page that leads back to the wanted page. */
const signInPath = (wanted: string): string => {
  const next = safePath(wanted);
  return next === HOME ? '/app/sign-in' : `/app/sign-in?next=${encodeURIComponent(next)}`;
};

function parse(schema: z.ZodType | undefined, value: unknown): unknown {
  const result = (schema ?? z.unknown()).safeParse(value, FORM_MESSAGES);
  if (result.success) return result.data;
  throw invalidFields(
    result.error.issues.map((issue) => ({ field: issue.path.join('.'), message: capitalize(issue.message), type: issue.code })),
  );
}

/** A message that begins with a place of a definition: the builder takes the place from it, and shows the rest beside its field. */
const PLACED = /^(?:actions\[\d+\]|(?:condition|[a-z]+_[a-z_]+): )/;

/** Converts an error to a message for the form, in the words of its page. */
function toProblem({ status, message, detail, extra }: DomainError, me: User | null): FormError {
  const word = (text: string): string => capitalize(plainMessage(text, me));
  // The message of a 429 does not say how long to wait; its detail does.
  if (typeof detail === 'string') {
    const since = extra['changed_since'] as ChangedSince | undefined;
    const said = PLACED.test(message) ? message : word(status === 429 ? detail : message);
    return { status, message: said, fields: {}, ...(since && { changedSince: since }) };
  }
  const fields = Object.fromEntries(detail.errors.map((error) => [error.field.replace(/^body\./, ''), word(error.message)]));
  return { status, message: 'Check the highlighted fields.', fields };
}

/** Status codes shown beside the form; all others get an error page. */
const BESIDE_THE_FORM = new Set([400, 401, 402, 403, 404, 409, 410, 413, 415, 422, 429, 503]);

/** Returns the page that a form came from, if it is one of this app. */
function sourceOf({ headers }: IncomingMessage): string {
  const referer = headers.referer ?? '';
  const from = URL.canParse(referer) ? new URL(referer) : undefined;
  return safePath(from && from.host === headers.host ? `${from.pathname}${from.search}` : HOME);
}

/** Says that a form arrived without a session, and shows what was typed. */
async function showSignedOut({ ctx, request, url }: PageInput): Promise<View> {
  const kept = await readKeptText(ctx.config, request, url);
  const text = 'Your session expired. Nothing was changed; sign in and try again.';
  const data = { heading: 'You are signed out', text, kept, to: signInPath(sourceOf(request)), label: 'Sign in' };
  return { view: 'error-expired', title: 'Signed out', data, status: 401 };
}

/**
 * Says that a form is from before signing in or out, and shows what was typed; undefined for one of this session.
 * @throws PERMISSION_DENIED the form came from another site
 */
function checkForm({ ctx, request, session, url }: PageInput, given: Fields): View | undefined {
  if (!isOurSite(ctx.config, request)) throw forbidden('This form came from another site');
  if (isOurForm(ctx.config, session.binding, given[CSRF_FIELD])) return undefined;
  const [kept, to] = [keptText(url, given), sourceOf(request)];
  const data = { heading: 'Form expired', text: 'Form expired. Reload and try again.', kept, to, label: 'Back to the page' };
  return { view: 'error-expired', title: 'Form expired', data, status: 403 };
}

/** Returns what a caller without access gets instead. @throws PERMISSION_DENIED */
async function checkAccess({ access, method }: Page, arrival: PageInput): Promise<PageResult | undefined> {
  const { url, session } = arrival;
  const { actor } = session;
  if (access === 'visitor') return actor ? { to: HOME } : undefined;
  if (access === 'anyone') return undefined;
  if (!actor) return method === 'get' ? { to: signInPath(url.replace(LIVE, '')) } : showSignedOut(arrival);
  checkCallerKind(access, actor);
  return undefined;
}

async function handlePage(
  page: Page,
  { limit, ctx, url, request }: PageInput,
  visit: PageRequest,
  given: Fields,
): Promise<PageResult> {
  try {
    const sent = { page, url, headers: request.headers };
    return await submitOnce({ ...visit, form: given }, sent, async () => {
      if (page.limit) await limit(page.limit, { ip: ctx.ip, userId: visit.me?.user_id ?? null });
      return page.handle({ ...visit, form: parse(page.form, given) });
    });
  } catch (thrown) {
    return showRefused(page, { ...visit, form: given }, thrown);
  }
}

/** Shows the form again with its error. @throws `thrown`, if the page has no such form or it is no error of the form */
async function showRefused(page: Page, visit: PageRequest<unknown, unknown, Fields>, thrown: unknown): Promise<PageResult> {
  const error = toDomainError(thrown);
  if (!page.onError || !BESIDE_THE_FORM.has(error.status)) throw thrown;
  const answer = await page.onError(visit, toProblem(error, visit.me));
  return 'view' in answer ? { status: error.status, ...answer } : answer;
}

/**
 * Handles one request for a page: access, CSRF check, then the page's handler.
 * @throws DomainError, shown as an error page, and any error of the operations
 */
export async function openPage(page: Page, arrival: PageInput): Promise<PageResult> {
  const { request } = arrival;
  const denied = await checkAccess(page, arrival);
  if (denied) return denied;
  if (page.method === 'get') return answer(page, arrival, {});
  // A form of another kind brings no file; the handler says so after its token was checked.
  const isMultipart = /^multipart\/form-data\b/i.test(request.headers['content-type'] ?? '');
  if (page.fileBytes === undefined || !isMultipart) return answer(page, arrival, await readForm(request, page.formBytes));
  return answerUpload(page, page.fileBytes, arrival);
}

/** Reads a form with a file up to the file, and calls the page's handler. @throws as `openPage` */
async function answerUpload(page: Page, maxBytes: number, arrival: PageInput): Promise<PageResult> {
  const { ctx, request } = arrival;
  let upload: Upload;
  try {
    upload = await readUpload(request, { maxBytes, timeoutMs: ctx.config.FILE_UPLOAD_SECONDS * 1000 });
  } catch (thrown) {
    // The form's token was not read: nothing happens but that this page is shown.
    if (!isOurSite(ctx.config, request)) throw thrown;
    return showRefused(page, visitOf(page, arrival, {}), thrown);
  }
  try {
    return await answer(page, arrival, upload.fields, upload.file);
  } finally {
    upload.close();
  }
}

function visitOf(page: Page, arrival: PageInput, form: Fields): PageRequest<unknown, unknown, Fields> {
  const { ctx, me, pending, request, session } = arrival;
  return {
    ctx,
    me: me && { ...me, current_team_id: readCookie(ctx.config, request, 'team') },
    pending,
    step: unpackStep(ctx.config, session.binding, readCookie(ctx.config, request, 'step')),
    deviceToken: readCookie(ctx.config, request, 'device'),
    params: parse(page.params, arrival.params),
    query: parse(page.query, arrival.query),
    form,
  };
}

/** Checks the form, and calls the page's handler. @throws as `openPage` */
async function answer(page: Page, arrival: PageInput, given: Fields, file?: IncomingFile): Promise<PageResult> {
  const expired = page.method === 'post' ? checkForm(arrival, given) : undefined;
  if (expired) return expired;
  return handlePage(page, arrival, { ...visitOf(page, arrival, given), ...(file && { file }) }, given);
}
