import { z } from 'zod';
import { ActionRefused } from '../../actions/action-refused.js';
import type { OutboundContext, OutboundAction, OutboundResult } from '../../actions/action-type.js';
import type { Config } from '../../core/config.js';
import { OutboundFailure } from '../../core/http-client/failure.js';
import type { OutboundResponse } from '../../core/http-client/send-request.js';
import { callService, isAway, jsonOf, noAnswer } from '../call-service.js';

/** `owner/name`, and no step elsewhere. */
export const Repository = z
  .string()
  .max(200)
  .regex(/^(?!\.{1,2}\/)[\w.-]+\/(?!\.{1,2}$)[\w.-]+$/, 'Takes owner/name')
  .meta({ example: 'acme/rocket' });

/** What the connection of whoever writes issues and comments must allow. */
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

/** Names the effect in the text itself, unseen: the forge knows no key by which it would recognise a repeat. */
const markOf = ({ key }: OutboundContext): string => `<!-- assent ${key} -->`;
export const marked = (errand: OutboundContext, text: string): string => `${text}\n\n${markOf(errand)}`;

const Made = z.object({ html_url: z.string(), number: z.number().optional(), id: z.number(), body: z.string().nullish() });
export type Made = z.output<typeof Made>;

/** Before the first attempt, by clocks that may differ. */
const MARGIN_MS = 300_000;
/** Entries of a page, the most that GitHub gives. */
const PAGE = 100;
/** Pages are begun for so long, ms: the attempt is to end in its time (workflows/automation-run.ts). */
const LOOK_UP_MS = 10_000;
const DISCONNECTED = 'integration_disconnected';

/**
 * What an earlier attempt made, whose answer was lost; undefined when there is nothing, which only whole lists can say. `path` lists what
 * was written of late.
 * @throws OutboundFailure the forge does not say now: nothing may be written yet | ActionRefused it does not take the token
 */
export async function findMade(errand: OutboundContext, token: string, path: string): Promise<Made | undefined> {
  if (errand.attempt === 1) return undefined;
  const since = new Date(errand.firstAt.getTime() - MARGIN_MS).toISOString();
  const address = `${path}${path.includes('?') ? '&' : '?'}since=${since}&per_page=${PAGE}`;
  const until = performance.now() + LOOK_UP_MS;
  for (let page = 1; performance.now() < until; page += 1) {
    const answer = await callForge(errand.services.config, token, 'GET', `${address}&page=${page}`);
    if (answer.status === 401) throw new ActionRefused({ code: DISCONNECTED, message: 'The forge answered 401' });
    const list = z.array(Made).safeParse(jsonOf(answer));
    if (answer.status !== 200 || !list.success) throw noAnswer(answer);
    const made = list.data.find(({ body }) => body?.includes(markOf(errand)));
    if (made || list.data.length < PAGE) return made;
  }
  throw new OutboundFailure('timeout');
}

/** The answer to a POST, as a run's record shows it. */
export function outcomeOf(answer: OutboundResponse, show: (made: Made) => Record<string, unknown>): OutboundResult {
  const { status, body, retryAfterMs } = answer;
  const made = Made.safeParse(jsonOf(answer));
  if (status === 201 && made.success) return { output: { status, ...show(made.data) } };
  const isRetryable = isAway(answer);
  const code = status === 401 ? DISCONNECTED : 'http_status';
  return {
    output: { status, body },
    failure: { code, message: `The forge answered ${status}`, isRetryable, waitMs: retryAfterMs },
  };
}
