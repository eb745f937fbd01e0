import { z } from 'zod';
import { listMembersTool } from './list-members.js';
import { listTasksTool } from './list-tasks.js';
import { getItemTool, listProjectsTool, searchTool } from './read-tools.js';
import { discardPlanTool, getPlanTool, listPendingTool } from './plan-tools.js';
import { proposePlanTool } from './propose-plan.js';
import { cancelRequestTool, getRequestTool, reportOutcomeTool, requestChangeTool, useRequestTool } from './request-tools.js';
import type { McpTool } from './tool.js';

/** Tools of the MCP endpoint, in list order. None of them confirms a plan or approves a request. */
export const TOOLS: readonly McpTool[] = [
  searchTool,
  getItemTool,
  listProjectsTool,
  listTasksTool,
  listMembersTool,
  listPendingTool,
  getPlanTool,
  proposePlanTool,
  discardPlanTool,
  requestChangeTool,
  getRequestTool,
  useRequestTool,
  reportOutcomeTool,
  cancelRequestTool,
];

type InputSchema = { type: 'object' } & Record<string, unknown>;
const schemas = new Map<string, InputSchema>();

/** Returns a tool's arguments as a JSON Schema. */
export function toInputSchema({ name, input }: McpTool): InputSchema {
  let schema = schemas.get(name);
  if (!schema) {
    const { $schema: _dialect, ...rest } = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }) as InputSchema;
    schemas.set(name, (schema = rest as InputSchema));
  }
  return schema;
}
