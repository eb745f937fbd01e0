import type { ProposedAction } from '../plans/proposal.js';
import type { TaskQuestion } from './clauses.js';

/** A question of the person about tasks, with what it is about. */
export type Asked =
  | { does: 'tasks'; question: TaskQuestion }
  | { does: 'about'; ids: string[] }
  | { does: 'blocking'; ids: string[]; end: 'before' | 'behind' }
  | { does: 'summary' }
  | { does: 'help' };

/** What a message comes to. `answer`: no clause, or one that the grammar does not know. */
export type Outcome =
  | { kind: 'plan'; actions: ProposedAction[] }
  | { kind: 'ask'; asked: Asked }
  | { kind: 'question'; text: string }
  /** Relations that block the task shall end; `by`: only those to this item. */
  | { kind: 'unblock'; id: string; by: string | null }
  | { kind: 'answer'; unclear: string | null };
