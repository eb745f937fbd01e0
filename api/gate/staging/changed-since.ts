import { defineStatement, run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import { isUuid } from '../../platform/ids.js';
import { canonicalJson, computeHash, hashText } from './canonical.js';

/** A task or project that staged actions change. */
export interface StagedTarget {
  entity_type: string | null;
  entity_id: string | null;
  /** Version before the first action on it; null if it has none. */
  expected_version: number | null;
}

/** $1 = task ids, $2 = project ids. */
const statement = defineStatement({
  name: 'versions_of_targets',
  text: /* sql */ `
    select t.task_id as id, t.version from tasks t where t.task_id = any($1::text[])
    union all select p.project_id::text, p.version from projects p where p.project_id = any($2::uuid[])`,
});

const listIds = (targets: readonly StagedTarget[], type: string): string[] => [
  ...new Set(targets.flatMap(({ entity_type, entity_id }) => (entity_type === type && entity_id !== null ? [entity_id] : []))),
];

/** Returns the versions of targets as they are now, by id. Checks no permission: only callers who may read the decision see them. */
export async function readVersions(
  ctx: Pick<Context, 'db'>,
  targets: readonly StagedTarget[],
): Promise<ReadonlyMap<string, number>> {
  const [tasks, projects] = [listIds(targets, 'task'), listIds(targets, 'project').filter(isUuid)];
  if (tasks.length + projects.length === 0) return new Map();
  const rows = await run<{ id: string; version: number }>(ctx.db, statement, [tasks, projects]);
  return new Map(rows.map(({ id, version }) => [id, version]));
}

/** Whether a target is not what it was when its action was staged. */
export const hasChanged = ({ entity_id, expected_version }: StagedTarget, versions: ReadonlyMap<string, number>): boolean =>
  expected_version !== null && entity_id !== null && versions.get(entity_id) !== expected_version;

/** Returns the hash of what a reader has seen: the staged text, and the versions of its targets. */
export function seenHash(stagedHash: string, targets: readonly StagedTarget[], versions: ReadonlyMap<string, number>): string {
  const ids = [...new Set(targets.flatMap(({ entity_id }) => (entity_id === null ? [] : [entity_id])))].sort();
  const seen = ids.map((id) => [id, versions.get(id) ?? null]);
  return hashText(computeHash('assent.seen.v1\n', canonicalJson([stagedHash, seen])));
}
