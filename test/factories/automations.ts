import { v7 as uuidv7 } from 'uuid';
import type { Person, TestTeam } from './people.js';
import type { TestApp } from '../support/app.js';

type Action = { type: string; name?: string; on_failure?: 'continue' | 'stop'; params?: Record<string, unknown> } & Record<
  string,
  unknown
>;

interface AutomationOptions {
  trigger_type?: string;
  condition?: string | null;
  actions: Action[];
  project_id?: string | null;
  creator?: Person;
  name?: string;
}

/** An enabled automation with its first version, created by the API's own operation. */
export async function buildAutomation(
  app: TestApp,
  team: TestTeam,
  options: AutomationOptions,
): Promise<{ automation_id: string }> {
  const {
    trigger_type = 'task.created',
    condition = null,
    actions,
    project_id = null,
    creator = team.manager,
    name = 'Test automation',
  } = options;
  const automation_id = uuidv7();
  const definition = { name, trigger_type, condition, actions: JSON.stringify(actions) };
  const { db } = app.services;
  await db('automations').insert({
    automation_id,
    ...definition,
    team_id: team.team_id,
    project_id,
    created_by: creator.user_id,
    updated_by: creator.user_id,
  });
  await db('automation_versions').insert({ automation_id, version: 1, ...definition, changed_by: creator.user_id });
  return { automation_id };
}

export const gate = (params: Record<string, unknown> = {}): Action => ({ type: 'require_approval', params });
export const comment = (content: string, task = '{{event.task.task_id}}'): Action => ({
  type: 'add_comment',
  params: { task_id: task, content },
});
export const setStatus = (status: string, task = '{{event.task.task_id}}'): Action => ({
  type: 'set_task_status',
  params: { task_id: task, status },
});
