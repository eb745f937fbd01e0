import type { Clause } from '../clauses.js';
import type { Facts } from '../facts.js';
import { named } from './naming.js';
import { Question } from '../subjects.js';
import { type Priority, PRIORITIES } from '../terms.js';
import type { LinkedItem } from '../tokens.js';

const LOWERING = /\b(?:lower|drop|downgrade|reduce|decrease|deprioriti[sz]e)\b/i;
/** Tasks that a note names. */
const MAX_NAMED = 3;

/** What happens to the priorities of a set of tasks: a wish that all of them are high is not about those that are urgent. */
export class KeptPriorities {
  private readonly kept: LinkedItem[] = [];
  private readonly lowered: LinkedItem[] = [];

  /** Whether one task of a set keeps its priority; notes it, as a task that is lowered. */
  keeps(clause: Clause, item: LinkedItem | null, { priority }: Facts): boolean {
    if (!('target' in clause) || clause.target?.kind !== 'all' || !item) return false;
    const now = PRIORITIES.indexOf((priority ?? 'medium') as Priority);
    if (clause.does === 'step') return PRIORITIES[now + clause.by] === undefined;
    if (clause.does !== 'priority' || now <= PRIORITIES.indexOf(clause.priority)) return false;
    const isKept = clause.priority === 'high' && !LOWERING.test(clause.written);
    (isKept ? this.kept : this.lowered).push(item);
    return isKept;
  }

  /** Tasks that keep their priority, of the sets so far. */
  get count(): number {
    return this.kept.length;
  }

  /** @param before tasks that kept theirs before this set @throws Question if every task of a set keeps its priority */
  refuseAll(count: number, before: number): void {
    if (count > 0 && this.kept.length - before >= count) throw new Question(this.notes.join(' '), this.items);
  }

  get items(): LinkedItem[] {
    return [...this.kept.slice(0, MAX_NAMED), ...this.lowered.slice(0, MAX_NAMED)];
  }

  get notes(): string[] {
    const [kept, lowered] = [this.kept, this.lowered].map(listed) as [string, string];
    return [
      ...(kept ? [`Urgent tasks keep their priority: ${kept}. Name one to lower it, as in “set … to high”.`] : []),
      ...(lowered ? [`This lowers the priority of ${lowered}.`] : []),
    ];
  }
}

function listed(items: readonly LinkedItem[]): string {
  const more = items.length > MAX_NAMED ? [`${items.length - MAX_NAMED} more`] : [];
  return [...items.slice(0, MAX_NAMED).map(named), ...more].join(', ');
}
