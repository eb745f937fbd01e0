import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { DEMO_TOKEN } from '../../../api/platform/demo-token.js';
import { ENDPOINTS } from '../../../api/http/router.js';
import { seedDemo } from '../../../scripts/demo-data/seed-demo.js';
import type { RunningWorker } from '../../../activities/worker/start-worker.js';
import { startApp, type TestApp } from '../../support/app.js';
import { queuePrefix, runWorker, until } from '../../support/worker.js';

// requests.http at the root: every request of it, in its order, against the demo data.

interface Written {
  title: string;
  name: string | undefined;
  method: string;
  url: string;
  headers: [string, string][];
  body: string;
}

const file = readFileSync(resolve(import.meta.dirname, '../../../requests.http'), 'utf8');
const [preface = '', ...blocks] = file.split(/^### ?/m);
const variables = new Map([...preface.matchAll(/^@(\w+) = (.*)$/gm)].map(([, name = '', value = '']) => [name, value] as const));

function parse(block: string): Written {
  const [title = '', ...lines] = block.split('\n');
  const name = lines.map((line) => /^# @name (\w+)$/.exec(line)?.[1]).find(Boolean);
  const [head = '', ...paragraphs] = lines
    .filter((line) => !line.startsWith('#'))
    .join('\n')
    .trim()
    .split('\n\n');
  const [request = '', ...headers] = head.split('\n');
  const [method = '', url = ''] = request.split(' ');
  const pairs = headers.map((header) => header.split(/: (.*)/s).slice(0, 2) as [string, string]);
  return { title, name, method, url, headers: pairs, body: paragraphs.join('\n\n') };
}

/** A form has lines of its own kind, which the editors that run this file write too. */
const asForm = (headers: [string, string][], body: string): string =>
  headers.some(([, value]) => value.startsWith('multipart/')) ? `${body.replaceAll('\n', '\r\n')}\r\n` : body;

const requests = blocks.map(parse);
const answers = new Map<string, unknown>();

/** `{{base}}`, `{{$guid}}`, `{{task.response.body.$.task_id}}`; what is none of these stays as it is. */
function fill(text: string): string {
  return text.replace(/\{\{([^}]+)\}\}/g, (whole, expression: string) => {
    if (expression === '$guid') return randomUUID();
    if (variables.has(expression)) return fill(variables.get(expression) as string);
    const [, name = '', path = ''] = /^(\w+)\.response\.body\.\$(.*)$/.exec(expression) ?? [];
    if (!answers.has(name)) return whole;
    const keys = path.split(/[.[\]]/).filter(Boolean);
    const found = keys.reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], answers.get(name));
    if (typeof found !== 'string') throw new Error(`${expression} is ${JSON.stringify(found)}`);
    return found;
  });
}

const toPattern = (path: string) => new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}$`);
const findEndpoint = ({ method, url }: Written) => {
  const path = url
    .replace('{{base}}', '')
    // Its whole address is in an answer.
    .replace(/^\{\{address\.response\.body\.\$\.url\}\}$/, '/api/hooks/x')
    .split('?')[0]
    ?.replaceAll(/\{\{[^}]+\}\}/g, 'x') as string;
  return ENDPOINTS.find((endpoint) => endpoint.method === method.toLowerCase() && toPattern(endpoint.path).test(path));
};

let app: TestApp;
let worker: RunningWorker;
/** A reader of the file sends the next request when the job has ended. */
const bulkJobsEnd = () =>
  until(async () => {
    const open = app.services.db('bulk_jobs').whereNull('finished_at').orWhereIn('undo_status', ['queued', 'running']);
    return (await open).length === 0;
  });
beforeAll(async () => {
  // As npm start does outside production; the strict settings are those of production, and the demo data comes in all the same.
  const strict = { MEMBERSHIP_CONSENT: 'required', FORGE_BINDING: 'verified', TEAMS_PER_USER: '1' };
  app = await startApp({ TASK_QUEUE_PREFIX: queuePrefix(), WEBHOOK_ALLOWED_HOSTS: '127.0.0.1,localhost', ...strict });
  await seedDemo(app.services);
  // Answers name addresses of the service by its base.
  app.services.config.BASE_URL = app.url;
  variables.set('base', app.url);
  worker = await runWorker(app);
});
afterAll(async () => {
  await worker.stop();
  await app.close();
});

it('uses the demo token, and addresses that exist', () => {
  expect(variables.get('token')).toBe(DEMO_TOKEN);
  expect(requests.filter((request) => !findEndpoint(request)).map(({ title }) => title)).toEqual([]);
});

it('shows every area of the document, and names it first', () => {
  expect(new Set(requests.map((request) => findEndpoint(request)?.tag))).toEqual(new Set(ENDPOINTS.map(({ tag }) => tag)));
  expect(
    requests.filter((request) => !request.title.startsWith(`${findEndpoint(request)?.tag}: `)).map(({ title }) => title),
  ).toEqual([]);
});

it.each(requests.map((request) => [request.title, request] as const))(
  '%s',
  async (_title, { name, method, url, headers, body }) => {
    const filled = headers.map(([header, value]) => [header, fill(value)] as [string, string]);
    const response = await fetch(fill(url), { method, headers: filled, ...(body ? { body: asForm(headers, fill(body)) } : {}) });
    const text = await response.text();
    const answer: unknown = response.headers.get('content-type')?.startsWith('application/json') ? JSON.parse(text) : text;
    expect([response.status < 300, answer]).toEqual([true, answer]);
    if (name) answers.set(name, answer);
    if (url.includes('/api/bulk/')) await bulkJobsEnd();
  },
);

it('leaves nothing behind', async () => {
  const client = app.as(DEMO_TOKEN);
  expect((await client.get('/api/projects')).body.map(({ name }: { name: string }) => name)).toEqual(['Apollo', 'Hermes']);
  expect((await client.get('/api/trash')).body).toEqual([]);
});
