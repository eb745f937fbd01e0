/** How a relation type is stored: its canonical kind, and whether source and target swap ends. */
interface Canonical {
  kind: RelationKind;
  /** `swapped`: the target is the canonical start. `sorted`: the edge has no direction. */
  ends: 'as_given' | 'swapped' | 'sorted';
}

const KINDS = ['contains', 'blocks', 'related', 'attached', 'caused', 'recurs'] as const;
export type RelationKind = (typeof KINDS)[number];

export const RELATION_TYPES = [
  'parent_child',
  'blocking',
  'blocked_by',
  'blocks',
  'related_to',
  'attached_to',
  'belongs_to',
  'caused_by',
  'recurrence_of',
] as const;
export type RelationType = (typeof RELATION_TYPES)[number];

const CANONICAL: Readonly<Record<RelationType, Canonical>> = {
  parent_child: { kind: 'contains', ends: 'as_given' },
  belongs_to: { kind: 'contains', ends: 'swapped' },
  blocks: { kind: 'blocks', ends: 'as_given' },
  blocking: { kind: 'blocks', ends: 'as_given' },
  blocked_by: { kind: 'blocks', ends: 'swapped' },
  related_to: { kind: 'related', ends: 'sorted' },
  attached_to: { kind: 'attached', ends: 'as_given' },
  caused_by: { kind: 'caused', ends: 'as_given' },
  recurrence_of: { kind: 'recurs', ends: 'as_given' },
};

/** A relation as a caller states it. */
export interface StatedRelation {
  source_id: string;
  target_id: string;
  relation_type: RelationType;
}

/** The same edge, whatever words stated it. */
export interface CanonicalEdge {
  kind: RelationKind;
  from_id: string;
  to_id: string;
}

/** Returns the canonical form: A `belongs_to` B equals B `parent_child` A; `related_to` has no direction. */
export function canonicalEdge({ source_id, target_id, relation_type }: StatedRelation): CanonicalEdge {
  const { kind, ends } = CANONICAL[relation_type];
  const swap = ends === 'swapped' || (ends === 'sorted' && source_id > target_id);
  return swap ? { kind, from_id: target_id, to_id: source_id } : { kind, from_id: source_id, to_id: target_id };
}

/** The end of a canonical edge at which an item stands. */
export type End = 'from' | 'to';

/** Types whose name depends on the end. */
const BY_END: Readonly<Partial<Record<RelationKind, Record<End, RelationType>>>> = {
  contains: { from: 'parent_child', to: 'belongs_to' },
  blocks: { from: 'blocks', to: 'blocked_by' },
};

/** Returns the type as read from one end: the container sees `parent_child`, the contained item `belongs_to`. */
export const effectiveType = (kind: RelationKind, end: End, stated: RelationType): RelationType => BY_END[kind]?.[end] ?? stated;

/** Returns which edges an item shows under an effective type; `end` is absent where the type reads the same from both ends. */
export function edgesShownAs(type: RelationType): { kind: RelationKind; end?: End } {
  const { kind, ends } = CANONICAL[type];
  return BY_END[kind] ? { kind, end: ends === 'swapped' ? 'to' : 'from' } : { kind };
}

/** Ids of edges that follow from a task's own fields instead of a stored row. They are never UUIDs. */
const NESTING = 'parent:';
const RECURRENCE = 'recurrence:';

/** Id of the edge between a subtask and its parent. */
export const nestingEdgeId = (taskId: string): string => NESTING + taskId;
/** Id of the edge between an occurrence of a recurring task and the previous one. */
export const recurrenceEdgeId = (taskId: string): string => RECURRENCE + taskId;

/** Reads the id of a derived edge; undefined for any other id. */
export function derivedEdge(relationId: string): { of: 'nesting' | 'recurrence'; taskId: string } | undefined {
  if (relationId.startsWith(NESTING)) return { of: 'nesting', taskId: relationId.slice(NESTING.length) };
  if (relationId.startsWith(RECURRENCE)) return { of: 'recurrence', taskId: relationId.slice(RECURRENCE.length) };
  return undefined;
}

/** Maximum edges of an item that its own team wrote, and as many again that others wrote (docs/decisions/work.md#edges-of-an-item). */
export const MAX_EDGES = 500;
