import { buildPerson, buildProject, buildTask, buildTeam, type TestTeam } from '../../factories/people.js';
import { buildRun } from '../../factories/runs.js';
import { startApp, type TestApp } from '../../support/app.js';
import { until } from '../../support/worker.js';
import { type Browser, givePasswords, signIn } from './browser.js';

let app: TestApp;
let team: TestTeam;
let member: Browser;
let guest: Browser;
let project: { project_id: string };
let taskId: string;
let noteId: string;

beforeAll(async () => {
  app = await startApp();
  team = await buildTeam(app);
  await givePasswords(app);
  member = await signIn(app, team.member);
  guest = await signIn(app, team.guest);
});
afterAll(() => app.close());
beforeEach(async () => {
  project = await buildProject(app, team, { name: 'Apollo' });
  taskId = (await buildTask(app, team, project, { title: 'Check the valves', description: 'With **care**' })).task_id;
  const note = await app.as(team.member).post('/api/notes', { title: 'Decided', content: '# Freeze\n', ...project });
  noteId = note.body.note_id;
});

const path = (id: string) => `/app/items/${encodeURIComponent(id)}`;
const location = (answer: { headers: Headers }) => answer.headers.get('location');

describe('reading', () => {
  it('a task lists its pull requests, newest first, with links to the connected code host alone', async () => {
    expect((await guest.get(path(taskId))).html).not.toContain('Pull requests');
    const link = { task_id: taskId, repo: 'acme/rocket', kind: 'pull_request' };
    const at = (number: number) => ({ number, created_at: new Date(Date.UTC(2026, 0, 1, 0, 0, number)) });
    await app.services.db('forge_links').insert([
      {
        ...link,
        ...at(7),
        url: 'https://github.com/acme/rocket/pull/7',
        title: 'Valves <b>',
        state: 'merged',
        author: 'octo<i>',
      },
      { ...link, ...at(8), url: 'https://github.com.example/8', title: null, state: 'open' },
      { ...link, ...at(9), url: 'javascript:alert(1)', state: 'closed' },
      { ...link, ...at(10), url: null, merged: true },
      { ...link, ...at(11), url: null, merged: false },
      { ...link, kind: 'issue', number: 3, url: 'https://github.com/acme/rocket/issues/3' },
    ]);
    const { html } = await guest.get(path(taskId));
    const [, list = ''] = /<ul class="rows pulls">(.*?)<\/ul>/s.exec(html) ?? [];
    const lines = [...list.matchAll(/<li>(.*?)<\/li>/gs)].map(([, line = '']) => line.replace(/<[^>]*>/g, '').trim());
    expect(lines).toEqual([
      'acme/rocket#11',
      'Merged acme/rocket#10',
      'Closed acme/rocket#9',
      'Open acme/rocket#8',
      'Merged acme/rocket#7 Valves &lt;b&gt; by octo&lt;i&gt;',
    ]);
    expect([...list.matchAll(/href="([^"]*)"/g)].map(([, href]) => href)).toEqual(['https://github.com/acme/rocket/pull/7']);
    expect(html).toContain('<a href="https://github.com/acme/rocket/issues/3" rel="noopener noreferrer">acme/rocket#3</a>');
  });

  it('a task lists the twenty newest pull requests, and counts the others', async () => {
    const link = { task_id: taskId, repo: 'acme/rocket', kind: 'pull_request' };
    const numbers = Array.from({ length: 22 }, (_, at) => ({ ...link, number: at + 1 }));
    await app.services.db('forge_links').insert(numbers);
    const { html } = await guest.get(path(taskId));
    expect(html.match(/acme\/rocket#\d+/g)).toHaveLength(20);
    expect(html).toContain('and 2 older ones.');
  });

  it('a task shows its text, fields, subtasks, relations, comments, activity and runs', async () => {
    await buildTask(app, team, project, { title: 'Order gaskets', parent_task_id: taskId });
    await app
      .as(team.member)
      .post('/api/work-items/relations', { source_id: taskId, target_id: noteId, relation_type: 'related_to' });
    const comment = await app.as(team.member).post(`/api/tasks/${taskId}/comments`, { content: 'Looks _good_' });
    const run = await buildRun(app, team, { actions: [], status: 'succeeded', fields: { automation_name: 'Remind the crew' } });
    await app.services.db('effects').insert({
      run_id: run.run_id,
      action_index: 0,
      entity_type: 'comment',
      entity_id: comment.body.comment_id,
    });
    const { status, html } = await guest.get(path(taskId));
    expect(status).toBe(200);
    for (const part of [
      'Check the valves',
      '<strong>care</strong>',
      'Apollo',
      'Order gaskets',
      'Subtasks',
      'Related to',
      'Decided',
    ])
      expect(html).toContain(part);
    for (const part of ['Looks <em>good</em>', 'created the task', 'Remind the crew', `/app/runs/${run.run_id}`])
      expect(html).toContain(part);
    expect(html).not.toContain('<textarea');
  });

  it.each([
    ['caused_by', 'Caused by', 'Cause of'],
    ['attached_to', 'Attached to', 'Attachments'],
    ['recurrence_of', 'Recurrence of', 'Recurrences'],
    ['blocked_by', 'Blocked by', 'Blocks'],
  ])('a relation reads the other way round at its other end: %s', async (relation_type, here, there) => {
    await app.as(team.member).post('/api/work-items/relations', { source_id: taskId, target_id: noteId, relation_type });
    const headings = async (id: string) =>
      [...(await guest.get(path(id))).html.matchAll(/<h3>([^<]*)<\/h3>\s*<ul/g)].map(([, text]) => text);
    expect([await headings(taskId), await headings(noteId)]).toEqual([[here], [there]]);
  });

  it('a task under an id of the client’s opens from its link, whatever the id holds, and its forms return to it', async () => {
    const task_id = `crm:42@${noteId}..v1`;
    await buildTask(app, team, project, { task_id, title: 'Call back' });
    await until(async () => (await member.get('/app/search?q=call%20back')).html.includes(`href="${path(task_id)}"`));
    const page = await member.get(path(task_id));
    expect([page.status, page.html.includes('Call back')]).toEqual([200, true]);
    const said = await member.post(`${path(task_id)}/comments`, { content: 'Done' }, { from: path(task_id) });
    expect([said.status, location(said)]).toEqual([303, expect.stringContaining(`${path(task_id)}#comment-`)]);
    for (const odd of ['%ff', '%00', 'a%2Fb']) expect([odd, (await member.get(`/app/items/${odd}`)).status]).toEqual([odd, 404]);
  });

  it('a note and a project show what they hold', async () => {
    expect((await guest.get(path(noteId))).html).toContain('<h3>Freeze</h3>');
    const { html } = await guest.get(path(project.project_id));
    for (const part of ['Check the valves', 'Decided', `/app/items/${taskId}`]) expect(html).toContain(part);
  });

  it('404 for what is unknown or in the trash, 403 for strangers; a run of another team is not named', async () => {
    const other = await buildTeam(app);
    const run = await buildRun(app, other, { actions: [], status: 'succeeded', fields: { automation_name: 'Elsewhere' } });
    await app.services.db('effects').insert({ run_id: run.run_id, action_index: 0, entity_type: 'task', entity_id: taskId });
    expect((await guest.get(path(taskId))).html).not.toContain('Elsewhere');
    expect((await guest.get(path('nothing'))).status).toBe(404);
    const stranger = await buildPerson(app);
    await givePasswords(app);
    expect((await (await signIn(app, stranger)).get(path(taskId))).status).toBe(403);
    await app.as(team.member).delete(`/api/tasks/${taskId}`);
    expect((await guest.get(path(taskId))).status).toBe(404);
  });
});

describe('writing', () => {
  it('changes the status once; the same form sent again is told that the task has changed', async () => {
    const version = /name="version" value="(\d+)"/.exec((await member.get(path(taskId))).html)?.[1] as string;
    const done = await member.post(`${path(taskId)}/task`, { status: 'done', version }, { from: path(taskId) });
    expect([done.status, location(done)]).toEqual([303, path(taskId)]);
    const again = await member.post(`${path(taskId)}/task`, { status: 'todo', version }, { from: path(taskId) });
    expect(again.status).toBe(409);
    expect(await app.services.db('tasks').where({ task_id: taskId }).first('status')).toEqual({ status: 'done' });
  });

  it('adds a comment and returns to it; an empty one keeps the page', async () => {
    const added = await member.post(`${path(taskId)}/comments`, { content: 'One\r\ntwo' }, { from: path(taskId) });
    const [comment] = await app.services.db('comments').where({ task_id: taskId });
    expect(location(added)).toBe(`${path(taskId)}#comment-${comment.comment_id}`);
    expect(comment.content).toBe('One\ntwo');
    const empty = await member.post(`${path(taskId)}/comments`, { content: ' ' }, { from: path(taskId) });
    expect([empty.status, empty.html.includes('Check the valves')]).toEqual([422, true]);
  });

  it('adds a reply below its comment; what is refused stays in its form, or in that of a comment once its comment is gone', async () => {
    const { body: first } = await app.as(team.manager).post(`/api/tasks/${taskId}/comments`, { content: 'Which valve?' });
    const to = `${path(taskId)}/comments/${first.comment_id}/replies`;
    const added = await member.post(to, { content: 'The *left* one' }, { from: path(taskId) });
    const [reply] = await app.services.db('comments').where({ parent_comment_id: first.comment_id });
    expect(location(added)).toBe(`${path(taskId)}#comment-${reply.comment_id}`);
    const { html } = await member.get(path(taskId));
    expect(html).toContain(`action="${to}"`);
    expect(html).not.toContain(`action="${path(taskId)}/comments/${reply.comment_id}/replies"`);
    const nested = `${path(taskId)}/comments/${reply.comment_id}/replies`;
    expect((await member.post(nested, { content: 'Sure?' }, { from: path(taskId) })).status).toBe(400);
    const field = (page: string, id: string): string =>
      new RegExp(`<textarea id="${id}"[^>]*>\n([^<]*)`).exec(page)?.[1] ?? 'none';
    const long = 'x'.repeat(10_001);
    const refused = await member.post(to, { content: long }, { from: path(taskId) });
    expect([refused.status, field(refused.html, `r-${first.comment_id}`), field(refused.html, 'c-content')]).toEqual([
      422,
      long,
      '',
    ]);
    await app.services.db('comments').where({ parent_comment_id: first.comment_id }).del();
    await app.as(team.manager).delete(`/api/comments/${first.comment_id}`);
    const late = await member.post(to, { content: 'Too late' }, { from: path(taskId) });
    expect([late.status, field(late.html, 'c-content')]).toEqual([404, 'Too late']);
    expect((await guest.get(path(taskId))).html).not.toContain('/replies"');
  });

  it('saves a note of 100 kB with its line breaks, and returns what was typed after a concurrent change', async () => {
    const content = `${'é'.repeat(49_000)}\r\nend`;
    const fields = { title: 'Decided', content, version: '1' };
    const saved = await member.post(`${path(noteId)}/note`, fields, { from: path(noteId) });
    expect(saved.status).toBe(303);
    expect((await app.as(team.member).get(`/api/notes/${noteId}`)).body.content).toBe(content.replace('\r\n', '\n'));
    const late = await member.post(`${path(noteId)}/note`, { ...fields, content: 'Typed with love' }, { from: path(noteId) });
    expect([late.status, late.html.includes('Typed with love')]).toEqual([409, true]);
    const long = await member.post(`${path(noteId)}/note`, { ...fields, content: 'x'.repeat(102_401) }, { from: path(noteId) });
    expect(long.status).toBe(422);
  });

  it('403 for guests, and nothing is written', async () => {
    const csrf = /name="_csrf" value="([^"]+)"/.exec((await guest.get('/app')).html)?.[1] ?? null;
    for (const [form, fields] of [
      ['task', { status: 'done', version: '1' }],
      ['comments', { content: 'x' }],
    ] as const)
      expect((await guest.post(`${path(taskId)}/${form}`, fields, { csrf })).status).toBe(403);
    const note = await guest.post(`${path(noteId)}/note`, { title: 'x', content: 'x', version: '1' }, { csrf });
    expect(note.status).toBe(403);
    expect(await app.services.db('comments').where({ task_id: taskId })).toEqual([]);
  });
});

describe('the page of a file', () => {
  /** Uploads a file through the API. */
  const upload = async (name: string, text: string): Promise<string> => {
    const form = new FormData();
    form.set('team_id', team.team_id);
    form.set('file', new Blob([text], { type: 'text/html' }), name);
    const headers = { authorization: `Bearer ${team.member.token}` };
    const answer = await fetch(`${app.url}/api/files`, { method: 'POST', body: form, headers });
    return ((await answer.json()) as { file_id: string }).file_id;
  };

  it('shows size and hash, and a download that no browser renders', async () => {
    const id = await upload('válves.html', '<script>alert(1)</script>');
    const { status, html } = await guest.get(path(id));
    expect(status).toBe(200);
    for (const part of ['25 bytes', 'text/html', `href="/app/files/${id}"`]) expect(html).toContain(part);
    const file = await guest.get(`/app/files/${id}`);
    expect([file.status, file.html]).toEqual([200, '<script>alert(1)</script>']);
    expect(Object.fromEntries(file.headers)).toMatchObject({
      'content-disposition': `attachment; filename="v_lves.html"; filename*=UTF-8''v%C3%A1lves.html`,
      'content-security-policy': expect.stringContaining('sandbox'),
      'x-content-type-options': 'nosniff',
    });
  });

  it('is not for strangers, and says where nothing was uploaded', async () => {
    const id = await upload('a.txt', 'a');
    const stranger = await buildTeam(app);
    await givePasswords(app);
    const other = await signIn(app, stranger.member);
    for (const page of [path(id), `/app/files/${id}`]) expect([page, (await other.get(page)).status]).toEqual([page, 403]);
    expect((await guest.get('/app/files/unknown')).status).toBe(404);
    const { body } = await app.as(team.member).post('/api/work-items', { type: 'file', title: 'Later', ...project });
    expect((await guest.get(path(body.item_id))).html).toContain('without an upload');
    expect((await guest.get(`/app/files/${body.item_id}`)).status).toBe(404);
  });
});

describe('searching', () => {
  it('finds what was just written, by type, with the match marked; escapes what people wrote', async () => {
    const word = `zirconium${Date.now()}`;
    await buildTask(app, team, project, { title: `${word} <b>valve</b>` });
    await app.as(team.member).post('/api/notes', { title: 'Alloys', content: `All about ${word}`, ...project });
    const { html } = await until(async () => {
      const answer = await guest.get(`/app/search?q=${word}`);
      expect(answer.status).toBe(200);
      // A busy machine may need a second search to index both.
      return answer.html.includes('2 results') && answer;
    });
    for (const part of ['2 results', 'Tasks', 'Notes', 'Alloys', `<mark>${word}</mark>`, '&lt;b&gt;valve'])
      expect(html).toContain(part);
  });

  it.each(['', ' ', '"', '-', '%00', '%F0%9F', 'x'.repeat(2_000), '%27%3B%20drop%20table', '&q=2'])(
    'answers any query: %s',
    async (q) => {
      const { status } = await guest.get(`/app/search?q=${q}`);
      expect(status).toBe(200);
    },
  );
});
