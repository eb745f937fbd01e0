import type { Context } from '../../api/platform/context.js';
import { createRelation } from '../../api/work/relations/create-relation.js';
import type { RelationType } from '../../api/work/relations/rules.js';

/** Relates items: source, type, target. */
export async function relateItems(ctx: Context, relations: [string, RelationType, string][]): Promise<void> {
  for (const [source_id, relation_type, target_id] of relations)
    await createRelation(ctx, { source_id, relation_type, target_id });
}

/** Issues that a merge closed before the demo began. */
const ISSUES = 44;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DAYS_BETWEEN = 1.8;

/** Hours from an issue to its merge: most take a day or two, every ninth a week, and the team has become faster. */
const computeHours = (number: number): number =>
  (number % 9 === 0 ? 150 : 9 + ((number * 17) % 40)) * (1.4 - number / (2 * ISSUES));

/** Records the cycle times of the weeks before the demo, as deliveries would have. None of the issues has a task. */
export async function recordHistory(ctx: Context, repo: string, team_id: string, project_id: string): Promise<void> {
  const rows = Array.from({ length: ISSUES }, (_, at) => {
    const number = at + 1;
    const merged = Date.now() - (ISSUES - at) * DAYS_BETWEEN * DAY_MS;
    return {
      team_id,
      repo,
      issue_number: number,
      opened_at: new Date(merged - computeHours(number) * HOUR_MS),
      reopened: number % 11 === 0,
      pr_number: 100 + number,
      merged_at: new Date(merged),
      project_id,
    };
  });
  await ctx.db('cycle_times').insert(rows);
}
