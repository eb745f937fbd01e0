import type { LanguageModelV3FunctionTool } from '@ai-sdk/provider';
import type { ProposedAction } from '../../plans/proposal.js';
import { getAction, PROPOSABLE, type Tool } from '../../../gate/work-actions/catalogue.js';
import { paramsSchema } from '../../../gate/work-actions/params-schema.js';
import type { Handles, Target } from '../prompt/handles.js';
import { type CallInput, CallRefused } from './read-tools.js';

type Json = Record<string, unknown>;
type ItemTarget = Target['type'];

/** Tools that a model may propose, by their names in its world: `task_set_status` for `task.set_status`. */
const TOOL_OF = new Map(PROPOSABLE.map((tool) => [tool.replace('.', '_'), tool]));

const ITEMS: readonly ItemTarget[] = ['task', 'project', 'note', 'file', 'whiteboard', 'doc'];
/** Parameters that hold an id: a model gives a handle instead. */
const ID_FIELDS: Record<string, readonly ItemTarget[]> = {
  project_id: ['project'],
  parent_task_id: ['task'],
  assigned_to: ['user'],
  lead_id: ['user'],
  source_id: ITEMS,
  target_id: ITEMS,
};
/** Parameters that a model is not offered: ids for which it has no handles, and what only a client needs. */
const NOT_OFFERED = ['team_id', 'parent_comment_id', 'position', 'recurrence', 'stage_id'];
const REFERENCE = /^\$(?:0|[1-9]\d?)$/;

/** Name of the parameter that holds the handle of the target, and the kinds of targets. */
function resolveTarget(tool: Tool): { field: string; types: readonly ItemTarget[] } | undefined {
  const { entity, kind } = getAction(tool);
  if (kind === 'create') return undefined;
  return { field: `${entity}_id`, types: [entity as ItemTarget] };
}

const EXAMPLES: Partial<Record<ItemTarget, string>> = { user: 'U1', project: 'P1', relation: 'R1' };

const handleSchema = (types: readonly ItemTarget[], isNullable: boolean): Json => ({
  type: isNullable ? ['string', 'null'] : 'string',
  description: `Handle, such as ${EXAMPLES[types[0] ?? 'task'] ?? 'T1'}`,
});

/** Returns the schema of a tool's parameters, with handles in place of ids. */
function getSchema(tool: Tool): Json {
  const target = resolveTarget(tool);
  const { properties, required } = paramsSchema(tool);
  const offered = Object.entries(properties).filter(([name]) => !NOT_OFFERED.includes(name));
  const shown = offered.map(([name, schema]): [string, Json] => {
    const types = ID_FIELDS[name];
    return [name, types ? handleSchema(types, !required.includes(name) || tool === 'task.assign') : schema];
  });
  return {
    type: 'object',
    properties: Object.fromEntries(target ? [[target.field, handleSchema(target.types, false)], ...shown] : shown),
    required: [...(target ? [target.field] : []), ...required],
    additionalProperties: false,
  };
}

/** Tools that propose. None writes: a call becomes an action of a plan that a person reads. */
export const PROPOSAL_TOOLS: LanguageModelV3FunctionTool[] = [...TOOL_OF].map(([name, tool]) => ({
  type: 'function',
  name,
  description: getAction(tool).words.proposal ?? tool,
  inputSchema: getSchema(tool) as LanguageModelV3FunctionTool['inputSchema'],
}));

/** Returns the tool that a name stands for; undefined if none is offered under it. */
export const proposalTool = (name: string): Tool | undefined => TOOL_OF.get(name);

interface Resolving {
  handles: Handles;
  /** Team of a note without a project: that of the first linked item. */
  teamId: string | null;
}

/**
 * Returns the id for a handle, or a reference to an earlier proposal as it is.
 * @throws CallRefused for anything else, such as an id from a text
 */
function getId(
  { handles }: Resolving,
  field: string,
  value: unknown,
  types: readonly ItemTarget[],
  mustBeLinked: boolean,
): string {
  if (typeof value === 'string' && REFERENCE.test(value)) return value;
  const target = handles.resolve(value);
  if (!target || !types.includes(target.type)) throw new CallRefused(`${field} is not a handle of the right kind`);
  if (mustBeLinked && !target.isLinked) throw new CallRefused(`${field} is not linked`);
  return target.id;
}

/**
 * Turns a call into an action: handles become ids. Everything else is checked when the plan is staged.
 * @throws CallRefused
 */
export function describeProposal(tool: Tool, input: CallInput, resolving: Resolving): ProposedAction {
  const target = resolveTarget(tool);
  const { [target?.field ?? '']: handle, ...given } = input;
  const params = Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      const types = Object.hasOwn(ID_FIELDS, name) ? ID_FIELDS[name] : undefined;
      if (!types || value === null) return [name, value];
      return [name, getId(resolving, name, value, types, name !== 'project_id')];
    }),
  );
  if (NOT_OFFERED.some((name) => Object.hasOwn(params, name))) throw new CallRefused('a parameter is not offered');
  const team = tool === 'note.create' && params['project_id'] == null && resolving.teamId !== null;
  return {
    tool,
    ...(target ? { entity_id: getId(resolving, target.field, handle, target.types, true) } : {}),
    params: team ? { ...params, team_id: resolving.teamId } : params,
  };
}
