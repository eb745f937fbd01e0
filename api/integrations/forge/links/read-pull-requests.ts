import { defineStatement, run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';

/** What is known of a linked pull request. */
export interface PullRequestLink extends Record<string, unknown> {
  repo: string;
  number: number;
  title: string | null;
  merged: boolean | null;
}

/** $1 = task id. */
const statement = defineStatement({
  name: 'pull_requests_of_task',
  text: `select repo, number, title, merged from forge_links where task_id = $1 and kind = 'pull_request'`,
});

/** Returns the pull requests that are linked to a task, as their newest deliveries had them. The caller has checked that the task may be read. */
export const readPullRequests = ({ db }: Pick<Context, 'db'>, taskId: string): Promise<PullRequestLink[]> =>
  run<PullRequestLink>(db, statement, [taskId]);
