import { connectAgent } from '../../demo/connect-agent.js';
import { haveActedOnce, type User } from '../caller.js';
import { until } from '../shell.js';
import type { Stack } from '../stack.js';
import type { Pending } from './pending.js';

interface Plan {
  session_id: string;
  action_id: string;
}

/** Plans that an agent proposes over MCP, each a comment on a task of its own. Settled: confirmed, and each commented once. */
export async function beginPlans({ call, agentToken, projectId }: User, stack: Stack, count: number): Promise<Pending> {
  const { client, use } = await connectAgent(stack.url, agentToken);
  const tasks: string[] = [];
  const proposed = new Set<unknown>();
  for (let n = 0; n < count; n += 1) {
    const body = { title: `planned ${n}`, project_id: projectId };
    const { task_id } = await call<{ task_id: string }>('POST', '/api/tasks', body);
    tasks.push(task_id);
    const comment = { tool: 'task.comment', entity_id: task_id, params: { content: 'planned' } };
    proposed.add((await use('propose_plan', { actions: [comment] }))['action_id']);
  }
  await client.close();
  return {
    what: `${count} plans staged before the upgrade`,
    goal: 'each acts once',
    async settle() {
      const { pending } = await call<{ pending: Plan[] }>('GET', '/api/ai-workspace/agent/pending?limit=200');
      for (const { session_id, action_id } of pending.filter((plan) => proposed.has(plan.action_id)))
        await call('POST', '/api/ai-workspace/agent/confirm', { session_id, action_id });
      const counted = `select count(*) from comments where task_id in (${tasks.map((id) => `'${id}'`).join()}) group by task_id`;
      const [comments] = await until('every confirmed plan', 30, async () => {
        const counts = await stack.sql(counted);
        return counts.length === count && counts;
      });
      const holds = haveActedOnce(comments, count);
      return { found: holds ? 'each acts once' : comments.join(), holds };
    },
  };
}
