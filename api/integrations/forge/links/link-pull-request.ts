import { run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';
import { at, text } from '../json-values.js';
import { recordLink } from './record-link.js';
import type { NormalisedEvent } from '../rules.js';
import { linkPullRequestStatement } from './link-pull-request.sql.js';

interface ChangedTask extends Record<string, unknown> {
  task_id: string;
  title: string;
  team_id: string;
  project_id: string;
  change: 'linked' | 'unlinked';
}

/** Characters of a title that a page shows. */
const MAX_TITLE = 200;
/** Characters of the name of an account at a code host. */
const MAX_AUTHOR = 100;

/** State of a pull request after its delivery; all others leave it open. */
const STATES: Partial<Record<NormalisedEvent['type'], 'merged' | 'closed'>> = {
  'forge.pr_merged': 'merged',
  'forge.pr_closed': 'closed',
};

/** Links a pull request to exactly the tasks that it names, or whose issues it closes; ignores other events. `body`: the delivery. */
export async function linkPullRequest(
  ctx: Context,
  { type, payload }: NormalisedEvent,
  body: unknown,
  taskIds: string[],
  linkable: string[] | null,
): Promise<void> {
  if (!('closes_issues' in payload) || payload.pr_number === null || payload.repo === null) return;
  const repo = payload.repo.toLowerCase();
  const number = payload.pr_number;
  const title = payload.title?.slice(0, MAX_TITLE) ?? null;
  const author = text(at(body, 'pull_request', 'user', 'login'))?.slice(0, MAX_AUTHOR) ?? null;
  const values = [repo, number, payload.url, taskIds, linkable, title, STATES[type] ?? 'open', author];
  const changed = await run<ChangedTask>(ctx.db, linkPullRequestStatement, values);
  for (const { change, ...task } of changed) await recordLink(ctx, task, { change, repo, number, kind: 'pull_request' });
}
