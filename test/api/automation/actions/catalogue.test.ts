import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';
import { toInputSchema } from '../../../../api/agent/mcp/tools.js';
import { proposePlanTool } from '../../../../api/agent/mcp/propose-plan.js';
import { PROPOSAL_TOOLS } from '../../../../api/agent/providers/tools/proposal-tools.js';
import type { Fields, WorkAction } from '../../../../api/gate/work-actions/action.js';
import { findAction, PROPOSABLE, TOOLS, WORK_ACTIONS } from '../../../../api/gate/work-actions/catalogue.js';
import { paramsSchema } from '../../../../api/gate/work-actions/params-schema.js';
import { workActions } from '../../../../api/automation/actions/work-actions.js';

// One declaration an action; automations, plans, models and MCP derive their lists from it.

const ACTIONS = WORK_ACTIONS as readonly WorkAction[];
const FOLDER = 'api/gate/work-actions';
/** Files of the folder that declare no action. */
const AROUND = ['action.ts', 'catalogue.ts', 'own-names.ts', 'params-schema.ts', 'risk.ts', 'undo.ts'];

it('holds every action of its folder once, under one name', () => {
  const files = readdirSync(FOLDER).filter((file) => !AROUND.includes(file));
  expect(files).toHaveLength(ACTIONS.length);
  expect(new Set(TOOLS).size).toBe(ACTIONS.length);
});

it.each(ACTIONS.map((action) => [action.tool, action] as const))('%s is undone by a matching action', (_tool, action) => {
  const fields: Fields = { title: 'Before' };
  const inverse = action.undo?.({ entity_id: 'target', before: fields, made_id: 'made' });
  if (!inverse) return;
  const back = findAction(inverse.tool);
  expect(back?.entity).toBe(action.entity === 'task' && action.kind === 'comment' ? 'comment' : action.entity);
  expect(back?.kind === 'create').toBe(inverse.entity_id == null);
});

it('gives automations their actions, a target where there is one', () => {
  const given = ACTIONS.filter(({ automation }) => automation);
  expect(workActions.map(({ type }) => type)).toEqual(given.map(({ automation }) => automation?.type));
  const hasTarget = workActions.map(({ params }) => 'task_id' in (params as z.ZodObject).shape);
  expect(hasTarget).toEqual(given.map(({ kind }) => kind !== 'create'));
});

it('gives models and MCP the same parameters, by their types', () => {
  expect(PROPOSAL_TOOLS.map(({ name }) => name)).toEqual(PROPOSABLE.map((tool) => tool.replace('.', '_')));
  const { properties } = toInputSchema(proposePlanTool) as never as {
    properties: { actions: { items: { oneOf: { properties: { tool: { const: string }; params: object } }[] } } };
  };
  const told = properties.actions.items.oneOf.map((one) => one.properties);
  expect(told.map(({ tool }) => tool.const)).toEqual(PROPOSABLE);
  for (const [at, tool] of PROPOSABLE.entries()) expect(told[at]?.params).toMatchObject(paramsSchema(tool));
  const update = paramsSchema('task.update').properties;
  expect(update).toMatchObject({
    priority: { enum: ['none', 'low', 'medium', 'high', 'urgent'] },
    due_date: { type: ['string', 'null'] },
  });
  expect(update).not.toHaveProperty('version');
});

it('is the only list of its names', () => {
  /** A source that names half of the actions would be a second list. The grammar names one for each kind of clause. */
  const sources = readdirSync('api', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const named = (text: string) => TOOLS.filter((tool) => text.includes(`'${tool}'`)).length;
  const lists = sources.filter(
    (file) => !file.startsWith('actions/work/') && named(readFileSync(join('api', file), 'utf8')) * 2 > TOOLS.length,
  );
  expect(lists).toEqual(['agent/grammar/resolver.ts']);
});
