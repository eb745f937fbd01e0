import { withoutInvisible } from '../../platform/validation/invisible.js';
import type { ProposedAction } from '../../agent/plans/proposal.js';

/** A failed CI run as its delivery describes it. Every text may be anybody's: a branch or a workflow has the name that its author likes. */
export interface CiFailure {
  /** Name of the workflow; null for a check suite. */
  name: string | null;
  branch: string | null;
  sha: string | null;
  url: string | null;
}

/** A task of the pull request whose run failed. */
export interface CiTask {
  task_id: string;
  status: string;
}

const MAX_NAME = 80;
/** Controls, line separators, and characters that no font has. */
const ODD = /[\p{Cc}\p{Zl}\p{Zp}\p{Co}\p{Cn}]+/gu;

/**
 * Returns a name as one short line that means nothing but itself: it closes no code, mentions nobody, and has no character that is not seen.
 */
export function safeName(text: string | null, otherwise: string): string {
  const line = withoutInvisible((text ?? '').toWellFormed())
    .replace(ODD, ' ')
    .replaceAll('`', "'")
    .replaceAll('@', '(at)');
  const short = Array.from(line.replace(/\s+/g, ' ').trim()).slice(0, MAX_NAME).join('');
  return short === '' ? otherwise : short;
}

/** Returns the id of a commit; null for what is none. */
export const fullSha = (sha: string | null): string | null =>
  sha !== null && /^[0-9a-f]{7,64}$/i.test(sha) ? sha.toLowerCase() : null;

/** Returns an address of the code host's own site, over https and without characters that end a link; null for any other. */
export function safeUrl(url: string | null, host: string): string | null {
  if (url === null || url.length > 500 || !URL.canParse(url)) return null;
  const { protocol, host: found, username, password, href } = new URL(url);
  const isOurs = protocol === 'https:' && found === host && username === '' && password === '';
  return isOurs && /^[\w\-./:%?=&#~+]+$/.test(href) ? href : null;
}

const REOPENED = ['in_review', 'done'];
/** Tasks of one pull request that a plan covers: two actions each. */
const MAX_CI_TASKS = 25;

/** Returns the fixed words about a failure, with its names in code. */
export function failureText({ name, branch, sha, url }: CiFailure, host: string): string {
  const commit = fullSha(sha)?.slice(0, 7) ?? null;
  const at = commit === null ? '' : ` at \`${commit}\``;
  const link = safeUrl(url, host);
  return `CI failed: \`${safeName(name, 'checks')}\` on \`${safeName(branch, 'unknown branch')}\`${at}.${link === null ? '' : ` ${link}`}`;
}

/**
 * Returns what a failure proposes: on each task of its pull request a comment, and its return to progress if it was thought ready; without
 * such a task a new one in the bound project; nothing without either.
 */
export function proposalsFor(
  failure: CiFailure,
  tasks: readonly CiTask[],
  projectId: string | null,
  host: string,
): ProposedAction[] {
  const text = failureText(failure, host);
  if (tasks.length > 0) {
    return tasks
      .slice(0, MAX_CI_TASKS)
      .flatMap(({ task_id, status }): ProposedAction[] => [
        { tool: 'task.comment', entity_id: task_id, params: { content: text } },
        ...(REOPENED.includes(status)
          ? [{ tool: 'task.set_status' as const, entity_id: task_id, params: { status: 'in_progress' } }]
          : []),
      ]);
  }
  if (projectId === null) return [];
  const title = `CI failed: ${safeName(failure.name, 'checks')} on ${safeName(failure.branch, 'unknown branch')}`;
  return [{ tool: 'task.create', entity_id: null, params: { project_id: projectId, title, description: text, tags: ['ci'] } }];
}
