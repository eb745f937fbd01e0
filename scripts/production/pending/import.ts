import type { User } from '../caller.js';
import { until } from '../shell.js';
import type { Stack } from '../stack.js';
import type { Pending } from './pending.js';

/** Time within which the import ends after the upgrade, s. */
const SECONDS = 600;

/**
 * An import of tasks. Settled: it has ended after the workers were replaced, and every task of it is there once.
 * @param replacedAt when the workers had been replaced, ISO 8601
 */
export function planImport(user: User, stack: Stack, rows: number, replacedAt: () => Promise<string>): Pending {
  const records = Array.from({ length: rows }, (_, n) => JSON.stringify({ entity: 'task', title: `imported ${n}` }));
  let jobId = '';
  const job = (expression: string) =>
    stack.sql(`select ${expression} from bulk_jobs where job_id = '${jobId}' and finished_at is not null`);
  return {
    what: `import of ${rows} tasks under way while the workers were replaced`,
    goal: 'complete, none twice',
    async begin() {
      const { job_id } = await user.call<{ job_id: string }>('POST', '/api/bulk/import', {
        team_id: user.teamId,
        format: 'ndjson',
        data: `${records.join('\n')}\n`,
        project_id: user.projectId,
      });
      jobId = job_id;
    },
    async settle() {
      const [[status]] = await until('the end of the import', SECONDS, async () => {
        const found = await job('status');
        return found.length === 1 && found;
      });
      const [spans] = await job(`finished_at > '${await replacedAt()}'`);
      const [counts] = await stack.sql("select count(*), count(distinct title) from tasks where title like 'imported %'");
      const holds = status === 'succeeded' && counts === `${rows}|${rows}` && spans === 't';
      const problem = `${status}, tasks and titles ${counts}${spans === 't' ? '' : ', ended before the workers were replaced'}`;
      return { found: holds ? 'complete, none twice' : problem, holds };
    },
  };
}
