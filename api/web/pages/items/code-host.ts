import { readPullRequests } from '../../../integrations/forge/links/read-pull-requests.js';
import type { Context } from '../../../platform/context.js';
import type { Task } from '../../../work/tasks/schema.js';

/** Pull requests that the page of a task lists. */
const MAX_PULL_REQUESTS = 20;

/** Returns an address if it is one of the connected code host: others come from texts of strangers. */
const onHost = (host: string, url: string | null | undefined) =>
  url && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol) && new URL(url).host === host ? url : null;

/** Returns the issues and the newest pull requests that are linked to a task, with their addresses at the connected code host. */
export async function loadCodeHost(ctx: Pick<Context, 'db' | 'config'>, { task_id, forge_links }: Task) {
  const { host } = new URL(ctx.config.FORGE_URL);
  const linked = <T extends { url?: string | null | undefined }>(one: T) => ({ ...one, url: onHost(host, one.url) });
  const count = forge_links.filter(({ kind }) => kind === 'pull_request').length;
  const pulls = count === 0 ? [] : await readPullRequests(ctx, task_id, MAX_PULL_REQUESTS);
  return {
    issues: forge_links.filter(({ kind }) => kind === 'issue').map(linked),
    pulls: pulls.map(linked),
    more: Math.max(0, count - pulls.length),
  };
}
