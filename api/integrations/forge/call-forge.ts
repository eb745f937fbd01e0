import { z } from 'zod';
import type { Errand, OutboundAction, Sent } from '../../automations/actions/action-type.js';
import type { Config } from '../../core/config.js';
import type { OutboundAnswer } from '../../core/outbound/send-request.js';
import { callService, jsonOf } from '../call-service.js';

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
): Promise<OutboundAnswer> {
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
const markOf = ({ key }: Errand): string => `<!-- assent ${key} -->`;
export const marked = (errand: Errand, text: string): string => `${text}\n\n${markOf(errand)}`;

const Made = z.object({ html_url: z.string(), number: z.number().optional(), id: z.number(), body: z.string().nullish() });
export type Made = z.output<typeof Made>;

/** Before the first attempt, by clocks that may differ. */
const MARGIN_MS = 300_000;

/**
 * What an earlier attempt made, whose answer was lost; undefined when there is nothing. `path` lists what was written of late.
 * @throws OutboundFailure
 */
export async function findMade(errand: Errand, token: string, path: string): Promise<Made | undefined> {
  if (errand.attempt === 1) return undefined;
  const since = new Date(errand.firstAt.getTime() - MARGIN_MS).toISOString();
  const address = `${path}${path.includes('?') ? '&' : '?'}since=${since}&per_page=100`;
  const list = z.array(Made).safeParse(jsonOf(await callForge(errand.services.config, token, 'GET', address)));
  return list.data?.find(({ body }) => body?.includes(markOf(errand)));
}

/** The answer to a POST, as a run's record shows it. */
export function outcomeOf(answer: OutboundAnswer, show: (made: Made) => Record<string, unknown>): Sent {
  const { status, body, retryAfterMs } = answer;
  const made = Made.safeParse(jsonOf(answer));
  if (status === 201 && made.success) return { output: { status, ...show(made.data) } };
  const isPassing = status === 429 || status >= 500 || (status === 403 && retryAfterMs !== null);
  const code = status === 401 ? 'integration_disconnected' : 'http_status';
  return {
    output: { status, body },
    failure: { code, message: `The forge answered ${status}`, isPassing, waitMs: retryAfterMs },
  };
}
