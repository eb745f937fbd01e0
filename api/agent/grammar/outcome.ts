import type { ProposedAction } from '../plans/proposal.js';
import type { CycleName } from './terms.js';
import type { ActivityQuestion, TaskQuestion } from './clauses.js';
import type { TaskFilter } from './terms.js';
import type { LinkedItem } from './tokens.js';

/** A question of the person about tasks, with what it is about. */
export type Asked =
  /** `without`: ids that the answer leaves out. */
  | { does: 'tasks'; question: TaskQuestion; without: readonly string[]; of?: LinkedItem }
  | { does: 'about'; ids: string[]; items: readonly LinkedItem[] }
  | { does: 'blocking'; ids: string[]; end: 'before' | 'behind' }
  /** What was done, to one item or to any. */
  | { does: 'activity'; asked: Omit<ActivityQuestion, 'of'>; of: LinkedItem | null }
  | { does: 'cycle'; cycle: CycleName; otherwise?: Asked }
  | { does: 'forecast'; project: LinkedItem }
  | { does: 'summary' }
  | { does: 'help' };

/** Tasks that a clause names by what they have in common: its words, the facts, and whose they are. */
export interface TaskSet {
  written: string;
  filter: TaskFilter;
  /** Ids that the assignee may be; null is nobody. */
  people: readonly (string | null)[];
}

/** What a message comes to. `answer`: no clause, or one that the grammar does not know. */
export type Outcome =
  /** `notes`: what to say of it, which names these items. `replaces`: it says again what the plan before did. */
  | {
      kind: 'plan';
      actions: ProposedAction[];
      notes: string[];
      items: readonly LinkedItem[];
      sets: readonly TaskSet[];
      replaces: boolean;
    }
  | { kind: 'ask'; asked: Asked }
  | { kind: 'question'; text: string; items: readonly LinkedItem[]; sets: readonly TaskSet[] }
  /** Relations that block the task shall end; `by`: only those to this item. */
  | { kind: 'unblock'; id: string; by: string | null }
  /** The reverse of the plan that was confirmed last shall be staged. */
  | { kind: 'undo' }
  /** The plan that waits shall be discarded. */
  | { kind: 'discard' }
  | { kind: 'answer'; unclear: string | null };
