import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { contentDisposition, parseRange } from '../../../../../api/work/items/files/download-headers.js';
import { sweepObjects } from '../../../../../api/work/items/files/sweep-objects.js';
import { buildTeam, type TestTeam } from '../../../../factories/people.js';
import { startApp, type TestApp } from '../../../../support/app.js';
import { type S3Server, startS3Server } from '../../../../support/s3-server.js';
import { download, sha256, upload } from './world.js';

/** How bytes come back: ranges, validators, and nothing that runs. Both stores. */

const CONTENT = Buffer.from('0123456789');

let s3: S3Server;
const apps: Record<string, { app: TestApp; team: TestTeam; fileId: string }> = {};
beforeAll(async () => {
  s3 = await startS3Server();
  for (const [name, settings] of [['disk', {}] as const, ['s3', s3.settings] as const]) {
    const app = await startApp(settings);
    const team = await buildTeam(app);
    const { body } = await upload(app, team.member, { fields: { team_id: team.team_id }, content: CONTENT, filename: 'ten.txt' });
    apps[name] = { app, team, fileId: body.file_id };
  }
});
afterAll(async () => {
  for (const { app } of Object.values(apps)) await app.close();
  s3.close();
});

const ETAG = `"${sha256(CONTENT)}"`;

describe.each(['disk', 's3'])('a download from %s', (name) => {
  const get = (headers: Record<string, string> = {}) => {
    const { app, team, fileId } = apps[name] as (typeof apps)[string];
    return download(app, team.guest, fileId, headers);
  };

  it('has the headers of an attachment', async () => {
    const { status, headers, bytes } = await get();
    expect([status, bytes.toString()]).toEqual([200, '0123456789']);
    expect(Object.fromEntries(headers)).toMatchObject({
      etag: ETAG,
      'content-length': '10',
      'content-type': 'text/plain',
      'accept-ranges': 'bytes',
      'content-disposition': `attachment; filename="ten.txt"; filename*=UTF-8''ten.txt`,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
      'cache-control': 'private, no-cache',
    });
  });

  it.each([
    ['bytes=0-3', 206, '0123', 'bytes 0-3/10'],
    ['bytes=4-', 206, '456789', 'bytes 4-9/10'],
    ['bytes=-3', 206, '789', 'bytes 7-9/10'],
    ['bytes=-99', 206, '0123456789', 'bytes 0-9/10'],
    ['bytes=8-99', 206, '89', 'bytes 8-9/10'],
    ['bytes=0-0', 206, '0', 'bytes 0-0/10'],
    ['bytes=0-1,4-5', 200, '0123456789', null],
    ['bytes=5-4', 200, '0123456789', null],
    ['lines=1-2', 200, '0123456789', null],
    ['bytes=abc', 200, '0123456789', null],
  ])('answers Range: %s with %i', async (range, status, text, contentRange) => {
    const answer = await get({ range });
    expect([answer.status, answer.bytes.toString(), answer.headers.get('content-range')]).toEqual([status, text, contentRange]);
    expect(answer.headers.get('content-length')).toBe(String(text.length));
  });

  it.each(['bytes=10-', 'bytes=10-11', 'bytes=-0'])('answers Range: %s with 416', async (range) => {
    const { status, headers, error } = await get({ range });
    expect([status, headers.get('content-range'), error.error_code]).toEqual([416, 'bytes */10', 'INVALID_REQUEST']);
    expect([error.message, error.detail]).toEqual(['The range is outside of the file', 'The file has 10 bytes.']);
  });

  it('compares validators', async () => {
    const known = await get({ 'if-none-match': `"x", W/${ETAG}` });
    expect([known.status, known.bytes.length, known.headers.get('etag')]).toEqual([304, 0, ETAG]);
    expect((await get({ 'if-none-match': '"x"' })).status).toBe(200);
    expect((await get({ 'if-range': ETAG, range: 'bytes=1-1' })).status).toBe(206);
    expect((await get({ 'if-range': '"x"', range: 'bytes=1-1' })).status).toBe(200);
    expect((await get({ 'if-range': 'Sun, 22 Nov 2026 10:00:00 GMT', range: 'bytes=1-1' })).status).toBe(200);
  });

  it('answers HEAD with the headers alone', async () => {
    const { app, team, fileId } = apps[name] as (typeof apps)[string];
    const response = await fetch(`${app.url}/api/files/${fileId}`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${team.guest.token}` },
    });
    expect([response.status, response.headers.get('content-length'), await response.text()]).toEqual([200, '10', '']);
  });

  it('goes on to the end while the file is purged and swept away', async () => {
    const { app, team } = apps[name] as (typeof apps)[string];
    const content = Buffer.alloc(8_000_000, 'long file ');
    const { body } = await upload(app, team.member, { fields: { team_id: team.team_id }, content });
    const response = await fetch(`${app.url}${body.download_url}`, { headers: { authorization: `Bearer ${team.guest.token}` } });
    await app.as(team.member).delete(`/api/files/${body.file_id}`);
    await app.as(team.manager).delete(`/api/trash/file/${body.file_id}`);
    expect(await sweepObjects(app.services, 0)).toBe(1);
    expect(sha256(Buffer.from(await response.arrayBuffer()))).toBe(sha256(content));
    expect((await download(app, team.guest, body.file_id)).status).toBe(404);
  });
});

it('is a 500 with a log line, and no empty file, when the store has lost the bytes', async () => {
  const { app, team } = apps['disk'] as (typeof apps)[string];
  const { body } = await upload(app, team.member, { fields: { team_id: team.team_id } });
  const [key] = await app.services.db('files').where({ item_id: body.file_id }).pluck<string[]>('object_key');
  await rm(join(app.services.config.DATA_DIR, 'files', 'objects', (key as string).slice(0, 2), key as string));
  const lost = await download(app, team.member, body.file_id);
  expect([lost.status, lost.error.message]).toEqual([500, 'Internal error']);
});

it('never runs what it holds, whatever its name and type say', async () => {
  const { app, team } = apps['disk'] as (typeof apps)[string];
  for (const [filename, type, content] of [
    ['page.html', 'text/html', '<script>alert(1)</script>'],
    ['image.svg', 'image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'],
    ['x.png', 'text/html; charset=utf-7', '+ADw-script+AD4-'],
  ] as const) {
    const { body } = await upload(app, team.member, { fields: { team_id: team.team_id }, filename, type, content });
    const { headers } = await download(app, team.member, body.file_id);
    expect(headers.get('content-disposition')).toMatch(/^attachment; /);
    expect(headers.get('content-security-policy')).toContain('sandbox');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-type')).toBe(type.split(';')[0]);
  }
});

describe('Content-Disposition', () => {
  it.each([
    ['plan.pdf', `attachment; filename="plan.pdf"; filename*=UTF-8''plan.pdf`],
    ['a "b" 100%.txt', `attachment; filename="a _b_ 100_.txt"; filename*=UTF-8''a%20%22b%22%20100%25.txt`],
    ['Ünï 😀.txt', `attachment; filename="_n_ _.txt"; filename*=UTF-8''%C3%9Cn%C3%AF%20%F0%9F%98%80.txt`],
    ["it's (1)*.txt", `attachment; filename="it's (1)*.txt"; filename*=UTF-8''it%27s%20%281%29%2A.txt`],
    ['a\r\nSet-Cookie: x', `attachment; filename="aSet-Cookie: x"; filename*=UTF-8''aSet-Cookie%3A%20x`],
    ['../../../..', `attachment; filename="file"; filename*=UTF-8''file`],
    ['evil\u202Efdp.exe', `attachment; filename="evilfdp.exe"; filename*=UTF-8''evilfdp.exe`],
  ])('of %j', (name, expected) => expect(contentDisposition(name)).toBe(expected));
});

it('an empty file has no range', () => {
  expect([parseRange('bytes=0-', 0), parseRange('bytes=-1', 0), parseRange(undefined, 0)]).toEqual([null, null, undefined]);
});
