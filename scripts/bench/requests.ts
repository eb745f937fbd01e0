import { createHash } from 'node:crypto';
import { sign } from '../../api/integrations/forge/deliveries/signature.js';
import { deliveries, type DeliveryName } from '../fixtures/forge-payloads.js';
import { requestBytes, type Source } from './load.js';
import type { World } from './seed.js';
import { FORGE_SECRET } from './servers.js';

/** Real payloads of 8 to 24 kB. */
const EVENTS: DeliveryName[] = [
  'issues.opened',
  'pull_request.opened',
  'pull_request.synchronize',
  'pull_request.closed',
  'push.branch',
  'release.published',
  'check_suite.failed',
  'workflow_run.failed',
];

/**
 * Signed deliveries with unique ids and bodies: each body contains a number, so none is a duplicate under a new id. Signing costs
 * the generator the same for both sides.
 */
export function deliverySource(): Source {
  let sent = 0;
  const templates = EVENTS.map((name) => {
    const { event, body } = deliveries[name];
    const bytes = Buffer.from(JSON.stringify({ ...(body as object), bench: '000000000000' }));
    return { event, bytes, numberAt: bytes.length - 14 };
  });
  return {
    expect: 200,
    next() {
      sent += 1;
      const { event, bytes, numberAt } = templates[sent % templates.length] as (typeof templates)[number];
      const body = Buffer.from(bytes);
      body.write(String(sent).padStart(12, '0'), numberAt, 'latin1');
      const headers = {
        'Content-Type': 'application/json',
        'User-Agent': 'bench',
        'X-Forge-Event': event,
        'X-Forge-Delivery': createHash('md5').update(`${process.pid} ${sent}`).digest('hex'),
        'X-Hub-Signature-256': sign(body, FORGE_SECRET),
      };
      return requestBytes('POST', '/api/forge/webhooks', headers, body);
    },
  };
}

/** The six requests about tasks and the caller. */
export function taskSources({ token, projects, listed, tasks }: World): Record<TaskRequest, Source> {
  const headers = { Authorization: `Bearer ${token}`, 'User-Agent': 'bench' };
  const json = { ...headers, 'Content-Type': 'application/json' };
  const body = (value: object) => Buffer.from(JSON.stringify(value));
  const any = <T>(values: T[]): T => values[Math.floor(Math.random() * values.length)] as T;
  const create = () =>
    body({
      title: 'Check the pressure of tank 2',
      project_id: any(projects),
      description: 'Before the static fire; note the temperature.',
      priority: 'high',
      tags: ['hardware', 'pad-b'],
    });
  return {
    create: { expect: 201, next: () => requestBytes('POST', '/api/tasks', json, create()) },
    update: updateSource(tasks, json),
    status: {
      expect: 200,
      next: () =>
        requestBytes(
          'PATCH',
          `/api/tasks/${any(tasks)}/status`,
          json,
          body({ status: any(['todo', 'in_progress', 'in_review', 'done']) }),
        ),
    },
    get: { expect: 200, next: () => requestBytes('GET', `/api/tasks/${any(tasks)}`, headers) },
    list: { expect: 200, next: () => requestBytes('GET', `/api/tasks?project_id=${listed}`, headers) },
    me: { expect: 200, next: () => requestBytes('GET', '/api/auth/me', headers) },
  };
}

export type TaskRequest = 'create' | 'update' | 'status' | 'get' | 'list' | 'me';

/** Updates with the last seen version. Each connection uses its own tasks, so it knows their versions. */
function updateSource(tasks: string[], headers: Record<string, string>): Source {
  const versions = new Map<string, number>();
  const last = new Map<number, string>();
  let turn = 0;
  return {
    expect: 200,
    next(connection) {
      const share = Math.floor(tasks.length / 64);
      const task = tasks[connection * share + Math.floor(Math.random() * share)] as string;
      last.set(connection, task);
      turn += 1;
      const fields = { title: `Check valve ${turn}`, priority: turn % 2 ? 'high' : 'low', version: versions.get(task) ?? 1 };
      return requestBytes('PATCH', `/api/tasks/${task}`, headers, Buffer.from(JSON.stringify(fields)));
    },
    answered(connection, ok) {
      const task = last.get(connection) as string;
      if (ok) versions.set(task, (versions.get(task) ?? 1) + 1);
    },
  };
}
