import { run, type Statement } from '../../../db/statement.js';
import type { AutomationRunInput, RunPlan, RunStep } from '../../../workflows/contract.js';
import type { Services } from '../../core/context.js';

/**
 * $1 run, $2 incarnation, $3 execution. The first execution of the run's incarnation takes it; the same one may ask again
 * after a lost answer, a second one finds nothing (durability notes, 3.1).
 */
const statement: Statement = {
  name: 'claim_run',
  text: /* sql */ `
    with claimed as (
      update automation_runs set claimed_by = $3, started_at = coalesce(started_at, now()),
        status = case status when 'queued' then 'running' else status end
      where run_id = $1 and incarnation = $2 and finished_at is null and (claimed_by is null or claimed_by = $3)
      returning run_id, automation_name, trigger_type
    )
    select c.automation_name, c.trigger_type,
      coalesce(json_agg(json_build_object('index', a.index, 'type', a.type, 'label', coalesce(a.name, a.type)) order by a.index)
        filter (where a.index is not null), '[]') as steps
    from claimed c left join run_actions a on a.run_id = c.run_id and a.status <> 'skipped' group by c.automation_name, c.trigger_type`,
};

/**
 * Takes a run for one execution of its workflow. Returns its steps, or null when it ended or belongs to another execution.
 * `execution` is the id of the workflow's first execution.
 */
export async function claimRun(
  services: Services,
  { runId, incarnation }: AutomationRunInput,
  execution: string,
): Promise<RunPlan | null> {
  const [row] = await run<{ automation_name: string; trigger_type: string; steps: RunStep[] }>(services.db, statement, [
    runId,
    incarnation,
    execution,
  ]);
  return row ? { automationName: row.automation_name, triggerType: row.trigger_type, steps: row.steps } : null;
}
