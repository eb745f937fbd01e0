import { subscribe } from '../../../factories/events.js';
import { buildPerson, buildProject, buildTeam, buildToken } from '../../../factories/people.js';
import type { Answer } from '../../../support/app.js';
import { itemWorld, UNKNOWN } from './world.js';

const world = itemWorld();
const post = (body: object) => world.member.post('/api/work-items', body);
const path = ({ item_id }: { item_id: string }) => `/api/work-items/${item_id}`;
const findAudit = (id: string) => world.app.services.db('audit_entries').where({ entity_id: id }).orderBy('timestamp');
const listFields = ({ body }: Answer) => body.detail.errors.map(({ field }: { field: string }) => field);

describe('POST /api/work-items', () => {
  it.each(['note', 'file', 'whiteboard', 'doc'])('201 a %s needs only type and title', async (type) => {
    const { status, body, headers } = await post({ type, title: 'Plan' });
    const texts = { note: { content: '', kind: 'note' }, doc: { content: '' } }[type] ?? {};
    const paths: Record<string, string> = { note: '/api/notes', file: '/api/files' };
    expect([status, body]).toEqual([
      201,
      {
        item_id: expect.any(String),
        id: body.item_id,
        type,
        title: 'Plan',
        description: null,
        status: 'active',
        team_id: world.team.team_id,
        project_id: null,
        fields: {},
        url: `${paths[type] ?? '/api/work-items'}/${body.item_id}`,
        created_by: world.team.member.user_id,
        created_at: expect.any(String),
        updated_at: body.created_at,
        version: 1,
        ...texts,
      },
    ]);
    expect(headers.get('etag')).toBe('"1"');
    expect((await world.member.get(path(body))).body).toEqual(body);
  });

  it('201 a task item is the task itself; a task_id of one’s own makes it repeatable', async () => {
    const fields = { type: 'task', title: 'Ship it', task_id: `ship:${world.team.team_id}`, priority: 'high', colour: 'red' };
    const made = await post({ ...fields, ...world.project });
    expect(made).toMatchObject({ status: 201, body: { item_id: fields.task_id, status: 'todo', fields: { colour: 'red' } } });
    expect(made.body.url).toBe(`/api/tasks/${fields.task_id}`);
    expect((await world.member.get(made.body.url)).body).toMatchObject({ title: 'Ship it', priority: 'high', version: 1 });
    const again = await post({ ...fields, ...world.project, colour: 'blue' });
    expect(again).toMatchObject({ status: 200, body: made.body });
    const elsewhere = await buildProject(world.app, world.team);
    expect((await post({ ...fields, ...elsewhere })).status).toBe(409);
  });

  it('201 a project item is the project itself', async () => {
    const { body } = await post({
      type: 'project',
      title: 'Gemini',
      team_id: world.team.team_id,
      start_date: '2026-12-01',
      x: 1,
    });
    expect(body).toMatchObject({ type: 'project', status: 'active', project_id: body.item_id, fields: { x: 1 }, version: 1 });
    expect((await world.member.get(body.url)).body).toMatchObject({ name: 'Gemini', start_date: '2026-12-01' });
  });

  it('unknown keys and `fields` become the free fields; read-only keys of a record do not', async () => {
    const readOnly = { item_id: 'x', id: 'x', url: 'x', created_by: 'x', created_at: 'x', updated_at: 'x', version: 9 };
    const { body } = await post({
      type: 'doc',
      title: 'Plan',
      ...readOnly,
      fields: { a: 1, b: [2] },
      b: { deep: null },
      kind: 'c',
    });
    expect(body).toMatchObject({ fields: { a: 1, b: { deep: null }, kind: 'c' }, version: 1 });
    expect(body.item_id).not.toBe('x');
  });

  it('422 free fields of more than 32,768 bytes of JSON, or with characters that cannot be stored', async () => {
    const text = 'x'.repeat(32_768 - '{"a":""}'.length);
    for (const type of ['doc', 'task'] as const) {
      const item = { type, title: 'Plan', ...world.project };
      expect((await post({ ...item, a: text })).status).toBe(201);
      expect(listFields(await post({ ...item, a: `${text}x` }))).toEqual(['body.fields']);
      for (const bad of ['\0', '\ud800', '\udc00x']) expect(listFields(await post({ ...item, a: bad }))).toEqual(['body.fields']);
      const odd = { a: '\\u0000 \\\\ud800', n: 1e300, '': null, '\u{1F600}': '\u{1F600}', constructor: 1 };
      expect((await post({ ...item, fields: odd })).body.fields).toEqual(odd);
    }
  });

  it('422 an unknown type, a task without project, a project without team, a title that is missing', async () => {
    expect(listFields(await post({ type: 'song', title: 'x' }))).toEqual(['body.type']);
    expect(listFields(await post({ title: 'x' }))).toEqual(['body.type']);
    expect(listFields(await post({ type: 'task', title: 'x' }))).toEqual(['body.project_id']);
    expect(listFields(await post({ type: 'project', title: 'x' }))).toEqual(['body.team_id']);
    expect(listFields(await post({ type: 'note' }))).toEqual(['body.title']);
    expect(listFields(await post({ type: 'note', title: 'x', status: 'done' }))).toEqual(['body.status']);
  });

  it('a strict token needs projects:write for a project, and only for that', async () => {
    const strict = (scopes: never[]) => buildToken(world.app, world.team.member, scopes, { strict: true });
    const poor = world.app.as(await strict(['tasks:write', 'graph:read'] as never[]));
    const rich = world.app.as(await strict(['tasks:write', 'projects:write'] as never[]));
    const project = { type: 'project', title: 'Gemini', team_id: world.team.team_id };
    const refused = await poor.post('/api/work-items', project);
    expect(refused).toMatchObject({ status: 403, body: { message: 'Token is missing the required scope: projects:write' } });
    expect((await poor.post('/api/work-items', { type: 'doc', title: 'x' })).status).toBe(201);
    const made = await rich.post('/api/work-items', project);
    expect(made.status).toBe(201);
    expect((await poor.put(path(made.body), { title: 'x' })).status).toBe(403);
    expect((await poor.delete(path(made.body))).status).toBe(403);
    expect((await rich.put(path(made.body), { title: 'x' })).status).toBe(200);
  });
});

describe('PUT /api/work-items/:item_id', () => {
  it.each(['note', 'file', 'whiteboard', 'doc'])('replaces a %s: missing fields get their defaults', async (type) => {
    const made = await world.make(type, { description: 'Long', status: 'archived', extra: 1 });
    const { status, body, headers } = await world.member.put(path(made), { title: 'New', version: 1 });
    expect([status, headers.get('etag')]).toEqual([200, '"2"']);
    expect(body).toMatchObject({ title: 'New', description: null, status: 'active', fields: {}, project_id: null, version: 2 });
    expect((await world.member.put(path(made), { title: 'New', version: 1 })).status).toBe(409);
  });

  it.each(['task', 'project', 'note', 'file', 'whiteboard', 'doc'])(
    'a %s sent back as it was read changes nothing',
    async (type) => {
      const place = type === 'project' ? { team_id: world.team.team_id, project_id: undefined } : {};
      const made = await world.make(type, { ...place, description: 'Long', x: { y: 1 } });
      const before = (await world.member.get(path(made))).body;
      const answer = await world.member.put(path(made), before);
      expect([answer.status, answer.body]).toEqual([200, before]);
    },
  );

  it('a task keeps what its record does not show; its free fields count as a change of the task', async () => {
    const made = await world.make('task', { due_date: '2026-12-01', priority: 'high', x: 1, description: 'Long' });
    const first = await world.member.put(path(made), { title: 'New', x: 1 });
    expect(first.body).toMatchObject({ title: 'New', description: null, status: 'todo', version: 2 });
    const second = await world.member.put(path(made), { title: 'New', x: 2, due_date: null, status: 'In-Progress' });
    expect(second.body).toMatchObject({ fields: { x: 2 }, status: 'in_progress', version: 3 });
    const task = (await world.member.get(`/api/tasks/${made.item_id}`)).body;
    expect(task).toMatchObject({ due_date: null, priority: 'high', status: 'in_progress', version: 3 });
    const stale = await world.member.put(path(made), { title: 'x', version: 2 });
    expect(stale.body.changed_since).toMatchObject({ version: 3, fields: ['due_date', 'fields', 'status'] });
    expect((await findAudit(made.item_id)).map(({ action }) => action)).toEqual(['create', 'update', 'update']);
  });

  it.each(['task', 'project'] as const)(
    'one PUT of a %s with free fields is one version, one entry and one event',
    async (type) => {
      await subscribe(world.app, world.team);
      const place = type === 'project' ? { team_id: world.team.team_id, project_id: undefined } : {};
      const made = await world.make(type, { ...place, x: 1 });
      const put = async (body: object) => {
        const { status, body: item } = await world.member.put(path(made), body);
        expect(status).toBe(200);
        const rows = await world.app.services
          .db('outbox')
          .where({ subject: `${type}.updated`, team_id: world.team.team_id })
          .orderBy('outbox_id');
        const of = rows.map(({ payload }) => payload).filter((payload) => payload[type][`${type}_id`] === made.item_id);
        const entries = (await findAudit(made.item_id)).filter(({ action }) => action === 'update');
        return { version: item.version, events: of.map(({ changes }) => Object.keys(changes)), entries: entries.length };
      };
      expect(await put({ title: 'New', x: 2 })).toMatchObject({
        version: 2,
        events: [[expect.any(String), 'fields']],
        entries: 1,
      });
      // Only the free fields change.
      expect(await put({ title: 'New', x: 'three' })).toMatchObject({
        version: 3,
        events: [expect.anything(), ['fields']],
        entries: 2,
      });
      const { details } = (await findAudit(made.item_id)).at(-1);
      expect(JSON.parse(details)).toMatchObject({ changes: { fields: { from_bytes: 7, to_bytes: 13 } }, version: 3 });
      // Refused as a whole.
      const stale = await world.member.put(path(made), { title: 'Newer', x: 4, version: 2 });
      expect(stale.status).toBe(409);
      expect((await world.member.get(path(made))).body).toMatchObject({ title: 'New', fields: { x: 'three' }, version: 3 });
    },
  );

  it('a project has a version too; its dates stay unless they are given', async () => {
    const dates = { start_date: '2026-12-01', end_date: '2026-12-24' };
    const made = await world.make('project', { team_id: world.team.team_id, project_id: undefined, ...dates });
    const answer = await world.member.put(path(made), { title: 'New', end_date: null }, { headers: { 'if-match': '"1"' } });
    expect(answer.body).toMatchObject({ title: 'New', status: 'active', version: 2 });
    const project = (await world.member.get(`/api/projects/${made.item_id}`)).body;
    expect(project).toMatchObject({ name: 'New', start_date: '2026-12-01', end_date: null });
    await world.member.patch(`/api/projects/${made.item_id}`, { status: 'archived' });
    const stale = await world.member.put(path(made), { title: 'x', version: 2 });
    expect(stale).toMatchObject({ status: 409, body: { changed_since: { version: 3, fields: ['status'] } } });
  });

  it('400 another type, team or project that cannot be; 422 what the type does not take; 404 and 403', async () => {
    const made = await world.make('doc');
    const task = await world.make('task');
    const other = await buildTeam(world.app);
    const foreign = await buildProject(world.app, other);
    const put = (fields: object, item = made) => world.member.put(path(item), { title: 'x', ...fields });
    expect((await put({ type: 'note' })).status).toBe(400);
    expect((await put({ team_id: other.team_id })).status).toBe(400);
    expect((await put(foreign)).status).toBe(403);
    expect((await put({ project_id: UNKNOWN })).status).toBe(404);
    expect((await put(foreign, task)).status).toBe(403);
    expect((await put({ project_id: UNKNOWN }, { item_id: world.project.project_id, version: 1 })).status).toBe(400);
    expect(listFields(await put({ status: 'done' }))).toEqual(['body.status']);
    expect(listFields(await put({ title: 'x'.repeat(201) }, task))).toEqual(['body.title']);
    expect(listFields(await put({ content: 'x'.repeat(102_401) }))).toEqual(['body.content']);
    expect((await put({}, { item_id: UNKNOWN, version: 1 })).status).toBe(404);
    for (const person of [world.team.guest, await buildPerson(world.app)]) {
      // What is wrong with the fields of a type does not tell a stranger the type.
      expect((await world.app.as(person).put(path(made), { title: 'x', status: 'done' })).status).toBe(403);
    }
  });
});

describe('GET /api/work-items/:item_id', () => {
  it('304 for a reader who has this version, of every type', async () => {
    for (const type of ['task', 'doc']) {
      const made = await world.make(type);
      const headers = { 'if-none-match': '"1"' };
      expect((await world.member.get(path(made), undefined, { headers })).status).toBe(304);
      await world.member.put(path(made), { title: 'New' });
      expect((await world.member.get(path(made), undefined, { headers })).status).toBe(200);
    }
  });

  it('404 unknown, malformed, reserved and trashed ids; 403 a stranger', async () => {
    const made = await world.make('whiteboard');
    for (const item_id of [UNKNOWN, '%00', 'relations'])
      expect((await world.member.get(`/api/work-items/${item_id}`)).status).toBe(404);
    expect((await world.app.as(await buildPerson(world.app)).get(path(made))).status).toBe(403);
    expect((await world.app.as(world.team.guest).get(path(made))).status).toBe(200);
    await world.member.delete(path(made));
    expect((await world.member.get(path(made))).status).toBe(404);
  });
});

describe('DELETE /api/work-items/:item_id', () => {
  it.each(['task', 'project', 'note', 'file', 'whiteboard', 'doc'])('moves a %s to the trash', async (type) => {
    const place = type === 'project' ? { team_id: world.team.team_id, project_id: undefined } : {};
    const made = await world.make(type, place);
    const { status, body } = await world.member.delete(path(made));
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: true, verified: true, soft_deleted: true, retention_days: 30 });
    expect(body.restore_url).toBe(`/api/trash/${type}/${made.item_id}/restore`);
    expect((await world.member.get(path(made))).status).toBe(404);
    expect((await world.member.post(body.restore_url)).status).toBe(200);
    expect((await world.member.get(path(made))).body.version).toBe(3);
  });
});
