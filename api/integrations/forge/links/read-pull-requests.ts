import { defineStatement, run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';

/** What is known of a linked pull request. */
export interface PullRequestLink extends Record<string, unknown> {
  repo: string;
  number: number;
  url: string | null;
  title: string | null;
  /** Null: no delivery told it since the version that stores it. */
  state: 'open' | 'merged' | 'closed' | null;
  author: string | null;
}

/** $1 = task id, $2 = row limit. Newest first. */
const statement = defineStatement({
  name: 'pull_requests_of_task',
  text: /* sql */ `
    select repo, number, url, title, case when merged then 'merged' else state end as state, author
    from forge_links where task_id = $1 and kind = 'pull_request' order by created_at desc, repo, number desc limit $2`,
});

/**
 * Returns the newest pull requests that are linked to a task, as their newest deliveries had them. The caller has checked that the
 * task may be read.
 */
export const readPullRequests = ({ db }: Pick<Context, 'db'>, taskId: string, limit: number): Promise<PullRequestLink[]> =>
  run<PullRequestLink>(db, statement, [taskId, limit]);
