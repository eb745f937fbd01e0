import type { User } from '../../../identity/auth/schema.js';
import type { Context } from '../../../platform/context.js';
import { findCycleNames } from '../../../work/cycles/find-cycle-names.js';
import { formatPriority } from '../../../work/tasks/rules.js';
import type { Stage } from '../../../work/tasks/stages/places.js';
import { findStages } from '../../../work/tasks/stages/find-stages.js';
import { findPlaces } from '../../../work/graph/item-place.js';
import { parseCustomKey } from '../../../work/custom-fields/rules.js';
import type { ViewGroup } from '../../../work/saved-views/schema.js';
import { mapTeamNames } from '../../wording/names.js';

/** A grouped list: the field, its values with their counts, the rows that are shown, and the names of people. */
interface Grouped {
  by: string | null;
  groups: readonly ViewGroup[];
  rows: readonly Record<string, unknown>[];
  people: Readonly<Record<string, string>>;
  /** Of the team of the list, which are groups of their own within a status. */
  stages?: readonly Stage[];
}

/** Returns the names of the values of a field that are ids; none for values that are words. The rows are those of the reader. */
async function nameKeys(
  ctx: Context,
  me: User,
  { by, rows, people, stages = [] }: Grouped,
): Promise<Readonly<Record<string, string>>> {
  const ids = () => [...new Set(rows.map((row) => row[by as string]))].filter((id) => typeof id === 'string');
  switch (by) {
    case 'status':
      return Object.fromEntries(stages.map(({ stage_id, name }) => [stage_id, name]));
    case 'assigned_to':
      return people;
    case 'priority':
      return { none: formatPriority('none') };
    case 'team_id':
      return mapTeamNames(me);
    case 'cycle_id':
      return findCycleNames(ctx, ids());
    case 'stage_id': {
      const stages = await findStages(
        ctx,
        rows.map(({ team_id }) => team_id as string),
      );
      return Object.fromEntries(stages.map(({ stage_id, name }) => [stage_id, name]));
    }
    case 'project_id':
      return Object.fromEntries([...(await findPlaces(ctx, ids()))].map(([id, { title }]) => [id, title]));
    default:
      return {};
  }
}

/** Loads what the heads of a grouped list say; undefined without groups, and for the values of a custom field. */
export async function loadGroupHeads(ctx: Context, me: User, grouped: Grouped) {
  const { by, groups } = grouped;
  if (by === null || parseCustomKey(by) !== undefined) return undefined;
  return {
    by,
    counts: new Map(groups.map(({ key, count }) => [key, count])),
    estimates: new Map(groups.map(({ key, estimate }) => [key, estimate])),
    names: await nameKeys(ctx, me, grouped),
  };
}
