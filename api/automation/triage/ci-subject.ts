import { createHash } from 'node:crypto';
import { ciTriageWorkflowId } from '../../../workflows/contracts/triage-contract.js';
import { fullSha } from './ci-rules.js';

/** Facts of a failure that name it. */
interface CiRun {
  repo: unknown;
  /** Id of the run; a check suite has none. */
  run_id?: unknown;
  sha: unknown;
}

/**
 * Returns what names a failed CI run for a team: workflow id and subject of its session. A check suite has no id in its event, so its commit
 * names it. Null if the delivery names neither.
 */
export function ciSubject(teamId: string, { repo, run_id, sha }: CiRun): string | null {
  if (typeof repo !== 'string') return null;
  const hash = createHash('sha256').update(`${teamId}:${repo.toLowerCase()}`).digest('hex').slice(0, 16);
  if (typeof run_id === 'number' && Number.isSafeInteger(run_id)) return ciTriageWorkflowId(hash, String(run_id));
  const commit = typeof sha === 'string' ? fullSha(sha) : null;
  return commit === null ? null : ciTriageWorkflowId(hash, commit);
}
