import type { BareClause, Target } from '../clauses.js';
import { type Certainty, type Pattern, pattern, type Slots } from '../pattern.js';

/** One way to say a change: its pattern, and the clause that its slots make. */
export interface Form {
  pattern: Pattern;
  build: (slots: Slots) => BareClause | undefined;
  /** How much must be known of what it names, when nothing fits better: an imperative with an unknown name is a question. */
  atLeast: Certainty;
}

/** What the clause before was about. */
export const SAME: Target = { kind: 'same' };

/** Forms of one clause. `all` are statements: they mean nothing unless all that they name is known. */
export const forms = (atLeast: Certainty, build: Form['build'], ...patterns: string[]): Form[] =>
  patterns.map((text) => ({ pattern: pattern(text), build: (slots) => build({ ...slots, T: slots.T ?? SAME }), atLeast }));
/** Imperatives. */
export const say = (build: Form['build'], ...patterns: string[]): Form[] => forms('none', build, ...patterns);
/** Statements. */
export const state = (build: Form['build'], ...patterns: string[]): Form[] => forms('all', build, ...patterns);
