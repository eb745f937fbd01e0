import { isAdmitted } from '../../../platform/access/access.js';
import { type Context, requireUser } from '../../../platform/context.js';
import type { LinkedItem } from '../../grammar/tokens.js';
import { ASKING } from '../../grammar/words.js';
import { mayReadTasks } from '../find-tasks.js';
import { findNamedProject } from './named-project.js';
import { countNumbers, findNumbered } from './numbered-tasks.js';

/** A question is answered about all work: the project that it names is linked to no use. */
const isAsked = (message: string): boolean =>
  message.trimEnd().endsWith('?') || ASKING.has(/^\s*(\S*)/.exec(message.toLowerCase())?.[1] ?? '');

/**
 * The one task that a first message is about, because it names it by its number and has no other such name, or the one project that it names as a whole; it
 * may be linked with the message (docs/decisions/agent.md#tasks-named-by-their-numbers). Only where rules answer: what a model may read is linked by a person.
 */
export async function findOnlyNamed(ctx: Context, message: string, tokenId: string | null): Promise<LinkedItem | undefined> {
  if (ctx.config.AI_PROVIDER !== 'rules' || !isAdmitted('agent.link', ctx.actor)) return undefined;
  const numbers = countNumbers(message);
  if (numbers > 1 || (numbers === 0 && isAsked(message)) || !(await mayReadTasks(ctx, tokenId))) return undefined;
  const userId = requireUser(ctx);
  return numbers === 1 ? (await findNumbered(ctx, userId, message))[0] : findNamedProject(ctx, userId, message);
}
