import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import type { User } from '../../identity/auth/schema.js';
import { checkCallerKind } from '../../platform/access/access.js';
import type { UserActor } from '../../platform/access/actor.js';
import type { Context } from '../../platform/context.js';
import { type DomainError, forbidden, invalidFields } from '../../platform/errors.js';
import { toDomainError } from '../../platform/database/database-errors.js';
import type { ApprovalPage } from '../../automation/runs/approvals/list-approvals.js';
import type { RateLimiter } from '../../platform/endpoint/rate-limit.js';
import type { ChangedSince, PageResult, Page, FormError, PageRequest } from '../page.js';
import { readCookie } from './cookies.js';
import { CSRF_FIELD, isOurForm, isOurSite } from './csrf.js';
import { submitOnce } from './submit-once.js';
import { type IncomingFile, readUpload } from '../../platform/endpoint/read-upload.js';
import { type Fields, readForm } from './read-form.js';
import { HOME, safePath } from './safe-path.js';
import type { BrowserSession } from './session.js';
import { unpackStep } from './sign-in-step.js';

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

/** Messages beside a form's field, where the API's would repeat the label. */
const FORM_MESSAGES = {
  error(issue: z.core.$ZodRawIssue): string {
    const origin = 'origin' in issue ? issue.origin : undefined;
    const unit = origin === 'string' ? ' characters' : '';
    if (issue.code === 'too_small' && (issue.minimum > 1 || origin === 'number' || origin === 'int'))
      return `At least ${issue.minimum}${unit}`;
    if (issue.code === 'too_big') return `At most ${issue.maximum}${unit}`;
    return issue.code === 'too_small' || issue.code === 'invalid_type' ? 'Required' : 'Invalid value';
  },
};

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function parse(schema: z.ZodType | undefined, value: unknown): unknown {
  const result = (schema ?? z.unknown()).safeParse(value, FORM_MESSAGES);
  if (result.success) return result.data;
  throw invalidFields(
    result.error.issues.map((issue) => ({ field: issue.path.join('.'), message: capitalize(issue.message), type: issue.code })),
  );
}

/** Converts an error to a message for the form. */
function toProblem({ status, message, detail, extra }: DomainError): FormError {
  // The message of a 429 does not say how long to wait; its detail does.
  if (typeof detail === 'string') {
    const since = extra['changed_since'] as ChangedSince | undefined;
    return { status, message: status === 429 ? detail : message, fields: {}, ...(since && { changedSince: since }) };
  }
  const fields = Object.fromEntries(
    detail.errors.map((error) => [error.field.replace(/^body\./, ''), capitalize(error.message)]),
  );
  return { status, message: 'Check the highlighted fields.', fields };
}

/** Status codes shown beside the form; all others get an error page. */
const BESIDE_THE_FORM = new Set([400, 401, 402, 403, 404, 409, 410, 413, 415, 422, 429, 503]);

/** @throws PERMISSION_DENIED the form came from another site, or from before signing in or out */
function checkForm({ ctx, request, session }: PageInput, given: Fields): void {
  if (!isOurSite(ctx.config, request)) throw forbidden('This form came from another site');
  if (isOurForm(ctx.config, session.binding, given[CSRF_FIELD])) return;
  throw forbidden('Form expired. Reload and try again.');
}

/** Returns the redirect for a user without access. @throws PERMISSION_DENIED */
function checkAccess({ access, method }: Page, actor: UserActor | null, { url, request }: PageInput): PageResult | undefined {
  if (access === 'visitor') return actor ? { to: HOME } : undefined;
  if (access === 'anyone') return undefined;
  if (!actor) {
    const referer = request.headers.referer ?? '';
    const from = URL.canParse(referer) ? new URL(referer) : undefined;
    if (method === 'get') return { to: signInPath(url.replace(LIVE, '')) };
    const back = signInPath(from && from.host === request.headers.host ? `${from.pathname}${from.search}` : HOME);
    return { view: 'error-expired', title: 'Signed out', data: { signIn: back }, status: 401 };
  }
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
    const sent = { page, url, length: request.headers['content-length'] };
    return await submitOnce({ ...visit, form: given }, sent, async () => {
      if (page.limit) await limit(page.limit, { ip: ctx.ip, userId: visit.me?.user_id ?? null });
      return page.handle({ ...visit, form: parse(page.form, given) });
    });
  } catch (thrown) {
    const error = toDomainError(thrown);
    if (!page.onError || !BESIDE_THE_FORM.has(error.status)) throw thrown;
    const answer = await page.onError({ ...visit, form: given }, toProblem(error));
    return 'view' in answer ? { status: error.status, ...answer } : answer;
  }
}

/**
 * Handles one request for a page: access, CSRF check, then the page's handler.
 * @throws DomainError, shown as an error page, and any error of the operations
 */
export async function openPage(page: Page, arrival: PageInput): Promise<PageResult> {
  const { ctx, request, session } = arrival;
  const denied = checkAccess(page, session.actor, arrival);
  if (denied) return denied;
  if (page.method === 'get') return answer(page, arrival, {});
  // A form of another kind brings no file; the handler says so after its token was checked.
  const isMultipart = /^multipart\/form-data\b/i.test(request.headers['content-type'] ?? '');
  if (page.fileBytes === undefined || !isMultipart) return answer(page, arrival, await readForm(request, page.formBytes));
  const timeoutMs = ctx.config.FILE_UPLOAD_SECONDS * 1000;
  const upload = await readUpload(request, { maxBytes: page.fileBytes, timeoutMs });
  try {
    return await answer(page, arrival, upload.fields, upload.file);
  } finally {
    upload.close();
  }
}

/** Checks the form, and calls the page's handler. @throws as `openPage` */
function answer(page: Page, arrival: PageInput, given: Fields, file?: IncomingFile): Promise<PageResult> {
  const { ctx, me, pending, request, session } = arrival;
  if (page.method === 'post') checkForm(arrival, given);
  const visit: PageRequest = {
    ...(file && { file }),
    ctx,
    me,
    pending,
    step: unpackStep(ctx.config, session.binding, readCookie(ctx.config, request, 'step')),
    deviceToken: readCookie(ctx.config, request, 'device'),
    params: parse(page.params, arrival.params),
    query: parse(page.query, arrival.query),
    form: given,
  };
  return handlePage(page, arrival, visit, given);
}
