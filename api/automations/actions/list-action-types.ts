import { z } from 'zod';
import type { ActionDescription } from './action-type.js';
import { availableActions, catalogue } from './registry.js';

function schemaOf({ params, defaulted = [] }: ActionDescription): Record<string, unknown> {
  const { $schema: _dialect, required = [], ...schema } = z.toJSONSchema(params, { io: 'input', unrepresentable: 'any' });
  return { ...schema, required: required.filter((name) => !defaulted.some((other) => other === name)) };
}

/** Every dispatchable action, and what the caller's connections add to it (F5, F13). */
export const listActionTypes = () => {
  const available = availableActions().map(({ type }) => type);
  return catalogue().map((action) => {
    const integration = action.category === 'integration';
    return {
      type: action.type,
      label: action.label,
      category: action.category,
      params_schema: schemaOf(action),
      integration: integration ? 'forge' : null,
      connected: !integration,
      available: available.includes(action.type),
      missing_scopes: [] as string[],
    };
  });
};
