import type { Verdict } from '../chaos/invariants.js';
import type { Query } from './sample.js';

/** What a soak runs on. */
export interface Target {
  /** Parts that may be killed. */
  parts: string[];
  /** Process ids of the parts that run. */
  pids: () => Promise<Record<string, number>>;
  /** Runs SQL without a time limit. */
  query: Query;
  /** Address and credentials of the even load. */
  base: () => string;
  token: string;
  projectId: string;
  /** Ends all load but the even one, waits for rest, and judges what is there. */
  finish: () => Promise<Verdict[]>;
  /** Ends the processes, and keeps the data if told to. */
  stop: (keep: boolean) => Promise<void>;
}

/** Tasks of the even load by title. */
export const TITLES = "select title, count(*)::float8 as count from tasks where title like 'load %' group by title";
