import { buildPerson, buildProject, buildTeam, type TestTeam } from '../../../../factories/people.js';
import { startApp, type TestApp } from '../../../../support/app.js';
import { download, onDisk, randomContent, sha256, readStorage, strays, upload, uploadParts } from './world.js';

/** Upload, download, deletion, restore and purge of a file. */

let app: TestApp;
let team: TestTeam;
beforeAll(async () => {
  app = await startApp();
  team = await buildTeam(app);
});
afterAll(async () => {
  expect(await strays(app)).toMatchObject({ lost: [] });
  await app.close();
});

const placed = () => ({ team_id: team.team_id });

describe('an upload', () => {
  it('stores bytes, item, audit entry and activity', async () => {
    const project = await buildProject(app, team);
    const content = randomContent(300_000);
    const { status, body } = await upload(app, team.member, {
      fields: { ...placed(), project_id: project.project_id },
      content,
      filename: 'Übersicht.PDF',
      type: 'Application/PDF; charset=x',
    });
    expect([status, body]).toEqual([
      201,
      {
        file_id: expect.any(String),
        name: 'Übersicht.PDF',
        size: 300_000,
        content_type: 'application/pdf',
        sha256: sha256(content),
        ...placed(),
        project_id: project.project_id,
        created_at: expect.stringMatching(/Z$/),
        download_url: `/api/files/${body.file_id}`,
      },
    ]);
    const item = await app.as(team.guest).get(`/api/work-items/${body.file_id}`);
    expect(item.body).toMatchObject({ type: 'file', title: 'Übersicht.PDF', project_id: project.project_id, version: 1 });
    const [entry] = await app.services.db('audit_entries').where({ entity_id: body.file_id });
    expect(entry).toMatchObject({ feature: 'files', action: 'create', details: expect.stringContaining(sha256(content)) });
    const activity = await app.as(team.guest).get(`/api/activity?entity_id=${body.file_id}`);
    expect(activity.body).toMatchObject([{ action: 'create', entity_type: 'file', entity_title: 'Übersicht.PDF' }]);
    expect(await download(app, team.guest, body.file_id)).toMatchObject({ status: 200, bytes: content });
  });

  it('may be empty', async () => {
    const { status, body } = await upload(app, team.member, { fields: placed(), content: '' });
    expect([status, body.size, body.sha256]).toEqual([201, 0, sha256('')]);
    const { status: read, headers, bytes } = await download(app, team.member, body.file_id);
    expect([read, headers.get('content-length'), bytes.length]).toEqual([200, '0', 0]);
  });

  it('takes exactly 26,214,400 bytes and not one more', async () => {
    const most = randomContent(26_214_400);
    const { status, body } = await upload(app, team.member, { fields: placed(), content: most });
    expect([status, body.sha256]).toEqual([201, sha256(most)]);
    const { bytes } = await download(app, team.member, body.file_id);
    expect(sha256(bytes)).toBe(sha256(most));
    const more = await upload(app, team.member, { fields: placed(), content: Buffer.concat([most, Buffer.from('x')]) });
    expect([more.status, more.body.error_code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    const far = await upload(app, team.member, { fields: placed(), content: Buffer.alloc(27_000_000) });
    expect(far.status).toBe(413);
    expect(await strays(app)).toEqual({ orphans: [], lost: [] });
    expect((await onDisk(app)).unfinished).toEqual([]);
  });

  it('takes the place from the query too', async () => {
    const parts = [{ name: 'file', filename: 'a.txt', content: 'a' }];
    const given = await uploadParts(app, team.member, parts, { query: `?team_id=${team.team_id}` });
    expect([given.status, given.body.project_id]).toEqual([201, null]);
    const missing = await uploadParts(app, team.member, [...parts, { name: 'team_id', content: team.team_id }]);
    expect([missing.status, missing.body.detail.errors]).toEqual([
      422,
      [{ field: 'body.team_id', message: 'team_id is required before the file, or in the query', type: 'custom' }],
    ]);
    const twice = await upload(app, team.member, { fields: { team_id: 'another' }, query: `?team_id=${team.team_id}` });
    expect([twice.status, twice.body.message]).toEqual([422, 'Invalid field: team_id']);
    const late = await uploadParts(app, team.member, [...parts, { name: 'project_id', content: 'x' }], {
      query: `?team_id=${team.team_id}`,
    });
    expect(late.body.detail.errors).toEqual([
      { field: 'body.project_id', message: 'project_id must come before the file', type: 'out_of_order' },
    ]);
    expect(await strays(app)).toEqual({ orphans: [], lost: [] });
  });

  it('rejects guests, strangers, unknown places and foreign projects', async () => {
    const stranger = await buildPerson(app);
    const other = await buildTeam(app);
    const foreign = await buildProject(app, other);
    const getStatus = async (person: { token: string }, fields: Record<string, string>) =>
      (await upload(app, person, { fields })).status;
    expect([
      await getStatus(team.guest, placed()),
      await getStatus(stranger, placed()),
      await getStatus(team.member, { team_id: 'nonsense' }),
      await getStatus(team.member, { ...placed(), project_id: 'nonsense' }),
      await getStatus(team.member, { ...placed(), project_id: foreign.project_id }),
      await getStatus(other.member, { ...placed(), project_id: foreign.project_id }),
    ]).toEqual([403, 403, 404, 404, 403, 400]);
    expect((await upload(app, undefined, { fields: placed() })).status).toBe(401);
    expect(await strays(app)).toEqual({ orphans: [], lost: [] });
  });
});

describe('the trash', () => {
  const life = async () => {
    const { body } = await upload(app, team.member, { fields: placed(), content: 'twelve bytes' });
    return body.file_id as string;
  };

  it('keeps and counts a file until it is purged', async () => {
    const before = await readStorage(app, team.team_id);
    const id = await life();
    expect(await app.as(team.guest).delete(`/api/files/${id}`)).toMatchObject({ status: 403 });
    expect((await app.as(team.member).delete(`/api/files/${id}`)).body).toMatchObject({
      success: true,
      restore_url: `/api/trash/file/${id}/restore`,
    });
    expect((await download(app, team.member, id)).status).toBe(404);
    expect((await readStorage(app, team.team_id)).charged).toBe(before.charged + 12);
    expect((await app.as(team.member).post(`/api/trash/file/${id}/restore`)).status).toBe(200);
    expect((await download(app, team.member, id)).bytes.toString()).toBe('twelve bytes');
    await app.as(team.member).delete(`/api/files/${id}`);
    expect((await app.as(team.manager).delete(`/api/trash/file/${id}`)).body).toEqual({ success: true, purged: 1 });
    expect(await readStorage(app, team.team_id)).toEqual(before);
    expect(await app.services.db('files').where({ item_id: id })).toEqual([]);
  });

  it('is emptied of files with their projects', async () => {
    const other = await buildTeam(app);
    const project = await buildProject(app, other);
    const fields = { team_id: other.team_id, project_id: project.project_id };
    await upload(app, other.member, { fields });
    await upload(app, other.member, { fields: { team_id: other.team_id } });
    const { body } = await upload(app, other.member, { fields: { team_id: other.team_id } });
    await app.as(other.member).delete(`/api/files/${body.file_id}`);
    await app.as(other.member).delete(`/api/projects/${project.project_id}`);
    expect((await app.as(other.admin).delete(`/api/trash?team_id=${other.team_id}`)).body).toEqual({ purged: 3 });
    expect(await readStorage(app, other.team_id)).toEqual({ charged: 5, stored: 5 });
  });
});

it('has no bytes of a file item that was created without an upload', async () => {
  const { body } = await app.as(team.member).post('/api/work-items', { type: 'file', title: 'planned.txt', ...placed() });
  const missing = await download(app, team.member, body.item_id);
  expect([missing.status, missing.error.message]).toEqual([404, 'File not found']);
  expect(missing.error.detail).toContain('without an upload');
  const note = await app.as(team.member).post('/api/notes', { title: 'A note', ...placed() });
  expect((await download(app, team.member, note.body.note_id)).status).toBe(404);
});

it('limits uploads by address before it reads them', async () => {
  const limited = await startApp({ RATE_LIMIT_FILE_UPLOAD: '2' });
  try {
    const { member, team_id } = await buildTeam(limited);
    const statuses: number[] = [];
    for (let i = 0; i < 3; i += 1) statuses.push((await upload(limited, member, { fields: { team_id } })).status);
    expect(statuses).toEqual([201, 201, 429]);
  } finally {
    await limited.close();
  }
});
