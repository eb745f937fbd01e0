import type { Project } from '../../../../db/models/project.js';
import { defineStatement, run } from '../../../../db/statement.js';
import { type Change, recordChange } from '../../../platform/changes/record-change.js';
import type { Context } from '../../../platform/context.js';
import { PROJECT_JSON } from '../project-json.js';

/** $1 = id of a locked project. Gives it the health of its newest update, if there is one; that is no new version of its fields. */
const statement = defineStatement({
  name: 'refresh_health',
  text: /* sql */ `
    update projects p set health = n.health, health_at = n.created_at
    from (select $1::uuid as project_id) given
    left join lateral (
      select u.health, u.created_at from project_updates u where u.project_id = given.project_id order by u.update_id desc limit 1
    ) n on true
    where p.project_id = given.project_id returning ${PROJECT_JSON} as json`,
});

/** Stores the health of a locked project after a change of its updates. Returns the project as the API shows it. */
export async function refreshHealth({ db }: Context, projectId: string): Promise<unknown> {
  const [row] = await run<{ json: unknown }>(db, statement, [projectId]);
  return row?.json;
}

/** Records a change of an update: audit entry, activity line and event. */
export const recordUpdate = (
  ctx: Context,
  { team_id, project_id, name }: Project,
  updateId: string,
  change: Pick<Change, 'action' | 'summary' | 'details' | 'event'>,
): Promise<string> =>
  recordChange(ctx, {
    team_id,
    project_id,
    feature: 'projects',
    entity_type: 'project_update',
    entity_id: updateId,
    title: name,
    ...change,
    details: { project_id, ...change.details },
  });
