import { Relation as RelationRow } from '../../db/models/relation.js';
import { authorize } from '../core/access.js';
import { type Context, inTransaction, userOf } from '../core/context.js';
import { invalid, notFound } from '../core/errors.js';
import { newId } from '../core/ids.js';
import { recordChange } from '../core/record-change.js';
import { seatOf } from '../core/seats.js';
import { type ItemPlace, placesOf } from '../graph/item-place.js';
import { type AcyclicKind, preventCycle } from '../graph/prevent-cycle.js';
import { findDerived, nestTask } from './derived-edges.js';
import { checkRoomForEdge, lockEnds } from './lock-ends.js';
import { canonicalEdge, type CanonicalEdge, type RelationKind } from './rules.js';
import type { CreateRelation, Relation } from './schema.js';

/** A relation, and whether the call created it. */
export interface RelationCreation {
  created: boolean;
  relation: Relation;
}

const ACYCLIC: readonly RelationKind[] = ['contains', 'blocks'] satisfies AcyclicKind[];
const isAcyclic = (edge: CanonicalEdge): edge is CanonicalEdge & { kind: AcyclicKind } => ACYCLIC.includes(edge.kind);

export const presentRelation = (row: RelationRow): Relation => ({
  relation_id: row.relation_id,
  source_id: row.source_id,
  target_id: row.target_id,
  relation_type: row.relation_type as Relation['relation_type'],
  created_by: row.created_by,
  created_at: row.created_at.toISOString(),
});

const storedEdge = (ctx: Context, edge: CanonicalEdge) => RelationRow.query(ctx.db).findOne({ ...edge });

/** Stores an edge that does not exist yet, with its trace. The trace never names the target, which the source's team may not read. */
async function store(ctx: Context, input: CreateRelation, edge: CanonicalEdge, source: ItemPlace): Promise<Relation> {
  const row = await RelationRow.query(ctx.db)
    .insert({ relation_id: newId(), ...input, ...edge, team_id: source.team_id, created_by: userOf(ctx) })
    .returning('*');
  const relation = presentRelation(row);
  await recordChange(ctx, {
    team_id: source.team_id,
    project_id: source.project_id,
    feature: 'relations',
    action: 'create',
    entity_type: 'relation',
    entity_id: relation.relation_id,
    title: source.title,
    summary: `added a ${input.relation_type} relation`,
    details: { ...input },
    event: { type: 'relation.created', payload: { relation } },
  });
  return relation;
}

/** Two tasks of one project: containment is the subtask's own parent. */
const nests = ({ kind }: CanonicalEdge, a: ItemPlace, b: ItemPlace): boolean =>
  kind === 'contains' && a.item_type === 'task' && b.item_type === 'task' && a.project_id === b.project_id;

/**
 * Relates two live items. The edge is stored as given; the same edge in other words is returned instead of stored twice. Containment of two
 * tasks of one project makes one a subtask of the other.
 * @throws RESOURCE_NOT_FOUND an end is unknown or in the trash | PERMISSION_DENIED no write access to the source, or no read access to the
 * target | INVALID_REQUEST an item with itself | RESOURCE_CONFLICT a cycle, or too many edges
 */
export function createRelation(ctx: Context, input: CreateRelation): Promise<RelationCreation> {
  const edge = canonicalEdge(input);
  return inTransaction(ctx, async (ctx) => {
    const places = await placesOf(ctx, [input.source_id, input.target_id]);
    const [source, target] = [places.get(input.source_id), places.get(input.target_id)];
    if (!source || !target) throw notFound(source ? 'Target' : 'Source');
    authorize('relation.write', await seatOf(ctx, source.team_id));
    authorize('item.read', await seatOf(ctx, target.team_id));
    if (edge.from_id === edge.to_id) throw invalid('An item cannot be related to itself');
    if (nests(edge, source, target)) return nestTask(ctx, edge);
    await lockEnds(ctx, edge);
    const existing = await storedEdge(ctx, edge);
    if (existing) return { created: false, relation: presentRelation(existing) };
    const derived = await findDerived(ctx, edge);
    if (derived) return { created: false, relation: derived };
    await checkRoomForEdge(ctx, source, source);
    await checkRoomForEdge(ctx, target, source);
    if (isAcyclic(edge)) await preventCycle(ctx, edge, [source.team_id, target.team_id]);
    return { created: true, relation: await store(ctx, input, edge, source) };
  });
}
