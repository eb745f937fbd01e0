import type { DateRange } from '../../platform/written-ranges.js';

/** What messages talk about: the values that the grammar reads, in no file that needs another. */

const STATUSES = ['todo', 'in_progress', 'in_review', 'done'] as const;
/** What texts call a status, where it is not its own word. */
export const STATUS_WORDS: Readonly<Record<string, string>> = {
  todo: 'to do',
  in_progress: 'in progress',
  in_review: 'in review',
};
export type Status = (typeof STATUSES)[number];

/** Why a task is done that nobody completed. */
export const RESOLUTIONS = ['canceled', 'duplicate'] as const;
export type Resolution = (typeof RESOLUTIONS)[number];
const RESOLUTION_WORDS: Readonly<Record<string, string>> = { canceled: 'canceled', duplicate: 'closed as a duplicate' };
/** What texts call the state of a task: one that was canceled is not done. */
export const stateWords = ({ status, resolution }: { status: string; resolution?: string | null }): string =>
  RESOLUTION_WORDS[resolution ?? ''] ?? STATUS_WORDS[status] ?? status;

export type Priority = 'none' | 'low' | 'medium' | 'high' | 'urgent';
/** From the lowest. What has none stands below them. */
export const PRIORITIES: readonly Priority[] = ['low', 'medium', 'high', 'urgent'];

/** `whom`: a pronoun that means none, or one of several. */
export type Assignee =
  | { kind: 'me' }
  | { kind: 'nobody' }
  | { kind: 'name'; name: string }
  | { kind: 'whom'; written: string; among: readonly string[] };

/** A cycle as a message names it: by what it may be called, or by its state. */
export interface CycleName {
  when: 'active' | 'planned' | 'completed';
  /** Empty for the one of that state. */
  names: readonly string[];
  written: string;
  /** Whether it can be nothing but a cycle. */
  isSure: boolean;
}

/** What tasks have to be. Every given part must hold. */
export interface TaskFilter {
  /** Of tasks that are done only those that were completed, unless `resolutions` names others. */
  statuses?: readonly Status[];
  /** One of these holds, beside what is said of all. */
  anyOf?: readonly TaskFilter[];
  /** The cycle that they are in, which only the database knows. */
  cycle?: CycleName;
  /** They are in no cycle. */
  hasNoCycle?: true;
  /** Custom fields by their names in lower case, each with a value that it has, or null for none. */
  fields?: readonly { field: string; value: string | null }[];
  resolutions?: readonly Resolution[];
  /** Names of stages, in lower case. */
  stages?: readonly string[];
  priorities?: readonly Priority[];
  isOverdue?: true;
  isBlocked?: true;
  hasNoDueDate?: true;
  /** They lack what a clause gives: `give everything without one to Mia`. */
  lacksIt?: true;
  due?: DateRange;
  /** Days on which they were done. */
  completed?: DateRange;
  assignee?: Assignee;
  tag?: string;
  /** Stems that the name of the project has. */
  project?: readonly string[];
  /** Stems that title, tags and the name of the project have together. */
  words?: readonly string[];
  /** Those words as they were said. */
  said?: readonly string[];
}

/** What a filter reads at a place, and the number of its words. */
export interface Found {
  filter: TaskFilter;
  length: number;
}
