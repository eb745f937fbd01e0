/** Hostile input is rejected with the documented errors or stored as plain text. */
import { plantTasks, taskWorld } from './world.js';

const world = taskWorld();

const create = (fields: Record<string, unknown>) => world.member.post('/api/tasks', { title: 'x', ...world.project, ...fields });
const count = async () => Number((await world.app.services.db('tasks').where(world.project).count())[0]?.['count']);

describe('text that cannot be stored is a 422 in every field', () => {
  const NUL = '\0';
  const HIGH = '\ud83d';
  const LOW = '\udc4d';
  const FIELDS: [string, (bad: string) => unknown][] = [
    ['title', (bad) => `a${bad}b`],
    ['description', (bad) => `a${bad}b`],
    ['tags', (bad) => ['fine', `a${bad}b`]],
    ['due_date', (bad) => `2026-11-20${bad}`],
    ['task_id', (bad) => `a${bad}b`],
  ];
  it.each(FIELDS)('%s', async (field, getValue) => {
    const task = await world.make();
    for (const bad of [NUL, HIGH, LOW, LOW + HIGH]) {
      const fields = { [field]: getValue(bad) };
      expect((await create(fields)).status).toBe(422);
      const bulk = await world.member.post('/api/tasks/bulk', [{ title: 'x', ...world.project, ...fields }]);
      expect(bulk.body.results[0].error.error_code).toBe('VALIDATION_ERROR');
      if (field !== 'task_id') expect((await world.member.patch(`/api/tasks/${task.task_id}`, fields)).status).toBe(422);
    }
    expect(await count()).toBe(1);
  });

  it('an id with such a character is an unknown id', async () => {
    for (const bad of [NUL, HIGH]) {
      expect((await create({ parent_task_id: `a${bad}` })).status).toBe(404);
      expect((await create({ assigned_to: `a${bad}` })).status).toBe(400);
      expect((await create({ project_id: `a${bad}` })).status).toBe(404);
    }
  });
});

describe('values of another kind are a 422', () => {
  it.each(['title', 'project_id', 'description', 'assigned_to', 'status', 'priority', 'due_date', 'parent_task_id', 'task_id'])(
    '%s takes one text',
    async (field) => {
      for (const wrong of [['a', 'b'], { a: 1 }, 7, true, [[]]])
        expect([field, (await create({ [field]: wrong })).status]).toEqual([field, 422]);
      expect(await count()).toBe(0);
    },
  );

  it.each([
    ['tags', ['a', 1]],
    ['tags', 'a'],
    ['tags', { 0: 'a' }],
    ['tags', [['a']]],
    ['tags', [null]],
    ['estimated_hours', [1]],
    ['estimated_hours', true],
    ['estimated_hours', ''],
  ])('%s: %j', async (field, value) => {
    expect((await create({ [field]: value })).status).toBe(422);
  });

  it.each(['null', '7', '"x"', '[]', 'true', '[{}]', '{"title":', '', '\u0000'])('a body that is %j', async (raw) => {
    const task = await world.make();
    const expected = raw === '' ? 200 : 422;
    expect((await world.member.patch(`/api/tasks/${task.task_id}`, undefined, { raw })).status).toBe(expected);
    expect((await world.member.post('/api/tasks', undefined, { raw })).status).toBe(422);
    expect((await world.row(task.task_id))['version']).toBe(1);
  });

  it('a body nested too deep, wherever it is', async () => {
    const deep = `${'['.repeat(40)}${']'.repeat(40)}`;
    expect((await world.member.post('/api/tasks', undefined, { raw: `{"title":"x","extra":${deep}}` })).status).toBe(422);
    expect((await world.member.post('/api/tasks/bulk', undefined, { raw: deep })).status).toBe(422);
  });
});

it('reports missing fields as required, one by one and in a list', async () => {
  const words = ({ errors }: { errors: { field: string; message: string }[] }) =>
    errors.map(({ field, message }) => `${field}: ${message}`);
  const single = await world.member.post('/api/tasks', {});
  expect(words(single.body.detail)).toEqual(['body.title: title is required', 'body.project_id: project_id is required']);
  const bulk = await world.member.post('/api/tasks/bulk', [world.project]);
  expect(words(bulk.body.results[0].error.detail)).toEqual(['body.0.title: title is required']);
  const { task_id } = await world.make();
  const status = await world.member.patch(`/api/tasks/${task_id}/status`, {});
  expect(words(status.body.detail)).toEqual(['body.status: status is required: one of todo, in_progress, in_review, done']);
});

describe('keys of a body', () => {
  it('of the language are only names: nothing is polluted', async () => {
    const raw = `{"title":"x","project_id":"${world.project.project_id}","__proto__":{"status":"done","polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":"x"}`;
    const { status, body } = await world.member.post('/api/tasks', undefined, { raw });
    expect([status, body.data.status]).toEqual([201, 'todo']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    const bulk = await world.member.post('/api/tasks/bulk', undefined, { raw: `[${raw},"__proto__",{"__proto__":[]}]` });
    expect(bulk.body).toMatchObject({ created: 1, failed: 2 });
  });

  it('given twice, the last counts, as in all of JSON', async () => {
    const raw = `{"title":"first","title":"last","project_id":"${world.project.project_id}"}`;
    expect((await world.member.post('/api/tasks', undefined, { raw })).body.data.title).toBe('last');
  });
});

describe('ids in the path', () => {
  it.each([
    ['a NUL', '%00'],
    ['half of a character', '%C3'],
    ['bad percent', '%E0%A4%A'],
    ['a slash', 'a%2Fb'],
    ['a quote', "x'%20or%201=1--"],
    ['two hundred characters', 'x'.repeat(200)],
    ['dots', '..%2F..'],
    ['a blank', '%20'],
    ['a wildcard', '%25'],
  ])('%s is nobody’s', async (_what, id) => {
    for (const call of [
      () => world.member.get(`/api/tasks/${id}`),
      () => world.member.patch(`/api/tasks/${id}`, { title: 'x' }),
      () => world.member.put(`/api/tasks/${id}/status`, { status: 'done' }),
      () => world.member.delete(`/api/tasks/${id}`),
    ]) {
      const answer = await call();
      expect([400, 404]).toContain(answer.status);
      expect(answer.body.correlation_id).toBe(answer.headers.get('x-correlation-id'));
    }
  });

  it('another spelling of a UUID is another id', async () => {
    const { task_id } = await world.make();
    for (const id of [task_id.toUpperCase(), `{${task_id}}`, task_id.replaceAll('-', ''), ` ${task_id}`])
      expect((await world.member.get(`/api/tasks/${encodeURIComponent(id)}`)).status).toBe(404);
  });
});

/** Text that some reader, somewhere, might run. */
const CORPUS = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "';alert(String.fromCharCode(88))//",
  '<svg/onload=alert(1)>',
  'javascript:alert(1)',
  '</title><script>alert(1)</script>',
  '<iframe srcdoc="<script>alert(1)</script>">',
  '{{constructor.constructor("alert(1)")()}}',
  '${alert(1)}',
  '#{7*7}',
  '<%= 7*7 %>',
  '[x](javascript:alert(1))',
  '=HYPERLINK("http://x.test","x")',
  '+1+cmd|calc!A0',
  "Robert'); drop table tasks;--",
  'a\\u0000b \\x3cscript\\x3e',
  '%s%n%x %00 %0d%0aSet-Cookie: x=1',
  '\u202egnp.exe',
  'line\u2028separator\u2029paragraph',
  '\u001b[31mred\u0007',
  '{{secret:TOKEN}}',
  'K\u0307e\u0301 ﷽ 𝕏 👩‍👩‍👧‍👦',
];

describe('stored text comes back as it is, and as nothing but JSON', () => {
  it.each(CORPUS)('%j', async (text) => {
    const tag = Array.from(text).slice(0, 50).join('').trim();
    const fields = { title: text, description: text, tags: [tag] };
    const { status, body } = await create(fields);
    expect([status, body.data]).toMatchObject([201, fields]);
    const answers = [
      await world.member.get(`/api/tasks/${body.task_id}`),
      await world.member.get(`/api/tasks?project_id=${world.project.project_id}`),
      await world.member.post('/api/tasks/bulk', [{ ...fields, ...world.project }]),
    ];
    const records = [answers[0]?.body, answers[1]?.body[0], answers[2]?.body.results[0].data];
    for (const record of records) expect(record).toMatchObject(fields);
    for (const { headers } of answers) {
      expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'");
    }
    const refused = await world.member.patch(`/api/tasks/${body.task_id}`, { title: text, status: text });
    expect(refused.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(JSON.parse((await world.traces(body.task_id)).audit[0]?.['details'] as string).title).toBe(text);
  });

  it('in a list that is sent in pieces too', async () => {
    await plantTasks(world, 1200, { description: CORPUS.join('\n') });
    const { headers, body } = await world.member.get(`/api/tasks?project_id=${world.project.project_id}`);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(new Set(body.map((task: { description: string }) => task.description))).toEqual(new Set([CORPUS.join('\n')]));
  });
});
