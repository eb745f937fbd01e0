import { kindsOfSentences, type Named, nearestSentences } from '../grammar/asking/nearest.js';
import { calledBy, named, quote } from '../grammar/doubts/naming.js';
import { stateWords } from '../grammar/terms.js';
import type { Staged } from '../plans/proposal.js';
import type { ReadableLink } from '../sessions/read-links.js';
import type { Mentioned } from './end-turn.js';
import type { LinkedItem } from '../grammar/tokens.js';
import { DESCRIBED, type LinkedFacts } from './reading/linked-facts.js';

/** What the agent says without a model. Every sentence is ours; only titles and quotations come from elsewhere. */

/** Says that nothing is linked, with a task that the person could name. */
export const nothingLinked = ({ T = 'HAR-12' }: Named): string =>
  `No item is linked to this session, so there is nothing that I may read or change. Link a project, a task or a note, then write again, or name one task by its number, “close ${T}”, or a project, “… in the project X”. Without a link I only answer questions about the tasks of your teams: “what is overdue?”`;

/** Without the scope, nothing of tasks that are not linked. */
export const MAY_NOT_READ = 'The token that wrote this may not read tasks: it needs the scope tasks:read.';

export const plural = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;

/** Tells how many linked items the person can no longer use; empty for none. */
export const lostWords = (lost: number): string =>
  lost === 0 ? '' : `${plural(lost, 'linked item is', 'linked items are')} no longer available to you and left out.`;

/** Custom fields that a description names. */
const MAX_FIELDS = 5;

/** One line about an item. */
export function describe(
  { item_type, title, status }: Pick<ReadableLink, 'item_type' | 'title' | 'status'>,
  facts:
    | (Partial<Pick<LinkedItem, 'key' | 'priority' | 'due' | 'is_blocked' | 'assignee' | 'resolution' | 'cycle' | 'fields'>> & {
        open_tasks?: number | null;
      })
    | undefined,
): string {
  const parts = [
    item_type === 'task' || item_type === 'project' ? stateWords({ status, resolution: facts?.resolution ?? null }) : null,
    facts?.priority && `${facts.priority} priority`,
    facts?.due && `${item_type === 'project' ? 'ends' : 'due'} ${facts.due}`,
    item_type === 'task' && facts && (facts.assignee ? `assigned to ${facts.assignee}` : 'not assigned'),
    facts?.is_blocked === true && 'blocked',
    facts?.cycle && `in the cycle ${quote(facts.cycle.name)}`,
    ...Object.entries(facts?.fields ?? {})
      .slice(0, MAX_FIELDS)
      .map(([name, value]) => value && `${name}: ${quote(value)}`),
    facts?.open_tasks != null && plural(facts.open_tasks, 'open task', 'open tasks'),
  ].filter((part) => typeof part === 'string');
  return `- ${item_type} ${calledBy({ title, key: facts?.key ?? null })}${parts.length > 0 ? `: ${parts.join(', ')}` : ''}`;
}

/** Sums up the linked items, as far as ten of them. */
export function summaryWords(links: readonly ReadableLink[], facts: ReadonlyMap<string, LinkedFacts>): string {
  if (links.length === 0) return '';
  const lines = links.slice(0, DESCRIBED).map((link) => describe(link, facts.get(link.item_id)));
  const more = links.length > DESCRIBED ? [`- and ${links.length - DESCRIBED} more`] : [];
  return [`${plural(links.length, 'item is', 'items are')} linked:`, ...lines, ...more].join('\n');
}

/** Items as an answer names them. */
export const mentionsOf = (items: readonly { id: string; title: string }[]): Mentioned[] =>
  items.map(({ id: item_id, title }) => ({ item_id, title }));

/** The items that a summary names. */
export const linkMentions = (links: readonly ReadableLink[]): Mentioned[] =>
  links.slice(0, DESCRIBED).map(({ item_id, title }) => ({ item_id, title }));

/** Says that a message, or a part of it, is not understood, with the nearest sentences that are; then what is linked. */
export function unclearWords(unclear: string, named: Named, summary: string): string {
  const near = nearestSentences(unclear, named).map((sentence) => `- ${sentence}`);
  return `I do not understand ${quote(unclear)}, so nothing was staged. I would understand:\n${near.join('\n')}\n\n${summary}`;
}

/** What the rules understand, one sentence of each kind. */
export function helpWords(named: Named): string {
  const kinds = kindsOfSentences(named, 'any').map(({ kind, sentences }) =>
    [`${kind}:`, ...sentences.map((each) => `- ${each}`)].join('\n'),
  );
  return `I understand sentences like these. A task is known by its number, its title, or words that only one title has.\n\n${kinds.join('\n\n')}`;
}

const DATE = new Intl.DateTimeFormat('en', { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
const MAX_DATES = 3;

/** The due dates of a plan with their weekdays, because a sentence may name them otherwise. */
function dateWords(plan: NonNullable<Staged['plan']>): string {
  const dates = plan.actions.flatMap(({ params }) =>
    typeof params['due_date'] === 'string' ? [params['due_date'].slice(0, 10)] : [],
  );
  const shown = [...new Set(dates)].slice(0, MAX_DATES + 1);
  if (shown.length === 0 || shown.length > MAX_DATES) return '';
  return ` Due: ${shown.map((date) => DATE.format(new Date(`${date}T00:00:00Z`))).join('; ')}.`;
}

/** An answer with a staged plan, or about changes that change nothing. */
export function planWords({ plan, omitted }: Staged): string {
  const lines = omitted.map(({ reason }) => `- ${reason}`);
  const left = lines.length > 0 ? `\n\nLeft out:\n${lines.join('\n')}` : '';
  return plan
    ? `I propose ${plan.summary}.${dateWords(plan)} Nothing changes until you confirm.${left}`
    : `Nothing is left to change, so nothing was staged.${left}`;
}

export const NOT_STAGED = 'Nothing was staged.';

/** Says that a task or project is linked with the message that names it. */
export const linkedWords = ({ type, key, title }: LinkedItem): string =>
  `Linked ${key ?? `the ${type}`} ${quote(title)}, which you named.`;

/** Items that the answer names one by one. */
const NAMED = 10;

/** Says that a change is about items that are not linked, which the person may link. */
export function linkFirstWords(items: readonly LinkedItem[]): string {
  const [item, ...others] = items;
  if (item && others.length === 0)
    return `That is about ${named(item)}, which is not linked. I propose changes of linked items and projects only: link it, and send the message again. ${NOT_STAGED}`;
  const lines = items.slice(0, NAMED).map((each) => `- ${named(each)}`);
  const more = items.length > NAMED ? [`- and ${items.length - NAMED} more`] : [];
  const head = `That is about ${items.length} items which are not linked. I propose changes of linked items and projects only: link them, and send the message again. ${NOT_STAGED}`;
  return [head, ...lines, ...more].join('\n');
}
