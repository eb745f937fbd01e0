import { v7 as uuidv7 } from 'uuid';
import type { TestTeam } from '../factories/people.js';
import type { TestApp } from '../support/app.js';

const NEVER = ' || event.task.title == "never"'.repeat(26);

/** A condition of almost the maximum length that is never true. */
export const LONG_CONDITION = `event.task.title == "${'x'.repeat(980 - 22 - NEVER.length)}"${NEVER}`;

/** Many automations of one team, behind the product's back. */
export async function crowd(
  app: TestApp,
  team: TestTeam,
  { automations, condition = null, actions = 1 }: { automations: number; condition?: string | null; actions?: number },
): Promise<void> {
  const steps = JSON.stringify(
    Array.from({ length: actions }, () => ({
      type: 'add_comment',
      params: { task_id: 't', content: 'x' },
      on_failure: 'continue',
    })),
  );
  const values = { team: team.team_id, person: team.manager.user_id, automations, condition, steps };
  await app.services.db.raw(
    /* sql */ `
    with made as (
      insert into automations (name, trigger_type, condition, actions, team_id, created_by, updated_by)
      select 'Crowd ' || i, 'task.created', :condition, :steps::jsonb, :team::uuid, :person::uuid, :person::uuid
      from generate_series(1, :automations::int) i
      returning automation_id, version, name, trigger_type, condition, actions, created_by
    )
    insert into automation_versions (automation_id, version, name, trigger_type, condition, actions, changed_by)
    select automation_id, version, name, trigger_type, condition, actions, created_by from made`,
    values,
  );
}

/** Pending events of a team, as `enqueue_events` writes them. */
export const pending = (app: TestApp, team: TestTeam, count: number, more: Record<string, unknown> = {}) =>
  app.services.db.batchInsert(
    'outbox',
    Array.from({ length: count }, (_, n) => ({
      kind: 'event',
      subject: 'task.created',
      team_id: team.team_id,
      actor_id: team.manager.user_id,
      payload: JSON.stringify({
        actor_id: team.manager.user_id,
        task: { task_id: `t${n}`, title: `Task ${n}`, ...more },
        changes: {},
      }),
      correlation_id: uuidv7(),
    })),
    500,
  );
