import type { ActionDescription } from '../gate/contract/action-type.js';
import { buildParamsSchema } from '../automation/actions/list-action-types.js';
import { availableActions } from '../automation/actions/registry.js';

type Schema = Record<string, unknown>;

const TEMPLATE = { $ref: '#/components/schemas/Template' };

/** `AddCommentAction` for `add_comment`. */
const getName = (type: string): string => `${type.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Action`;

/** References to shared definitions lead to the document's components; those to free JSON are open. */
const localReferences = (_key: string, value: unknown): unknown => {
  const { $ref, ...rest } = (value ?? {}) as Schema;
  if (typeof $ref !== 'string' || !$ref.startsWith('#/$defs/')) return value;
  return $ref.startsWith('#/$defs/__') ? rest : { ...rest, $ref: $ref.replace('#/$defs/', '#/components/schemas/') };
};

/** True if a template passes the schema as any other text does. */
const takesText = ({ type, enum: values, pattern, $ref, anyOf }: Schema): boolean =>
  (Array.isArray(anyOf) && anyOf.some(takesText)) ||
  (values === undefined && pattern === undefined && [type].flat().includes('string')) ||
  (type === undefined && $ref === undefined && anyOf === undefined);

function buildParams(action: ActionDescription): Schema {
  const { $defs: _shared, ...schema } = JSON.parse(JSON.stringify(buildParamsSchema(action), localReferences)) as Schema;
  const properties = Object.entries(schema['properties'] as Record<string, Schema>).map(([name, property]) => {
    const isTemplated = action.templated?.includes(name) ?? true;
    return [name, isTemplated && !takesText(property) ? { anyOf: [property, TEMPLATE] } : property] as const;
  });
  return { ...schema, properties: Object.fromEntries(properties) };
}

/**
 * Returns the schemas of actions: a union by `type`, and one schema for each type with its parameters. `general` has the schemas made
 * of the routes, which know neither.
 */
export function actionSchemas(general: Record<string, Schema>): Record<string, Schema> {
  const actions = availableActions();
  const shared = general['AutomationActionInput']?.['properties'] as Schema;
  const buildRef = (type: string) => `#/components/schemas/${getName(type)}`;
  const schemas = actions.map((action) => {
    const params = {
      anyOf: [buildParams(action), { type: 'null' }],
      description: 'Without `params`, its keys may stand beside `type`',
    };
    const properties = { ...shared, type: { type: 'string', const: action.type }, params };
    return [getName(action.type), { type: 'object', description: action.label, properties, required: ['type'] }] as const;
  });
  return {
    AutomationActionInput: {
      oneOf: actions.map(({ type }) => ({ $ref: buildRef(type) })),
      discriminator: { propertyName: 'type', mapping: Object.fromEntries(actions.map(({ type }) => [type, buildRef(type)])) },
    },
    ...Object.fromEntries(schemas),
    Template: {
      type: 'string',
      pattern: '\\{\\{',
      description: 'A template, such as `{{event.task.priority}}`; its value is checked when the action runs',
      example: '{{event.task.priority}}',
    },
  };
}
