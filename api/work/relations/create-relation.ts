import { run } from '../../../db/statement.js';
import { authorize, type Seat } from '../../platform/access/access.js';
import { callerJson, type Context, inTransaction, requireUser } from '../../platform/context.js';
import { conflict, invalid, notFound } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import type { ItemPlace } from '../graph/item-place.js';
import { type AcyclicKind, preventCircularRelation } from '../graph/prevent-circular-relation.js';
import { edgeStateStatement, endsStatement, lockEndsStatement, storeEdgeStatement } from './create-relation.sql.js';
import { nestTask, recurrenceEdge, type RelationCreation, type TaskLinks } from './derived-edges.js';
import { canonicalEdge, type CanonicalEdge, MAX_EDGES, type RelationKind } from './rules.js';
import { recordAttachment } from './record-attachment.js';
import type { CreateRelation, Relation } from './schema.js';

interface End extends ItemPlace {
  seat: Seat | null;
}

/** Both ends as the caller named them, and the canonical edge with the teams of its ends. */
interface RelationDraft {
  source: End;
  target: End;
  edge: CanonicalEdge & { from_team_id: string; to_team_id: string };
}

interface EdgeState extends Record<string, unknown> {
  stored: (Relation & Record<string, unknown>) | null;
  derived: TaskLinks | null;
  at_from: number;
  at_to: number;
}

const ACYCLIC: readonly RelationKind[] = ['contains', 'blocks'] satisfies AcyclicKind[];
const isAcyclic = (edge: RelationDraft['edge']): edge is RelationDraft['edge'] & { kind: AcyclicKind } =>
  ACYCLIC.includes(edge.kind);

/** Shows a stored row; PostgreSQL's JSON has the time with microseconds. */
const present = ({ relation_id, source_id, target_id, relation_type, created_by, created_at }: Relation): Relation => ({
  relation_id,
  source_id,
  target_id,
  relation_type,
  created_by,
  created_at: new Date(created_at).toISOString(),
});

/**
 * Finds both ends and checks the caller's access.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED | INVALID_REQUEST
 */
async function findEnds(ctx: Context, input: CreateRelation): Promise<RelationDraft> {
  const rows = await run<End>(ctx.db, endsStatement, [[input.source_id, input.target_id], requireUser(ctx)]);
  const [source, target] = [input.source_id, input.target_id].map((id) => rows.find(({ item_id }) => item_id === id));
  if (!source || !target) throw notFound(source ? 'Target' : 'Source');
  authorize('relation.write', source.seat);
  authorize('item.read', target.seat);
  const edge = canonicalEdge(input);
  if (edge.from_id === edge.to_id) throw invalid('An item cannot be related to itself');
  const [from, to] = edge.from_id === source.item_id ? [source, target] : [target, source];
  return { source, target, edge: { ...edge, from_team_id: from.team_id, to_team_id: to.team_id } };
}

/** Two tasks of one project: containment is the subtask's own parent. */
const nests = ({ edge, source, target }: RelationDraft): boolean =>
  edge.kind === 'contains' &&
  source.item_type === 'task' &&
  target.item_type === 'task' &&
  source.project_id === target.project_id;

/**
 * Locks both ends against other edges and against purging until the commit, so that their edges can be counted. Returns the edge if it
 * exists.
 * @throws RESOURCE_NOT_FOUND an end has just been purged | RESOURCE_CONFLICT an end is full
 */
async function lockEnds(ctx: Context, { edge, source }: RelationDraft): Promise<Relation | undefined> {
  const { kind, from_id, to_id, from_team_id, to_team_id } = edge;
  const locked = await run(ctx.db, lockEndsStatement, [[from_id, to_id]]);
  if (locked.length < 2) throw notFound('Work item');
  const values = [kind, from_id, to_id, source.team_id, from_team_id, to_team_id];
  const [state] = await run<EdgeState>(ctx.db, edgeStateStatement, values);
  if (!state) throw new Error('The state of the edge has no row');
  if (state.stored) return present(state.stored);
  if (state.derived) return recurrenceEdge(state.derived, to_id);
  if (Math.max(state.at_from, state.at_to) >= MAX_EDGES) throw conflict(`An item can have at most ${MAX_EDGES} relations`);
  return undefined;
}

/** Stores an edge with its trace, in the source's team. */
async function store(
  ctx: Context,
  input: CreateRelation,
  { edge, source, target }: RelationDraft,
  relation_id: string,
): Promise<Relation> {
  const row = { ...input, ...edge, relation_id, team_id: source.team_id };
  const values = [JSON.stringify(callerJson(ctx)), JSON.stringify(row), source.project_id, source.title];
  const [made] = await run<{ json: Relation }>(ctx.db, storeEdgeStatement, values);
  if (!made) throw new Error('The edge was not stored');
  await recordAttachment(ctx, made.json, { source, target }, 'attached');
  return present(made.json);
}

/**
 * Relates two live items. The edge is stored as given; the same edge in other words is returned instead of stored twice. Containment of two
 * tasks of one project makes one a subtask of the other; the answer has the words of the input, because no row has any. `relationId` is chosen by imports only.
 * @throws RESOURCE_NOT_FOUND an end is unknown or in the trash | PERMISSION_DENIED no write access to the source, or no read access to the
 * target | INVALID_REQUEST an item with itself | RESOURCE_CONFLICT a cycle, or too many edges
 */
export function createRelation(ctx: Context, input: CreateRelation, relationId = newId()): Promise<RelationCreation> {
  return inTransaction(ctx, async (ctx) => {
    const wanted = await findEnds(ctx, input);
    if (nests(wanted)) {
      const { created, relation } = await nestTask(ctx, wanted.edge);
      return { created, relation: { ...relation, ...input } };
    }
    const existing = await lockEnds(ctx, wanted);
    if (existing) return { created: false, relation: existing };
    if (isAcyclic(wanted.edge)) await preventCircularRelation(ctx, wanted.edge);
    return { created: true, relation: await store(ctx, input, wanted, relationId) };
  });
}
