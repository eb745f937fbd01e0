import { z } from 'zod';
import { TASK_PRIORITIES, TASK_STATUSES } from '../../work/tasks/rules.js';
import { getAction, type Tool } from './catalogue.js';

type Json = Record<string, unknown>;

/** Returns a schema without what only our API document needs: each call of a model pays for every byte, and an id may be a reference. */
function plain(schema: Json): Json {
  const { $schema: _draft, id: _id, example: _example, description: _words, pattern: _pattern, ...rest } = schema;
  return rest;
}

const DAY: Json = { type: ['string', 'null'], description: 'YYYY-MM-DD' };
/** What the schemas of the API hide behind a normalization, spelled out. */
const OF_TASKS: Record<string, Json> = {
  status: { type: 'string', enum: [...TASK_STATUSES] },
  priority: { type: 'string', enum: [...TASK_PRIORITIES] },
  due_date: DAY,
  tags: { type: 'array', items: { type: 'string', maxLength: 50 }, maxItems: 20 },
};
const OF_PROJECTS: Record<string, Json> = { start_date: DAY, end_date: DAY };

/** Returns the parameters of an action as properties of a JSON Schema, for programs that propose it. */
export function paramsSchema(tool: Tool): { properties: Record<string, Json>; required: string[] } {
  const options = { io: 'input', unrepresentable: 'any', reused: 'inline' } as const;
  const { properties = {}, required = [] } = z.toJSONSchema(getAction(tool).schema, options) as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  const spelled = tool.startsWith('task.') ? OF_TASKS : OF_PROJECTS;
  const shown = Object.entries(properties).map(([name, schema]): [string, Json] => [name, spelled[name] ?? plain(schema)]);
  return { properties: Object.fromEntries(shown), required };
}
