import { recordChange } from '../../platform/changes/record-change.js';
import type { Context } from '../../platform/context.js';
import type { ItemPlace } from '../graph/item-place.js';

/** Longest title in a line. */
const MAX_SHOWN = 80;

/**
 * Writes into the history of a task what was attached to it, or is no more, in the transaction of the relation. Only within one team: members of the
 * other may not be able to read the title.
 */
export async function recordAttachment(
  ctx: Context,
  relation: { relation_id: string; relation_type: string },
  { source, target }: { source: ItemPlace; target: ItemPlace },
  action: 'attached' | 'removed',
): Promise<void> {
  if (relation.relation_type !== 'attached_to' || target.item_type !== 'task' || source.team_id !== target.team_id) return;
  // A cut within a character leaves half of it.
  const cut = source.title.slice(0, MAX_SHOWN).replace(/[\ud800-\udbff]$/, '');
  const shown = cut.length < source.title.length ? `${cut}…` : source.title;
  await recordChange(ctx, {
    team_id: target.team_id,
    project_id: target.project_id,
    feature: 'work_graph',
    action: 'update',
    entity_type: 'task',
    entity_id: target.item_id,
    title: target.title,
    summary: action === 'attached' ? `attached “${shown}”` : `removed the attachment “${shown}”`,
    details: { relation_id: relation.relation_id, source_id: source.item_id },
  });
}
