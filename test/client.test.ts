import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import createClient from 'openapi-fetch';
import { createOpenApi } from '../api/http/openapi.js';
import { ENDPOINTS } from '../api/http/router.js';
import type { components, paths } from '../clients/typescript/schema.js';
import { buildTeam } from './factories/people.js';
import { startApp, type TestApp } from './support/app.js';

// The typed client (clients/typescript) against the running service; its types are checked with the rest of the tests.

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

it('is made from the document as it is now; if not: npm run client', () => {
  const schema = readFileSync(resolve(import.meta.dirname, '../clients/typescript/schema.d.ts'), 'utf8');
  const digest = createHash('sha256')
    .update(JSON.stringify(createOpenApi(ENDPOINTS)))
    .digest('hex');
  expect(schema.split('\n', 1)[0]).toContain(digest);
});

it('writes, reads, goes through pages, and is told why it is refused', async () => {
  const { team_id, member } = await buildTeam(app);
  const assent = createClient<paths>({ baseUrl: app.url, headers: { Authorization: `Bearer ${member.token}` } });

  const project = await assent.POST('/api/projects', { body: { name: 'Apollo', team_id } });
  const project_id = project.data?.data.project_id as string;
  const create = () =>
    assent.POST('/api/tasks', {
      params: { header: { 'Idempotency-Key': 'countdown' } },
      body: { title: 'Count down', project_id, priority: 'high' },
    });
  const first = await create();
  expect(first.response.status).toBe(201);
  const again = await create();
  expect(again.data).toEqual(first.data);
  expect(again.response.headers.get('Idempotency-Replayed')).toBe('true');

  const task: components['schemas']['Task'] | undefined = first.data?.data;
  const path = { task_id: task?.task_id as string };
  const changed = await assent.PATCH('/api/tasks/{task_id}', { params: { path }, body: { status: 'done', version: 1 } });
  expect(changed.data?.message).toBe('Task updated');
  const stale = await assent.PATCH('/api/tasks/{task_id}', { params: { path }, body: { title: 'Late', version: 1 } });
  expect(stale.error).toMatchObject({ error_code: 'RESOURCE_CONFLICT', success: false });
  const read = await assent.GET('/api/tasks/{task_id}', { params: { path } });
  expect(read.data).toMatchObject({ status: 'done', version: 2, subtasks: [] });

  const activity = await assent.GET('/api/activity', { params: { query: { team_id, limit: 1 } } });
  expect(activity.data).toHaveLength(1);
  expect(activity.response.headers.get('Link')).toContain('rel="next"');
});
