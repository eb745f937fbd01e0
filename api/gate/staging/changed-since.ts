import { defineStatement, run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import { isUuid } from '../../platform/ids.js';
import { customFieldsIn, readCustomValues } from './custom-values.js';
import { canonicalJson, computeHash, hashText } from './canonical.js';

/** A task or project that staged actions change. */
export interface StagedTarget {
  entity_type: string | null;
  entity_id: string | null;
  /** Version before the first action on it; null if it has none. */
  expected_version: number | null;
  /** The custom fields that it sets count beside the version, which they leave as it is. */
  params?: Readonly<Record<string, unknown>> | null;
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
  const values = await readValueMarks(ctx, targets);
  return new Map([...rows.map(({ id, version }): [string, number] => [id, version]), ...values]);
}

const toMark = (value: unknown): string =>
  value === null ? '' : hashText(computeHash('assent.value.v1\n', canonicalJson(value)));
const listValueIds = ({ entity_id, params }: StagedTarget): string[] =>
  entity_id === null ? [] : Object.keys(customFieldsIn(params ?? null)).map((field) => `${entity_id} ${field}`);

/** Returns an entry for each value of a custom field that an action sets: its key names task, field and the whole hash of the value. */
async function readValueMarks(ctx: Pick<Context, 'db'>, targets: readonly StagedTarget[]): Promise<[string, number][]> {
  const marks: [string, number][] = [];
  for (const { entity_id, params } of targets) {
    const set = customFieldsIn(params ?? null);
    if (entity_id === null || Object.keys(set).length === 0) continue;
    const values = await readCustomValues(ctx, entity_id, set);
    marks.push(
      ...Object.entries(values).map(([field, value]): [string, number] => [`${entity_id} ${field} ${toMark(value)}`, 1]),
    );
  }
  return marks;
}

/** Whether a target is not what it was when its action was staged. */
export const hasChanged = ({ entity_id, expected_version }: StagedTarget, versions: ReadonlyMap<string, number>): boolean =>
  expected_version !== null && entity_id !== null && versions.get(entity_id) !== expected_version;

/** Returns the hash of what a reader has seen: the staged text, the versions of its targets, and the values that it sets. */
export function seenHash(stagedHash: string, targets: readonly StagedTarget[], versions: ReadonlyMap<string, number>): string {
  const own = targets.flatMap(({ entity_id }) => (entity_id === null ? [] : [entity_id]));
  const valued = new Set(targets.flatMap(listValueIds));
  const values = [...versions.keys()].filter((key) => valued.has(key.slice(0, key.lastIndexOf(' '))));
  const seen = [...new Set([...own, ...values])].sort().map((id) => [id, versions.get(id) ?? null]);
  return hashText(computeHash('assent.seen.v1\n', canonicalJson([stagedHash, seen])));
}
