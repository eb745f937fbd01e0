import { z } from 'zod';
import { ActionRefused } from '../../../gate/contract/action-refused.js';
import type { OutboundContext, OutboundAction, OutboundResult } from '../../../gate/contract/action-type.js';
import type { Config } from '../../../platform/config.js';
import { OutboundFailure } from '../../../platform/http-client/failure.js';
import type { OutboundResponse } from '../../../platform/http-client/send-request.js';
import { callService, isAway, parseJson, noAnswer } from '../call-service.js';

/** `owner/name` without path traversal. */
export const Repository = z
  .string()
  .max(200)
  .regex(/^(?!\.{1,2}\/)[A-Za-z0-9_.-]+\/(?!\.{1,2}$)[A-Za-z0-9_.-]+$/, 'must be owner/name')
  .meta({ example: 'acme/rocket' });

/** The connection that writing issues and comments needs. */
export const NEEDS = { provider: 'forge', scopes: ['repo'] } as const satisfies OutboundAction['integration'];

export function callForge(
  config: Config,
  token: string,
  method: 'GET' | 'POST',
  path: string,
  body?: object,
): Promise<OutboundResponse> {
  return callService({
    method,
    url: `${config.FORGE_API_URL.replace(/\/$/, '')}${path}`,
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'application/vnd.github+json',
      'user-agent': 'Assent',
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    body: body && JSON.stringify(body),
  });
}

/** Marks the effect in the text itself, invisibly: the code host has no idempotency keys. */
const buildMark = ({ key }: OutboundContext): string => `<!-- assent ${key} -->`;
export const marked = (context: OutboundContext, text: string): string => `${text}\n\n${buildMark(context)}`;

const Made = z.object({ html_url: z.string(), number: z.number().optional(), id: z.number(), body: z.string().nullish() });
export type Made = z.output<typeof Made>;

/** Tolerance for clock differences before the first attempt. */
const MARGIN_MS = 300_000;
/** Entries per page, GitHub's maximum. */
const PAGE = 100;
/** Time in which pages may be requested, in ms: the attempt must end within its timeout (workflows/automation-run.ts). */
const LOOK_UP_MS = 10_000;
const DISCONNECTED = 'integration_disconnected';

/**
 * Finds what an earlier attempt created if its response was lost. Returns undefined if complete lists show nothing. `path` lists
 * recent entries.
 * @throws OutboundFailure the code host does not respond, so nothing may be written yet | ActionRefused it rejects the token
 */
export async function findMade(context: OutboundContext, token: string, path: string): Promise<Made | undefined> {
  if (context.attempt === 1) return undefined;
  const since = new Date(context.firstAt.getTime() - MARGIN_MS).toISOString();
  const address = `${path}${path.includes('?') ? '&' : '?'}since=${since}&per_page=${PAGE}`;
  const until = performance.now() + LOOK_UP_MS;
  for (let page = 1; performance.now() < until; page += 1) {
    const answer = await callForge(context.services.config, token, 'GET', `${address}&page=${page}`);
    if (answer.status === 401) throw new ActionRefused({ code: DISCONNECTED, message: 'The code host returned 401' });
    const list = z.array(Made).safeParse(parseJson(answer));
    if (answer.status !== 200 || !list.success) throw noAnswer(answer);
    const made = list.data.find(({ body }) => body?.includes(buildMark(context)));
    if (made || list.data.length < PAGE) return made;
  }
  throw new OutboundFailure('timeout');
}

/** Converts the response to a POST for the run's record. */
export function toOutcome(answer: OutboundResponse, show: (made: Made) => Record<string, unknown>): OutboundResult {
  const { status, body, retryAfterMs } = answer;
  const made = Made.safeParse(parseJson(answer));
  if (status === 201 && made.success) return { output: { status, ...show(made.data) } };
  const isRetryable = isAway(answer);
  const code = status === 401 ? DISCONNECTED : 'http_status';
  return {
    output: { status, body },
    failure: { code, message: `The code host returned ${status}`, isRetryable, waitMs: retryAfterMs },
  };
}
