import { buildProject, buildTask, buildTeam, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { createCycle } from '../work/cycles/support.js';
import { type Browser, givePasswords, readCsrf, signIn } from './browser.js';
import { icon } from '../../../api/web/icons.js';

// What the palette and the keys do with tasks.

let app: TestApp;
let team: TestTeam;
let browser: Browser;
let project: { project_id: string };
let taskId: string;
const db = () => app.services.db;
const row = () => db()('tasks').where({ task_id: taskId }).first();
const ask = async (query: Record<string, string>, who = browser): Promise<string> =>
  (await who.get(`/app/palette?${String(new URLSearchParams({ task: taskId, ...query }))}`)).html;
const labels = (html: string): string[] => [...html.matchAll(/<bdi>([^<]*)<\/bdi><\/span>/g)].map(([, label = '']) => label);
const change = async (what: string, task: string | string[] = `1:${taskId}`) => {
  const answer = await browser.post('/app/tasks/change', { task, change: what, back: '/app/cycles' }, { from: '/app/cycles' });
  return (await browser.get(answer.headers.get('location') ?? '')).html;
};
const undo = async (html: string) => {
  const packed = /name="undo" value="([^"]*)"/.exec(html)?.[1] ?? '';
  await browser.post('/app/undo', { undo: packed, back: '/app' }, { from: '/app' });
};

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
  taskId = (await buildTask(app, team, project, { title: '<i>Fix</i> the crane' })).task_id;
  await givePasswords(app);
  browser = await signIn(app, team.member);
});

describe('actions of a task', () => {
  it('stand first in the palette, by their kinds without a query and as changes that match one', async () => {
    const html = await ask({ q: '' });
    expect(html).toContain('aria-label="“&lt;i&gt;Fix&lt;/i&gt; the crane”"');
    expect(labels(html).slice(0, 3)).toEqual(['Mark as done', 'Assign to me', 'Set status…']);
    expect(labels(await ask({ q: 'urgent' }))[0]).toBe('Set priority to urgent');
    expect(labels(await ask({ q: 'done' })).slice(0, 2)).toEqual(['Mark as done', 'Set status to Done']);
    expect(labels(await ask({ q: 'due in 3 weeks' }))[0]).toMatch(/^Due \d/);
    expect(labels(await ask({ q: 'assign nobody' }))[0]).toBe('Assign to nobody');
    const other = await ask({ q: 'import' }, await signIn(app, team.admin));
    expect(labels(other)[0]).toMatch(/\bimport/i);
    expect(other.indexOf('Import into')).toBeLessThan(other.indexOf('Set priority to urgent'));
    expect(other).toMatch(/value="priority:urgent" data-unasked/);
    expect(await ask({ q: '', tasks: '3' })).toContain('aria-label="3 tasks"');
  });

  it('lead to the form of a new cycle from the chooser of cycles alone', async () => {
    const html = await ask({ act: 'cycle' });
    expect(labels(html)).toEqual(['Move to the backlog', 'New cycle…']);
    const form = `/app/cycles?team=${team.team_id}#f-name`;
    expect(html).toContain(`href="${form}"`);
    expect((await browser.get(form)).html).toContain('id="f-name"');
    expect((await browser.get(`/app/tasks/change?pick=cycle:1:${taskId}`)).html).toContain(`href="${form}"`);
    expect(labels(await ask({ q: 'move to' }))).not.toContain('New cycle…');
  });

  it('are those of one kind in a chooser, where the present value is marked', async () => {
    const html = await ask({ act: 'status' });
    expect(labels(html)).toEqual(
      ['To do', 'In progress', 'In review', 'Done', 'Canceled', 'Duplicate'].map((name) => `Set status to ${name}`),
    );
    for (const [status, name] of [
      ['todo', 'To do'],
      ['in_review', 'In review'],
      ['done', 'Done'],
      ['duplicate', 'Duplicate'],
    ] as const)
      expect(html).toContain(`>${icon(status)} <span class="grow"><bdi>Set status to ${name}</bdi>`);
    expect(html).toContain(`Set status to To do</bdi></span>${icon('check')}<span class="unseen">, now</span>`);
    expect(html.split(icon('check'))).toHaveLength(2);
    expect(labels(await ask({ act: 'priority', q: 'ur' }))).toEqual(['Set priority to urgent']);
    const { display_name } = await db()('users').where({ user_id: team.manager.user_id }).first('display_name');
    expect(labels(await ask({ act: 'assignee' }))).toEqual(
      expect.arrayContaining(['Assign to me', 'Assign to nobody', `Assign to ${display_name as string}`]),
    );
    expect(labels(await ask({ act: 'due', q: 'next friday' }))[0]).toMatch(/^Due \d/);
    const points = [0, 1, 2, 3, 5, 8, 13].map((count) => `Set estimate to ${count} ${count === 1 ? 'point' : 'points'}`);
    expect(labels(await ask({ act: 'estimate' }))).toEqual([...points, 'No estimate']);
    for (const q of ['21', '21pt', '21 points', 'estimate 21'])
      expect(labels(await ask({ act: 'estimate', q }))).toEqual(['Set estimate to 21 points']);
    expect(labels(await ask({ q: 'estimate 4' }))[0]).toBe('Set estimate to 4 points');
    expect(labels(await ask({ q: '5' })).filter((label) => label.includes('estimate'))).toEqual([]);
    expect(await ask({ act: 'password' })).toContain('Pages');
  });

  it('change the task and say what became of it, each with Undo', async () => {
    const cycle = await createCycle(app.as(team.member), { team_id: team.team_id, name: 'Spring' });
    const cases = [
      ['status:done', 'Marked as done', { status: 'done' }],
      ['status:canceled', 'Marked as canceled', { resolution: 'canceled', status: 'done' }],
      ['priority:urgent', 'Priority is now urgent', { priority: 'urgent' }],
      ['due_date:2031-05-01', 'Due 1 May', { due_date: '2031-05-01' }],
      ['estimate:8', 'The estimate is now 8 points', { estimate: 8 }],
      ['estimate:1', 'The estimate is now 1 point', { estimate: 1 }],
      ['estimate:0', 'The estimate is now 0 points', { estimate: 0 }],
      [`assigned_to:${team.member.user_id}`, 'Assigned to you', { assigned_to: team.member.user_id }],
      [`cycle:${cycle.cycle_id}`, 'Moved to Spring', { cycle_id: cycle.cycle_id }],
    ] as const;
    for (const [what, said, values] of cases) {
      const before = await row();
      const html = await change(what, `${before.version}:${taskId}`);
      expect([what, html.includes(`<span>${said} · TEA-1</span>`)]).toEqual([what, true]);
      expect(await row()).toMatchObject(values);
      await undo(html);
      const field = Object.keys(values)[0] as string;
      expect([what, (await row())[field]]).toEqual([what, before[field]]);
    }
    const { version } = await row();
    expect(await change('due_date:nobody', `${version}:${taskId}`)).toContain('It is so already');
  });

  it('close a task, and say how many of its subtasks are still open', async () => {
    for (const status of ['todo', 'in_review', 'done']) await buildTask(app, team, project, { parent_task_id: taskId, status });
    expect(await change('status:done')).toContain('<span>Marked as done; 2 subtasks are still open · TEA-1</span>');
    await db()('tasks').where({ parent_task_id: taskId, status: 'todo' }).update({ status: 'done' });
    const { version } = await row();
    expect(await change('status:canceled', `${version}:${taskId}`)).toContain(
      '<span>Marked as canceled; 1 subtask is still open · TEA-1</span>',
    );
  });

  it('change several tasks together, and leave alone what has changed since', async () => {
    const other = await buildTask(app, team, await buildProject(app, team), { title: 'Another' });
    await app.as(team.admin).patch(`/api/tasks/${taskId}`, { priority: 'low' });
    const html = await change('status:in_review', [`1:${taskId}`, `1:${other.task_id}`]);
    expect(html).toContain(
      'One task changed. “&lt;i&gt;Fix&lt;/i&gt; the crane” was left alone: changed since you opened the list.',
    );
    expect(await row()).toMatchObject({ status: 'todo' });
    expect(await db()('tasks').where({ task_id: other.task_id }).first('status')).toEqual({ status: 'in_review' });
  });

  it('move it to another project of its team, and add and remove tags, each with Undo', async () => {
    const second = await buildProject(app, team);
    await db()('projects').where(second).update({ name: 'Second' });
    const ended = await buildProject(app, team);
    await db()('projects').where(ended).update({ name: 'Ended', status: 'archived' });
    const foreign = await buildProject(app, await buildTeam(app));
    expect(labels(await ask({ act: 'project' }))).toContain('Move to project Second');
    expect(labels(await ask({ act: 'project' }))).not.toContain('Move to project Ended');
    expect(labels(await ask({ q: 'second' }))).not.toContain('Move to project Second');
    expect(labels(await ask({ q: 'move to second' }))[0]).toBe('Move to project Second');
    const moved = await change(`project_id:${second.project_id}`);
    expect(moved).toContain('<span>Moved to Second · TEA-1</span>');
    expect(await row()).toMatchObject(second);
    await undo(moved);
    expect(await row()).toMatchObject(project);
    expect(await change(`project_id:${foreign.project_id}`, `3:${taskId}`)).toContain('class="notice bad toast"');
    await buildTask(app, team, project, { title: 'Tagged', tags: ['deck', 'hull'] });
    expect(labels(await ask({ act: 'tag', q: '#de' }))).toEqual(['Add tag deck', 'Add tag de']);
    const tagged = await change('add_tag:deck', `3:${taskId}`);
    expect(tagged).toContain('<span>Tagged #deck · TEA-1</span>');
    expect(await row()).toMatchObject({ tags: ['deck'] });
    expect(labels(await ask({ act: 'tag', q: '' }))).toEqual(['Add tag hull', 'Remove tag deck']);
    expect(await change('remove_tag:deck', `4:${taskId}`)).toContain('The tag #deck is removed');
    await undo(await change('add_tag:hull', `5:${taskId}`));
    expect(await row()).toMatchObject({ tags: [], ...project });
  });

  it('move ticked tasks with their subtasks: a ticked one stays below its task', async () => {
    const second = await buildProject(app, team);
    const child = await buildTask(app, team, project, { title: 'Child', parent_task_id: taskId });
    const form = { task: [`1:${child.task_id}`, `1:${taskId}`], project_id: second.project_id, back: '/app/cycles' };
    const answer = await browser.post('/app/tasks/change', form, { from: '/app/cycles' });
    const { html } = await browser.get(answer.headers.get('location') ?? '');
    expect(html).toContain('One task changed; one was so already');
    const childRow = () => db()('tasks').where({ task_id: child.task_id }).first();
    expect([await row(), await childRow()]).toMatchObject([second, { ...second, parent_task_id: taskId }]);
    await undo(html);
    expect([await row(), await childRow()]).toMatchObject([project, { ...project, parent_task_id: taskId }]);
    const list = (await browser.get(`/app/projects/${project.project_id}`)).html;
    expect(list).toMatch(new RegExp(`id="b-project_id".*<option value="${second.project_id}">`));
  });

  it.each([
    'project_id:x',
    'add_tag:,',
    `add_tag:${'x'.repeat(190)}`,
    'status:gone',
    'priority:',
    'due_date:never',
    'assigned_to:x',
    'cycle:x',
    'estimate:1000',
    'estimate:-1',
    'estimate:1.5',
    'estimate:x',
    'title:x',
    '',
    'version:9',
    `cycle:${'x'.repeat(300)}`,
  ])('refuse the change %j in words', async (what) => {
    expect(await change(what)).toContain('class="notice bad toast"');
    expect(await row()).toMatchObject({ version: 1 });
  });

  it('are not offered to guests and strangers, nor done by them', async () => {
    const other = await buildTeam(app);
    await givePasswords(app);
    for (const who of [await signIn(app, team.guest), await signIn(app, other.member)]) {
      for (const query of [{ q: '' }, { q: 'done' }, { act: 'assignee' }] as Record<string, string>[]) {
        const html = await ask(query, who);
        expect([html.includes('palette-change'), html.includes('crane')]).toEqual([
          false,
          query['q'] === undefined && html.includes('crane'),
        ]);
      }
      const csrf = readCsrf((await who.get('/app')).html) ?? null;
      await who.post('/app/tasks/change', { task: `1:${taskId}`, change: 'status:done' }, { csrf });
    }
    const foreign = await createCycle(app.as(other.member), { team_id: other.team_id });
    expect(await change(`cycle:${foreign.cycle_id}`)).toContain('class="notice bad toast"');
    expect((await browser.post('/app/tasks/change', { task: `1:${taskId}`, change: 'status:done' }, { csrf: null })).status).toBe(
      403,
    );
    expect(await row()).toMatchObject({ version: 1, status: 'todo', cycle_id: null });
  });
});
