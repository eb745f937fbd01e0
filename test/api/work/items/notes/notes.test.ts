import { subscribe } from '../../../../factories/events.js';
import { buildPerson, buildProject, buildTeam, type TestTeam } from '../../../../factories/people.js';
import { type Answer, type Client, startApp, type TestApp } from '../../../../support/app.js';

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let member: Client;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  await subscribe(app, team);
  project = await buildProject(app, team);
  member = app.as(team.member);
});

const UNKNOWN = '019a9f00-0000-7000-8000-000000000001';
const MAX_BYTES = 102_400;
const create = (fields: Record<string, unknown> = {}) => member.post('/api/notes', { title: 'Minutes', ...project, ...fields });
const note = async (fields: Record<string, unknown> = {}): Promise<{ note_id: string }> => (await create(fields)).body;
const path = ({ note_id }: { note_id: string }) => `/api/notes/${note_id}`;
const findAudit = (id: string) => app.services.db('audit_entries').where({ entity_id: id }).orderBy('timestamp');
const listFields = ({ body }: Answer) => body.detail.errors.map(({ field }: { field: string }) => field);
const titles = ({ body }: Answer) => body.map(({ title }: { title: string }) => title);

describe('POST /api/notes', () => {
  it('201 needs only a title; the note lands in the oldest team in which the caller may write', async () => {
    const { status, body, headers } = await member.post('/api/notes', { title: '  Minutes ' });
    expect([status, body]).toEqual([
      201,
      {
        note_id: expect.any(String),
        title: 'Minutes',
        content: '',
        team_id: team.team_id,
        project_id: null,
        kind: 'note',
        created_by: team.member.user_id,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/),
        updated_at: body.created_at,
        version: 1,
      },
    ]);
    const read = await member.get(path(body));
    expect([read.body, read.headers.get('etag')]).toEqual([body, headers.get('etag')]);
  });

  it('201 goes to the default team, unless the caller may not write there', async () => {
    const [other, asGuest] = [await buildTeam(app), await buildTeam(app)];
    const { user_id } = team.member;
    await app.services.db('memberships').insert([
      { team_id: other.team_id, user_id, role: 'member' },
      { team_id: asGuest.team_id, user_id, role: 'guest' },
    ]);
    const prefer = (team_id: string) => member.patch('/api/auth/me', { preferences: { default_team_id: team_id } });
    await prefer(other.team_id);
    expect((await member.post('/api/notes', { title: 'x' })).body.team_id).toBe(other.team_id);
    await prefer(asGuest.team_id);
    expect((await member.post('/api/notes', { title: 'x' })).body.team_id).toBe(team.team_id);
  });

  it('403 without a team to write in', async () => {
    for (const person of [team.guest, await buildPerson(app)])
      expect((await app.as(person).post('/api/notes', { title: 'x' })).status).toBe(403);
  });

  it('keeps the content byte for byte up to 102,400 bytes of UTF-8; one more is a 422', async () => {
    const exact = `\r\n\t é \u{1F600}\u200b ${'a'.repeat(MAX_BYTES)}`.slice(0, MAX_BYTES - 8).concat('  \n');
    const filled = exact + 'b'.repeat(MAX_BYTES - Buffer.byteLength(exact));
    const made = await note({ content: filled });
    expect((await member.get(path(made))).body.content).toBe(filled);
    expect(listFields(await create({ content: `${filled}b` }))).toEqual(['body.content']);
    expect(listFields(await create({ content: 'é'.repeat(MAX_BYTES / 2 + 1) }))).toEqual(['body.content']);
    for (const content of ['a\0b', '\ud800']) expect((await create({ content })).status).toBe(422);
  });

  it('422 names every bad field; 400 a project of another of the caller’s teams than team_id', async () => {
    expect(listFields(await create({ title: '', kind: 'memo', content: 7 }))).toEqual([
      'body.title',
      'body.content',
      'body.kind',
    ]);
    const other = await buildTeam(app);
    await app.services.db('memberships').insert({ team_id: other.team_id, user_id: team.member.user_id, role: 'member' });
    expect((await create({ team_id: other.team_id })).status).toBe(400);
    expect((await create({ team_id: team.team_id })).status).toBe(201);
  });

  it('404 an unknown team or project, 403 a foreign one, and no key stays behind', async () => {
    const { db } = app.services;
    const keys = async () => Number((await db('item_keys').count())[0]?.['count']);
    const stranger = await buildTeam(app);
    const foreign = await buildProject(app, stranger);
    const before = await keys();
    const post = (fields: object) => member.post('/api/notes', { title: 'x', ...fields });
    expect((await post({ team_id: UNKNOWN })).status).toBe(404);
    expect((await post({ project_id: UNKNOWN })).status).toBe(404);
    expect((await post({ team_id: stranger.team_id })).status).toBe(403);
    expect((await post(foreign)).status).toBe(403);
    expect(await keys()).toBe(before);
  });

  it('leaves an audit entry, an activity line and an event that tells all but the text', async () => {
    const answer = await create({ content: 'secret words', kind: 'idea' });
    const { note_id } = answer.body;
    expect(await findAudit(note_id)).toMatchObject([
      { audit_id: answer.headers.get('x-correlation-id'), feature: 'notes', action: 'create', entity_type: 'note' },
    ]);
    expect(await app.services.db('activity').where({ entity_id: note_id })).toMatchObject([{ summary: 'created the note' }]);
    const [event] = await app.services.db('outbox').where({ subject: 'note.created', team_id: team.team_id });
    expect(event.project_id).toBe(project.project_id);
    expect(event.payload).toEqual({
      actor_id: team.member.user_id,
      note: { note_id, title: 'Minutes', team_id: team.team_id, ...project, kind: 'idea' },
    });
  });
});

describe('GET /api/notes', () => {
  it('lists notes oldest first without their texts, a page at a time', async () => {
    for (const title of ['a', 'b', 'c']) await create({ title, content: title });
    const { body, headers } = await member.get(`/api/notes?project_id=${project.project_id}&limit=2`);
    expect(body).toMatchObject([{ title: 'a' }, { title: 'b' }]);
    expect(body[0]).not.toHaveProperty('content');
    expect(headers.get('link')).toContain('offset=2');
    expect(titles(await member.get('/api/notes?limit=2&offset=2'))).toEqual(['c']);
  });

  it('q finds a part of title or content in any case, and takes wildcards literally', async () => {
    await create({ title: 'Über 100 % sure', content: 'plain' });
    await create({ title: 'plain', content: 'Die ÜBERsicht of a_b' });
    await create({ title: 'other', content: 'axb 1000' });
    const found = async (q: string) => titles(await member.get(`/api/notes?q=${encodeURIComponent(q)}`));
    expect(await found('über')).toEqual(['Über 100 % sure', 'plain']);
    expect(await found('100 %')).toEqual(['Über 100 % sure']);
    expect(await found('A_B')).toEqual(['plain']);
    expect(await found('%')).toEqual(['Über 100 % sure']);
    expect(await found('\\')).toEqual([]);
    expect(await found('')).toHaveLength(3);
    expect((await member.get(`/api/notes?q=${'x'.repeat(201)}`)).status).toBe(422);
  });

  it('q reads 16 MiB of texts and says that it left out what follows', async () => {
    await app.services.db.raw(
      /* sql */ `
      with made as (insert into item_keys select uuidv7()::text, 'note' from generate_series(1, 170) returning item_id)
      insert into items (item_id, item_type, kind, team_id, project_id, title, content, created_by)
      select item_id, 'note', 'note', :team_id, :project_id, 'Long ' || row_number() over (), repeat('x', 102400), :user_id from made`,
      { team_id: team.team_id, project_id: project.project_id, user_id: team.member.user_id } as never,
    );
    const list = (query: string) => member.get(`/api/notes?project_id=${project.project_id}&limit=200${query}`);
    const cut = await list('&q=long');
    expect([cut.status, cut.body.length, cut.headers.get('x-truncated')]).toEqual([200, 163, 'true']);
    const none = await list('&q=needle');
    expect([none.status, none.body, none.headers.get('x-truncated')]).toEqual([200, [], 'true']);
    const whole = await list('');
    expect([whole.body.length, whole.headers.get('x-truncated')]).toEqual([170, null]);
  });

  it('a foreign team gives an empty list, a foreign project 403, an unknown one 404', async () => {
    await create();
    const stranger = app.as(await buildPerson(app));
    expect((await stranger.get('/api/notes')).body).toEqual([]);
    expect((await stranger.get(`/api/notes?team_id=${team.team_id}`)).body).toEqual([]);
    expect((await stranger.get(`/api/notes?project_id=${project.project_id}`)).status).toBe(403);
    expect((await stranger.get(`/api/notes?project_id=${UNKNOWN}`)).status).toBe(404);
    expect((await member.get(`/api/notes?limit=1&offset=2147483647`)).body).toEqual([]);
  });
});

describe('PATCH and PUT /api/notes/:note_id', () => {
  it('PATCH changes what is given, counts the version up, and says it in the ETag', async () => {
    const made = await note({ content: 'first', kind: 'idea' });
    const answer = await member.patch(path(made), { content: 'second', version: 1 });
    expect(answer).toMatchObject({ status: 200, body: { title: 'Minutes', content: 'second', kind: 'idea', version: 2 } });
    expect(answer.headers.get('etag')).toBe('"2"');
    const again = await member.patch(path(made), { content: 'second' });
    expect([again.body.version, (await findAudit(made.note_id)).length]).toEqual([2, 2]);
    const [, entry] = await findAudit(made.note_id);
    expect(JSON.parse(entry.details)).toEqual({ changes: { content: { from_bytes: 5, to_bytes: 6 } }, version: 2 });
  });

  it('PUT replaces: a missing field gets its default, and the note leaves its project', async () => {
    const made = await note({ content: 'first', kind: 'idea' });
    const answer = await member.put(path(made), { title: 'New' });
    expect(answer.body).toMatchObject({ title: 'New', content: '', kind: 'note', project_id: null, version: 2 });
    expect((await member.put(path(made), { content: 'x' })).status).toBe(422);
  });

  it('409 an outdated version, with what changed since and by whom; 400 when If-Match says another', async () => {
    const made = await note();
    await app.as(team.manager).patch(path(made), { title: 'Changed' });
    for (const [body, headers] of [
      [{ title: 'x', version: 1 }, {}],
      [{ title: 'x' }, { 'if-match': '"1"' }],
    ] as const) {
      const answer = await member.patch(path(made), body, { headers });
      expect(answer).toMatchObject({ status: 409, body: { message: 'The note is at version 2, not 1' } });
      expect(answer.body.changed_since).toMatchObject({ version: 2, fields: ['title'], by: team.manager.user_id });
    }
    const both = await member.put(path(made), { title: 'x', version: 2 }, { headers: { 'if-match': '"1"' } });
    expect(both.status).toBe(400);
    expect((await member.put(path(made), { title: 'x' }, { headers: { 'if-match': '*' } })).status).toBe(200);
  });

  it('moves between projects of the team; 400 another team, 404 unknown, 403 foreign', async () => {
    const made = await note();
    const there = await buildProject(app, team);
    expect((await member.patch(path(made), there)).body.project_id).toBe(there.project_id);
    expect((await member.patch(path(made), { project_id: null })).body.project_id).toBeNull();
    const other = await buildTeam(app);
    const foreign = await buildProject(app, other);
    expect((await member.patch(path(made), foreign)).status).toBe(403);
    expect((await member.patch(path(made), { project_id: UNKNOWN })).status).toBe(404);
    expect((await member.patch(path(made), { team_id: other.team_id })).status).toBe(400);
    await app.services.db('memberships').insert({ team_id: other.team_id, user_id: team.member.user_id, role: 'member' });
    expect((await member.patch(path(made), foreign)).status).toBe(400);
    expect((await member.patch(path(made), { team_id: team.team_id })).body.version).toBe(3);
  });

  it('304 for a reader who has this version', async () => {
    const made = await note();
    const headers = { 'if-none-match': '"1"' };
    expect((await member.get(path(made), undefined, { headers })).status).toBe(304);
    await member.patch(path(made), { title: 'x' });
    expect((await member.get(path(made), undefined, { headers })).status).toBe(200);
  });

  it('accepts one of many writers with the same version', async () => {
    const made = await note();
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, nth) => member.patch(path(made), { title: `by ${nth}`, version: 1 })),
    );
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, ...Array(11).fill(409)]);
    expect(await findAudit(made.note_id)).toHaveLength(2);
  });
});

it('stays the team’s when its author leaves, under the author’s name', async () => {
  const made = await note();
  await app.as(team.admin).delete(`/api/teams/${team.team_id}/members/${team.member.user_id}`);
  expect((await member.get(path(made))).status).toBe(403);
  expect((await app.as(team.guest).get(path(made))).body.created_by).toBe(team.member.user_id);
  expect((await app.as(team.manager).patch(path(made), { title: 'Ours' })).status).toBe(200);
});

it('DELETE moves the note to the trash, and every read then answers 404', async () => {
  const made = await note();
  const answer = await member.delete(path(made));
  expect(answer).toMatchObject({
    status: 200,
    body: {
      success: true,
      verified: true,
      soft_deleted: true,
      retention_days: 30,
      restore_url: `/api/trash/note/${made.note_id}/restore`,
    },
  });
  for (const again of [member.get(path(made)), member.patch(path(made), { title: 'x' }), member.delete(path(made))])
    expect((await again).status).toBe(404);
  expect((await member.get('/api/notes')).body).toEqual([]);
  expect((await member.get(`/api/work-items/${made.note_id}`)).status).toBe(404);
});
