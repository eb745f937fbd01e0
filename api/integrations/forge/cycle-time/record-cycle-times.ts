import { run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';
import type { Audience } from '../deliveries/find-audience.js';
import type { NormalisedEvent } from '../rules.js';
import { recordCycleTimesStatement } from './record-cycle-times.sql.js';

/** What a delivery says about cycle times. */
interface Facts {
  issues: number[];
  opened_at: string | null;
  reopened: boolean;
  pr_number: number | null;
  merged_at: string | null;
}

function buildFacts({ type, payload }: NormalisedEvent): Facts | undefined {
  if ('issue_number' in payload && payload.issue_number !== null && payload.created_at !== null) {
    const reopened = type === 'forge.issue_reopened';
    return { issues: [payload.issue_number], opened_at: payload.created_at, reopened, pr_number: null, merged_at: null };
  }
  if (type === 'forge.pr_merged' && 'closes_issues' in payload && payload.pr_number !== null && payload.merged_at !== null) {
    const { closes_issues: issues, pr_number, merged_at } = payload;
    return { issues, opened_at: null, reopened: false, pr_number, merged_at };
  }
  return undefined;
}

/** Records when an issue was opened, reopened or closed by a merge, for each team that had bound the repository. */
export async function recordCycleTimes(ctx: Context, event: NormalisedEvent, { bindings }: Audience): Promise<void> {
  const facts = buildFacts(event);
  const teamIds = [...new Set(bindings.map(({ team_id }) => team_id))];
  const repo = event.payload.repo?.toLowerCase();
  if (!facts || facts.issues.length === 0 || teamIds.length === 0 || repo === undefined) return;
  const { issues, opened_at, reopened, pr_number, merged_at } = facts;
  await run(ctx.db, recordCycleTimesStatement, [repo, issues, teamIds, opened_at, reopened, pr_number, merged_at]);
}
