import { DomainError, invalid, invalidFields } from '../../platform/errors.js';
import { fieldErrors, ZOD_MESSAGES } from '../../platform/validation/messages.js';
import { hiddenCharacter } from '../../gate/staging/hidden-character.js';
import type { ProposedAction } from './proposal.js';
import { parseReference } from '../../gate/staging/references.js';
import type { PlanSource } from '../../gate/work-actions/action.js';
import type { Tool } from '../../gate/work-actions/catalogue.js';
import { findAction } from '../../gate/work-actions/catalogue.js';
import type { WorkAction } from '../../gate/work-actions/action.js';

/** An action after validation. Ids may still be references. */
export interface PreparedAction {
  tool: Tool;
  spec: WorkAction;
  /** Null for a creation. */
  entityId: string | null;
  params: Record<string, unknown>;
}

/** Stands for a reference while the schema checks the other fields. */
const PLACEHOLDER = '019a9f00-0000-7000-8000-000000000000';
const MAX_ID_LENGTH = 160;

/** Kinds of new items that a reference in a field may name. */
const REFERABLE: Readonly<Record<string, readonly string[]>> = {
  entity_id: ['task'],
  parent_task_id: ['task'],
  source_id: ['task', 'note'],
  target_id: ['task', 'note'],
};

/** @throws INVALID_REQUEST the reference names a later action, or one that creates nothing of this kind */
function checkReference(field: string, k: number, index: number, actions: readonly ProposedAction[]): void {
  if (k >= index) throw invalid(`Action ${index}: ${field} must refer to an earlier action`);
  const creator = findAction(actions[k]?.tool ?? '');
  if (creator?.kind !== 'create' || !REFERABLE[field]?.includes(creator.entity)) {
    throw invalid(`Action ${index}: ${field} refers to action ${k}, which creates nothing that fits`);
  }
}

function readEntityId(
  spec: WorkAction,
  { tool, entity_id }: ProposedAction,
  index: number,
  all: readonly ProposedAction[],
): string | null {
  if (spec.kind === 'create') {
    if (entity_id != null) throw invalid(`Action ${index}: ${tool} has no entity_id, because it creates something`);
    return null;
  }
  if (typeof entity_id !== 'string' || entity_id === '' || entity_id.length > MAX_ID_LENGTH) {
    throw invalid(`Action ${index}: ${tool} needs an entity_id`);
  }
  const k = parseReference(entity_id);
  if (k !== undefined) {
    if (spec.entity !== 'task') throw invalid(`Action ${index}: the target of ${tool} cannot be a reference`);
    checkReference('entity_id', k, index, all);
  }
  return entity_id;
}

/** Parses the parameters with the schema of the operation; references pass as they are. */
function readParams(
  spec: WorkAction,
  { params }: ProposedAction,
  index: number,
  all: readonly ProposedAction[],
): Record<string, unknown> {
  const references: Record<string, string> = {};
  for (const field of spec.references ?? []) {
    const value = params[field];
    const k = parseReference(value);
    if (k === undefined) continue;
    checkReference(field, k, index, all);
    references[field] = value as string;
  }
  const stand = Object.fromEntries(Object.keys(references).map((field) => [field, PLACEHOLDER]));
  const parsed = spec.schema.safeParse({ ...params, ...stand }, ZOD_MESSAGES);
  if (!parsed.success) throw invalidFields(fieldErrors(`actions.${index}.params`, parsed.error));
  // Through JSON, so that what is stored is what was checked: no undefined values.
  return JSON.parse(JSON.stringify({ ...(parsed.data as object), ...references })) as Record<string, unknown>;
}

/** Whether a proposal of this source may hold the action. A night may raise priorities and nothing else. */
function mayPropose({ tool, offered }: WorkAction, params: Readonly<Record<string, unknown>>, source: PlanSource): boolean {
  if (!offered.includes(source)) return false;
  return source !== 'overnight_triage' || tool !== 'task.update' || Object.keys(params).every((field) => field === 'priority');
}

/**
 * Validates one action of a proposal: tool, target, parameters, references and characters.
 * @throws INVALID_REQUEST | PERMISSION_DENIED a tool that the source may not use | VALIDATION_ERROR parameters
 */
export function readAction(
  actions: readonly ProposedAction[],
  index: number,
  { source, isUndo }: { source: PlanSource; isUndo: boolean },
): PreparedAction {
  const action = actions[index] as ProposedAction;
  const spec = findAction(action.tool);
  if (!spec) throw invalid(`Action ${index}: there is no such tool`);
  if (typeof action.params !== 'object' || action.params === null || Array.isArray(action.params)) {
    throw invalid(`Action ${index}: params must be an object`);
  }
  if (!isUndo && !mayPropose(spec, action.params, source)) {
    throw new DomainError('PERMISSION_DENIED', `Action ${index}: ${action.tool} cannot be proposed here`);
  }
  const hidden = isUndo ? undefined : hiddenCharacter(action.params);
  if (hidden !== undefined) throw invalid(`Action ${index}: params contain the hidden character ${hidden}`);
  return {
    tool: action.tool,
    spec,
    entityId: readEntityId(spec, action, index, actions),
    params: readParams(spec, action, index, actions),
  };
}
