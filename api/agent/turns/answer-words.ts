import { quote } from '../grammar/resolve.js';
import type { Staged } from '../plans/proposal.js';
import type { ReadableLink } from '../sessions/read-links.js';
import { DESCRIBED, type LinkedFacts } from './linked-facts.js';

/** What the agent says without a model. Every sentence is ours; only titles and quotations come from elsewhere. */

const NOTHING_LINKED =
  'No item is linked to this session, so there is nothing that I may read or change. Link a task, a project or a note, then write again.';

const HELP =
  'I can create, change, assign, rename, relate, comment on and delete tasks, and write notes. For example: close “a linked title”.';

const STATUS_WORDS: Record<string, string> = { todo: 'to do', in_progress: 'in progress', in_review: 'in review' };

const plural = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;

/** Tells how many linked items the person can no longer use; empty for none. */
export const lostWords = (lost: number): string =>
  lost === 0 ? '' : `${plural(lost, 'linked item is', 'linked items are')} no longer available to you and left out.`;

function describe(link: ReadableLink, facts: LinkedFacts | undefined): string {
  const { item_type, title, status } = link;
  const parts = [
    item_type === 'task' || item_type === 'project' ? (STATUS_WORDS[status] ?? status) : null,
    facts?.priority && `${facts.priority} priority`,
    facts?.due && `${item_type === 'project' ? 'ends' : 'due'} ${facts.due}`,
    item_type === 'task' && facts && (facts.assignee ? `assigned to ${facts.assignee}` : 'not assigned'),
    facts?.open_tasks != null && plural(facts.open_tasks, 'open task', 'open tasks'),
  ].filter((part) => typeof part === 'string');
  return `- ${item_type} ${quote(title)}${parts.length > 0 ? `: ${parts.join(', ')}` : ''}`;
}

/** Sums up the linked items, as far as ten of them. */
export function summaryWords(links: readonly ReadableLink[], facts: ReadonlyMap<string, LinkedFacts>): string {
  if (links.length === 0) return NOTHING_LINKED;
  const lines = links.slice(0, DESCRIBED).map((link) => describe(link, facts.get(link.item_id)));
  const more = links.length > DESCRIBED ? [`- and ${links.length - DESCRIBED} more`] : [];
  return [`${plural(links.length, 'item is', 'items are')} linked:`, ...lines, ...more].join('\n');
}

/** An answer to a message that asks for nothing the rules know. `unclear`: the part that they do not. */
export const answerWords = (unclear: string | null, summary: string): string =>
  unclear === null ? `${summary}\n\n${HELP}` : `I do not understand ${quote(unclear)}, so nothing was staged.\n\n${summary}`;

/** An answer with a staged plan, or about changes that change nothing. */
export function planWords({ plan, omitted }: Staged): string {
  const lines = omitted.map(({ reason }) => `- ${reason}`);
  const left = lines.length > 0 ? `\n\nLeft out:\n${lines.join('\n')}` : '';
  return plan
    ? `I propose ${plan.summary}. Nothing changes until you confirm.${left}`
    : `Nothing is left to change, so nothing was staged.${left}`;
}

export const NOT_STAGED = 'Nothing was staged.';
