import type { Context } from '../../../platform/context.js';
import { countGroups } from '../../../work/saved-views/results/list-groups.js';
import type { ViewSource } from '../../../work/saved-views/results/resolve-view.js';
import type { ViewGroup } from '../../../work/saved-views/schema.js';
import type { Stage } from '../../../work/tasks/stages/places.js';
import type { Choice } from './stage-choices.js';

interface Counted {
  count: number;
  /** Points of its tasks; 0 where none is estimated. */
  points: number;
}

/** Counts the tasks of each place and their points, by what a form sends for it. */
export async function countPlaces(ctx: Context, source: ViewSource, stages: readonly Stage[]): Promise<Map<Choice, Counted>> {
  const count = async (group_by: string): Promise<Map<string, Counted>> => {
    const { groups } = await countGroups(ctx, { ...source, group_by });
    return new Map(
      groups.flatMap(({ key, count, estimate }) => (key === null ? [] : [[key, { count, points: estimate ?? 0 }] as const])),
    );
  };
  const [byStatus, byStage] = await Promise.all([
    count('status'),
    stages.length === 0 ? new Map<string, Counted>() : count('stage_id'),
  ]);
  const none = { count: 0, points: 0 };
  // What is in no stage is the rest of its status.
  for (const { stage_id, status } of stages) {
    const [all, part] = [byStatus.get(status) ?? none, byStage.get(stage_id) ?? none];
    byStatus.set(status, { count: all.count - part.count, points: all.points - part.points });
  }
  return new Map([...byStatus, ...byStage]);
}

/** Puts the tasks of each status into the order of the stages, where a list is grouped by status and its team has some. */
export const inStages = <Source extends ViewSource>(source: Source, stages: readonly Stage[]): Source =>
  source.group_by === 'status' && stages.length > 0
    ? { ...source, sort: [{ field: 'stage', direction: 'asc' }, ...source.sort] }
    : source;

/** Counts the groups of a list; of one by status, also those of the stages. */
export async function countHeads(ctx: Context, source: ViewSource, stages: readonly Stage[]): Promise<ViewGroup[]> {
  if (source.group_by === null) return [];
  if (source.group_by !== 'status' || stages.length === 0) return (await countGroups(ctx, source)).groups;
  const places = await countPlaces(ctx, source, stages);
  return [...places].map(([key, { count, points }]) => ({ key, count, ...(points > 0 && { estimate: points }) }));
}
