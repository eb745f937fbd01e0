import type { Browser } from 'playwright-core';
import { invitationPath } from '../../api/identity/teams/invitations/invitation-link.js';
import { PAGES } from '../../api/web/pages.js';
import { givePasswords } from '../api/web/browser.js';
import { Authenticator, buildAccount, mailedCode, PASSWORD } from '../factories/accounts.js';
import { buildSession, stage } from '../factories/agent.js';
import { buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../factories/people.js';
import { buildRun, GATE } from '../factories/runs.js';
import { buildBulkJob, buildLinearUpload } from '../factories/bulk.js';
import { createCycle } from '../api/work/cycles/support.js';
import { buildRequest } from '../factories/requests.js';
import { buildRunnerJob } from '../factories/runner-jobs.js';
import { buildRunner } from '../factories/runners.js';
import { buildDelivery, createWebhook } from '../factories/webhooks.js';
import { until } from '../support/worker.js';
import { startApp, type TestApp } from '../support/app.js';
import { findFaults, launch, openWindow, signInPage, type Window } from './chromium.js';

const HOSTILE = `<img src=x onerror=alert(1)>"'><script>alert(2)</script><%= 7*7 %>javascript:alert(3)`;

/** Finds elements that only stored text could have made: the pages have none of their own. */
const FOREIGN = `[...document.querySelectorAll(
  'main script, main img, main iframe, main object, main svg:not(.icon, .drawing), [onerror], [onclick]')].map((one) => one.outerHTML)`;

/** What the reader of the API document keeps in the browser about a token. */
const storedToken = (value: string): string =>
  JSON.stringify({ bearer: { name: 'bearer', schema: { type: 'http', scheme: 'bearer' }, value } });

/** Pages for visitors only. */
const outsidePaths = new Set(PAGES.filter(({ access }) => access === 'visitor').map(({ path }): string => path));

// A browser on a machine that is busy with other tests takes its time; nothing here is judged by a clock.
import.meta.jest.setTimeout(180_000);

describe('the web app in a browser', () => {
  let app: TestApp;
  let team: TestTeam;
  let browser: Browser | undefined;
  let paths: string[];
  const windows: Window[] = [];

  /** Opens a new window; with a user, signed in through the form. */
  async function open(person: Person | null, options: Parameters<typeof openWindow>[2] = {}): Promise<Window> {
    const window = await openWindow(browser as Browser, app.url, options);
    windows.push(window);
    if (!person) return window;
    await signInPage(window.page, person.email);
    return window;
  }

  /** Every text that users can enter, with hostile content. */
  async function writeHostileText(): Promise<Record<string, string>> {
    const { db } = app.services;
    await db('teams')
      .where({ team_id: team.team_id })
      .update({ name: HOSTILE.slice(0, 90), description: HOSTILE });
    await db('users').where({ user_id: team.manager.user_id }).update({ display_name: HOSTILE, name: HOSTILE });
    const project = await buildProject(app, team, { name: HOSTILE });
    const task = await buildTask(app, team, project, {
      title: HOSTILE,
      assigned_to: team.manager.user_id,
      due_date: '2020-01-01',
      priority: 'urgent',
    });
    const gone = await buildTask(app, team, project, { title: HOSTILE });
    await app.as(team.manager).delete(`/api/tasks/${gone.task_id}`);
    const actions = [
      { type: 'add_comment', name: HOSTILE.slice(0, 90), params: { task_id: 'nobody', content: HOSTILE } },
      { ...GATE, params: { message: HOSTILE } },
      { type: 'set_task_status', params: { task_id: HOSTILE, status: 'done' } },
    ];
    const options = { actions, fields: { automation_name: HOSTILE, event: JSON.stringify({ title: HOSTILE }) } };
    const waiting = await buildRun(app, team, options);
    const dryRun = await buildRun(app, team, {
      ...options,
      automation: waiting,
      status: 'succeeded',
      fields: { ...options.fields, is_test: true },
    });
    const failed = await buildRun(app, team, { ...options, status: 'failed', statuses: ['failed', 'skipped', 'skipped'] });
    await app
      .as(team.manager)
      .post(`/api/automations/runs/${(await buildRun(app, team, options)).run_id}/reject`, { reason: HOSTILE });
    const operation = { system: 'payments', name: 'deploy', target: null, arguments: { note: HOSTILE, list: [HOSTILE] } };
    const { request_id } = await buildRequest(app, team, team.member, { title: 'Release', reason: HOSTILE, operation });
    await app.as(team.manager).post('/api/auth/tokens', { name: HOSTILE, scopes: ['tasks:read'] });
    const invited = await app.as(team.admin).post(`/api/teams/${team.team_id}/members`, { email: 'new@test.example' });
    const { invitation_id } = invited.body as { invitation_id: string };
    await db('users').where({ user_id: team.manager.user_id }).update({ role: 'admin' });
    const leaving = `/api/admin/users/${team.guest.user_id}/deprovision`;
    const { job_id } = (await app.as(team.manager).post(leaving, { reason: HOSTILE })).body;
    await app.as(team.manager).post(`/api/tasks/${task.task_id}/comments`, { content: `${HOSTILE}\n\n| a |\n|:-:|\n| b |` });
    await app.as(team.manager).patch(`/api/projects/${project.project_id}`, { lead_id: team.manager.user_id });
    await app.as(team.manager).post(`/api/projects/${project.project_id}/updates`, { health: 'off_track', content: HOSTILE });
    const field = { team_id: team.team_id, name: HOSTILE.slice(0, 80), entity_type: 'task' };
    const choices = [{ value: HOSTILE.slice(0, 80) }, { value: 'x' }];
    for (const [field_type, options] of [
      ['multi_select', choices],
      ['select', choices],
      ['text', []],
    ] as const) {
      await app.as(team.manager).post('/api/custom-fields', { ...field, field_type, options });
    }
    const { field_id } = await db('custom_fields').where({ field_type: 'select' }).first('field_id');
    const named = { team_id: team.team_id, name: HOSTILE.slice(0, 40), status: 'todo' };
    const { stage_id } = (await app.as(team.manager).post('/api/stages', named)).body;
    await app.as(team.manager).patch(`/api/tasks/${task.task_id}`, { stage_id });
    const views: string[] = [];
    for (const layout of ['list', 'board']) {
      const view = { name: HOSTILE.slice(0, 90), entity_type: 'task', layout, team_id: team.team_id, group_by: 'assigned_to' };
      views.push((await app.as(team.manager).post('/api/saved-views', { ...view, is_shared: true })).body.view_id);
    }
    const session = await buildSession(app, team.manager, { title: HOSTILE });
    const { plan } = await stage(
      app,
      team.manager,
      [{ tool: 'task.update', entity_id: task.task_id, params: { priority: 'low' } }],
      { session },
    );
    const ofTeam = await buildSession(app, team, { kind: 'automation', title: HOSTILE });
    const proposed = [
      { tool: 'task.delete' as const, entity_id: task.task_id, params: {} },
      { tool: 'project.update' as const, entity_id: project.project_id, params: { description: HOSTILE } },
    ];
    await stage(app, team.manager, proposed, { session: ofTeam, source: 'automation', lifeHours: 168 });
    const said = { session_id: session.session_id, role: 'assistant', content: HOSTILE, action_id: plan?.action_id };
    await db('agent_messages').insert([{ ...said, role: 'user', action_id: null }, said]);
    await db('agent_links').insert({
      session_id: session.session_id,
      item_type: 'task',
      item_id: task.task_id,
      linked_by: team.manager.user_id,
    });
    const { webhook_id } = await createWebhook(app, team, { description: HOSTILE, events: ['task.created', 'note.*'] });
    const attempt = {
      at: '2026-11-20T17:51:02.123Z',
      status_code: 500,
      duration_ms: 1,
      error: HOSTILE,
      response: HOSTILE.repeat(9),
    };
    const { delivery_id } = await buildDelivery(app, team, webhook_id, { attempts: [attempt, attempt] });
    await buildDelivery(app, team, webhook_id, { status: 'pending' });
    await db('webhook_events').update({ body: JSON.stringify({ title: HOSTILE, text: 'word '.repeat(200) }) });
    const repo = `acme/${'rocket'.repeat(30)}`;
    await db('forge_repositories').insert({ repo, team_id: team.team_id, created_by: team.admin.user_id });
    const received = { repo, event: HOSTILE, reason: HOSTILE, body_sha256: Buffer.alloc(32) };
    await db('forge_deliveries').insert({ ...received, delivery_id: 'x', outcome: 'failed' });
    await db('forge_deliveries').insert({ ...received, delivery_id: 'y', outcome: 'ignored' });
    const rule = { team_id: team.team_id, position: 0, system: HOSTILE, name: HOSTILE, target: HOSTILE };
    await db('request_rules').insert({ ...rule, require_code: true, is_denied: false });
    const cycle = await createCycle(app.as(team.manager), { ...project, name: HOSTILE, goal: HOSTILE, end_date: '2099-01-01' });
    const { cycle_id } = cycle;
    await app.as(team.manager).post(`/api/sprints/${cycle_id}/tasks`, { task_ids: [task.task_id] });
    await app.as(team.manager).post(`/api/sprints/${cycle_id}/start`);
    await createCycle(app.as(team.manager), { ...project, name: HOSTILE });
    const bulk_job_id = await buildBulkJob(app, team, { message: HOSTILE, total: 1_000_000, processed: 999_999 });
    const bulk_file_id = `${await buildLinearUpload(app, team, HOSTILE)}?team=${team.team_id}`;
    await buildRunner(app, team);
    await db('runners').update({ name: HOSTILE.slice(0, 90), labels: [HOSTILE.slice(0, 60)], last_seen_at: new Date() });
    const waiting_job = { status: 'queued', claimed_at: null, finished_at: null, labels: ['linux', 'gpu'] };
    await buildRunnerJob(app, team, waiting_job, '');
    const ended_job = {
      command: `${HOSTILE}\nmake`,
      runner_name: HOSTILE.slice(0, 90),
      exit_code: 2,
      output: HOSTILE,
      error: HOSTILE,
    };
    const runner_job_id = await buildRunnerJob(app, team, ended_job, `\u001B[31m${HOSTILE}\u001B[0m\n`.repeat(200));
    return {
      invitation_id,
      request_id,
      bulk_job_id,
      bulk_file_id,
      runner_job_id,
      cycle_id,
      field_id,
      view_id: views[0] as string,
      board: views[1] as string,
      webhook_id,
      delivery_id,
      session_id: session.session_id,
      item_id: task.task_id,
      project_id: project.project_id,
      run_id: waiting.run_id,
      automation_id: waiting.automation_id,
      dry_run_id: dryRun.run_id,
      team_id: team.team_id,
      failed: failed.run_id,
      user_id: team.member.user_id,
      job_id,
    };
  }

  beforeAll(async () => {
    app = await startApp();
    team = await buildTeam(app);
    await givePasswords(app);
    const ids = await writeHostileText();
    // Parts of other pages: test/browser/keys.test.ts opens the palette, work.test.ts types a line, suggest.test.ts a name, waiting.test.ts decides on the page of a task,
    // and each page has its places.
    const parts = [
      '/app/palette',
      '/app/places',
      '/app/tasks/line',
      '/app/tasks/change',
      '/app/suggest',
      '/app/items/:item_id/waiting',
    ];
    const shown = PAGES.filter(({ method, path }) => method === 'get' && !parts.includes(path)).map(({ path }) =>
      path === '/app/invitations/:invitation_id'
        ? invitationPath(app.services.config, ids['invitation_id'] as string)
        : path.replace(/:(\w+)/g, (_, name) => ids[path.startsWith('/app/bulk') ? `bulk_${name}` : name] ?? 'x'),
    );
    paths = [
      ...shown,
      `/app/runs/${ids['failed']}`,
      `/app/items/${ids['project_id']}`,
      `/app/views/${ids['board']}`,
      `/app/tasks/change?pick=assignee:1:${ids['item_id']}`,
      '/app/nothing',
    ];
    browser = await launch();
  });
  afterEach(() => Promise.all(windows.splice(0).map((window) => window.close())));
  afterAll(async () => {
    await browser?.close();
    await app.close();
  });

  it.each([
    ['light', 'a desk', { width: 1280, height: 800 }],
    ['dark', 'a phone', { width: 360, height: 740 }],
  ] as const)('axe finds nothing on any page, and stored text stays text, %s, on %s', async (colorScheme, _where, viewport) => {
    const look = { colorScheme, viewport };
    const [inside, outside] = [await open(team.manager, look), await open(null, look)];
    // Pages of a team that only its admins may open.
    const admin = await open(team.admin, look);
    const getWindow = (path: string) =>
      outsidePaths.has(path)
        ? outside
        : /^\/app\/teams\/[^/]+\/(secrets|agent|webhooks|code-host|request-rules)/.test(path)
          ? admin
          : inside;
    const faults: string[] = [];
    for (const path of paths) {
      const { page } = getWindow(path);
      await page.goto(path);
      faults.push(...(await findFaults(page, colorScheme === 'dark')).map((fault) => `${path} ${fault}`));
      const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
      if (overflow) faults.push(`${path} is ${overflow} px too wide`);
      const foreign = await page.evaluate(FOREIGN);
      expect([path, foreign]).toEqual([path, []]);
      expect(await page.content()).not.toContain('49javascript');
    }
    await inside.page.goto('/app/approvals');
    expect(await inside.page.textContent('.gate .ask')).toBe(HOSTILE);
    expect([...faults, ...inside.complaints, ...admin.complaints, ...outside.complaints]).toEqual([]);
  });

  it('a new person: code, password, second factor, token; each page on the way clean', async () => {
    const { page, complaints } = await open(null, { viewport: { width: 390, height: 844 } });
    const faults: string[] = [];
    const look = async (heading: string) => {
      await page.waitForSelector(`h1:has-text("${heading}"), h2:has-text("${heading}")`);
      faults.push(...(await findFaults(page)).map((fault) => `${heading}: ${fault}`));
    };
    const send = (button: string) => page.click(`main button:has-text("${button}")`);
    const email = 'nora@test.example';
    await page.goto('/app/sign-in');
    await page.click('text=Sign up');
    await page.fill('[name=name]', 'Nora New');
    await page.fill('[name=email]', email);
    await send('Send code');
    await look('Check your email');
    await page.fill('[name=code]', await mailedCode(app, { email }));
    await page.fill('[name=password]', PASSWORD);
    await send('Create account');
    await look('Hello Nora');
    await page.goto('/app/account/security');
    await page.fill('[action$="two-factor"] [name=password]', PASSWORD);
    await send('Enable two-factor authentication');
    await look('Two-factor authentication');
    const phone = new Authenticator(await page.inputValue('[name=secret]'));
    await page.fill('[name=code]', '000000');
    await send('Enable two-factor authentication');
    await page.waitForSelector('[role=alert]');
    await page.fill('[name=code]', phone.code());
    await send('Enable two-factor authentication');
    await look('Recovery codes');
    expect((await page.textContent('#codes'))?.trim().split('\n')).toHaveLength(10);
    await page.click('text=I saved them');
    await look('Two-factor authentication');
    await page.goto('/app/account/tokens');
    await page.fill('[name=name]', 'CI');
    await page.check('[value="tasks:read"]');
    await send('Create token');
    await look('Your new token');
    const token = (await page.textContent('#secret')) as string;
    expect((await app.as(token.trim()).get('/api/auth/me')).body.email).toBe(email);
    await page.click('.bar > details.menu summary');
    await page.click('.sheet button:has-text("Sign out")');
    await page.fill('[name=email]', email);
    await page.fill('[name=password]', PASSWORD);
    await send('Sign in');
    await look('Two-factor authentication');
    await page.fill('[name=code]', phone.code(1));
    await send('Continue');
    await look('Hello Nora');
    expect([...faults, ...complaints]).toEqual([]);
  });

  it('asks an untrusted browser for an emailed code; an administrator starts and stops impersonation', async () => {
    const root = await buildAccount(app, { role: 'admin', login_otp_exempt: false });
    const { page, complaints } = await open(null);
    await page.goto(`/app/admin?q=${team.member.email}`);
    await page.fill('[name=email]', root.email);
    await page.fill('[name=password]', PASSWORD);
    await page.click('main button:has-text("Sign in")');
    await page.waitForSelector('h1:has-text("Check your email")');
    const faults = await findFaults(page);
    await page.fill('[name=code]', await mailedCode(app, root));
    await page.check('[name=trust_device]');
    await page.click('main button:has-text("Continue")');
    await page.waitForURL(`${app.url}/app/admin?q=${team.member.email}`);
    await page.click('details.manage summary >> nth=0');
    faults.push(...(await findFaults(page)));
    await page.fill('[action$=impersonate] [name=reason] >> visible=true', 'Ticket 4711: cannot see');
    await page.click('button:has-text("Impersonate") >> visible=true');
    await page.waitForSelector('.acting');
    faults.push(...(await findFaults(page)));
    await page.click('.acting button');
    await page.waitForURL(`${app.url}/app/admin`);
    expect(await page.locator('.acting').count()).toBe(0);
    expect([...faults, ...complaints]).toEqual([]);
  });

  it('fields of one row stand in one line, and a count beside its icon, not over it', async () => {
    const boxes = (page: Window['page'], selector: string) =>
      page.evaluate<{ top: number; bottom: number; left: number; right: number }[]>(
        `[...document.querySelectorAll(${JSON.stringify(selector)})].map((one) => one.getBoundingClientRect().toJSON())`,
      );
    const { page: desk } = await open(team.manager);
    await desk.goto('/app/admin');
    const row = await boxes(desk, '.search > *');
    expect(row).toHaveLength(3);
    for (const { top, bottom } of row) expect([top, bottom]).toEqual([row[0]?.top, row[0]?.bottom]);
    const { page: phone } = await open(team.manager, { viewport: { width: 390, height: 844 } });
    const [count] = await boxes(phone, '#places .count');
    const [icon] = await boxes(phone, '#places a:has(.count) .icon');
    expect(count?.left).toBeGreaterThanOrEqual(icon?.right ?? Infinity);
    const [place] = await boxes(phone, '#places a:has(.count)');
    expect(count?.right).toBeLessThanOrEqual(place?.right ?? 0);
  });

  it('all of it by keyboard: sign in, find what waits, say no with a reason, be told', async () => {
    const run = await buildRun(app, team, { creator: team.admin, fields: { automation_name: 'By keyboard' } });
    const { page, complaints } = await open(null);
    await page.goto(`/app/runs/${run.run_id}`);
    await page.waitForURL(/sign-in\?next=/);
    // The browser moves the focus after it has loaded the page.
    await until(async () => (await page.evaluate('document.activeElement.name')) === 'email');
    await page.keyboard.type(team.manager.email);
    await page.keyboard.press('Tab');
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${app.url}/app/runs/${run.run_id}`);
    const focusOn = async (words: string) => {
      for (let presses = 0; presses < 40; presses += 1) {
        await page.keyboard.press('Tab');
        const text = await page.evaluate<string>('document.activeElement.textContent');
        if (text.trim().startsWith(words)) return;
      }
      throw new Error(`no way to ${words} by keyboard`);
    };
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content');
    await focusOn('Reject…');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.name')).toBe('reason');
    await page.keyboard.type('Not on a Friday');
    await focusOn('Reject:');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.notice.good');
    expect(await page.evaluate('document.activeElement.className')).toContain('notice');
    expect(await page.textContent('.timeline')).toContain('Not on a Friday');
    expect(page.url()).toBe(`${app.url}/app/runs/${run.run_id}`);
    expect(complaints).toEqual([]);
  });

  it('asks for a page again when something has changed and not otherwise, and by itself where there is no stream', async () => {
    const { page, complaints } = await open(team.admin);
    let asked = 0;
    page.on('request', (request) => (asked += /notifications\?live/.test(request.url()) ? 1 : 0));
    const notify = (message: string) =>
      app.services.db('notifications').insert({ user_id: team.admin.user_id, team_id: team.team_id, kind: 'message', message });
    await page.goto('/app/notifications');
    // The stream has begun, and the page has made up for the time before.
    await until(async () => asked === 1);
    await page.waitForTimeout(6_000);
    expect(asked).toBe(1);
    await notify('By the stream');
    await page.waitForSelector('#live:has-text("By the stream")');
    expect(asked).toBe(2);
    await page.route('**/app/live*', (route) => route.fulfill({ status: 503 }));
    await page.goto('/app/notifications');
    await notify('Without one');
    await page.waitForSelector('#live:has-text("Without one")');
    expect(complaints.filter((text) => !text.includes('503'))).toEqual([]);
  });

  it('shows updates without a reload, and keeps what a user is typing', async () => {
    const first = await buildRun(app, team, { fields: { automation_name: 'The first' } });
    const { page, complaints } = await open(team.admin);
    await page.goto('/app/approvals');
    const card = `#gate-${first.run_id}`;
    await page.click(`${card} details.comment summary`);
    await page.fill(`${card} textarea[name=comment]`, 'Half a sent');
    const waiting = async () => Number.parseInt((await page.textContent('#places .count')) ?? '', 10);
    const before = await waiting();
    const second = await buildRun(app, team, { fields: { automation_name: 'The second' } });
    await app.services.db('gates').where({ run_id: second.run_id }).update({ requested_at: new Date() });
    // A new one is announced; nothing moves under the pointer.
    await page.waitForSelector('#news:has-text("1 new")');
    expect(await page.locator(`#gate-${second.run_id}`).count()).toBe(0);
    // The number in the navigation may be replaced a moment later.
    await until(async () => (await waiting()) === before + 1);
    expect(await page.inputValue(`${card} textarea[name=comment]`)).toBe('Half a sent');
    expect(await page.isVisible(`${card} textarea[name=comment]`)).toBe(true);
    await page.click('#news a');
    await page.waitForSelector(`#gate-${second.run_id}`);
    const place = await page.locator(`#gate-${second.run_id}`).boundingBox();
    await app.as(team.manager).post(`/api/automations/runs/${second.run_id}/approve`);
    await page.waitForSelector(`#gate-${second.run_id}.gone`);
    expect((await page.locator(`#gate-${second.run_id}`).boundingBox())?.y).toBe(place?.y);
    expect(await page.isDisabled(`#gate-${second.run_id} button:has-text("Approve")`)).toBe(true);
    await page.click(`${card} button:has-text("Approve")`);
    await page.waitForSelector('.notice.good');
    expect(await page.isVisible(card)).toBe(false);
    expect(complaints).toEqual([]);
  });

  it('builds an automation: checks the condition while typing, adds and moves steps in place, and saves', async () => {
    const { page, complaints } = await open(team.member, { viewport: { width: 390, height: 844 } });
    await page.goto(`/app/automations/new?team=${team.team_id}&template=announce-finished`);
    await page.fill('#f-condition', 'task.title != "" && nobody');
    await page.waitForSelector('#condition-check.wrong mark');
    expect(await page.evaluate('document.activeElement.id')).toBe('f-condition');
    await page.click('[data-select]');
    const selected = '(({ selectionStart: from, selectionEnd: to }) => [from, to])(document.activeElement)';
    expect(await page.evaluate(selected)).toEqual([20, 21]);
    await page.fill('#f-condition', 'task.title != ""');
    await page.waitForSelector('#condition-check.true');
    await page.selectOption('#f-add_type', 'add_comment');
    await page.click('.add-row button');
    // The new step has the focus, and a path of the sample goes into it.
    await page.waitForSelector('#step-2');
    await until(async () => (await page.evaluate('document.activeElement.name')) === 's2.p.content');
    await page.click('#condition-check summary');
    await page.click('[data-insert="{{event.task.title}}"]');
    await page.click('button[value="up:2"]');
    await page.waitForSelector('[name="s1.p.content"]');
    expect(await page.inputValue('[name="s1.p.content"]')).toBe('{{event.task.title}}');
    const faults = await findFaults(page);
    await page.click('.save button');
    await page.waitForURL(/\/app\/automations\/[\da-f-]{36}$/);
    const automation_id = page.url().split('/').at(-1);
    const saved = await app.services.db('automations').where({ automation_id }).first();
    expect(saved.actions.map(({ type }: { type: string }) => type)).toEqual(['require_approval', 'add_comment', 'notify']);
    expect([...faults, ...complaints]).toEqual([]);
  });

  it('writes a condition from rows as they are chosen, without losing the place, and creates once on a double click', async () => {
    const { page, complaints } = await open(team.member);
    await page.goto(`/app/automations/new?team=${team.team_id}&template=blank`);
    await page.fill('#f-name', 'By rows');
    await page.selectOption('[name="c0.field"]', 'event.task.priority');
    // Its known values are offered as soon as the field is known.
    await page.selectOption('select[name="c0.value"]', 'urgent');
    await until(async () => (await page.inputValue('#f-condition')) === 'event.task.priority == "urgent"');
    await page.waitForSelector('#condition-check.false');
    await page.focus('select[name="c0.value"]');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.value')).toBe('row');
    await page.keyboard.press('Enter');
    await page.locator('[name="c1.field"]:focus').waitFor();
    // No field lies half under the header.
    await page.evaluate('scrollTo(0, 0)');
    const faults = await findFaults(page);
    await page.fill('#f-condition', 'size(event.task.tags) > 1');
    await page.keyboard.press('Tab');
    await page.waitForSelector('.condition-row', { state: 'detached' });
    await page.dblclick('.save button');
    await page.waitForURL(/\/app\/automations\/[\da-f-]{36}$/);
    const saved = await app.services.db('automations').where({ team_id: team.team_id, name: 'By rows' });
    expect(saved.map(({ condition }: { condition: string }) => condition)).toEqual(['size(event.task.tags) > 1']);
    expect([...faults, ...complaints]).toEqual([]);
  });

  it('without scripts: sign in, approve, sign out', async () => {
    const run = await buildRun(app, team, { fields: { automation_name: 'Without scripts' } });
    const { page, complaints } = await open(team.manager, { javaScriptEnabled: false });
    await page.goto('/app/approvals');
    await page.click(`#gate-${run.run_id} button:has-text("Approve")`);
    await page.waitForSelector('.notice.good');
    expect(await page.locator(`#gate-${run.run_id}`).count()).toBe(0);
    await page.click('.bar > details.menu summary');
    await page.click('details.menu button:has-text("Sign out")');
    await page.waitForURL(`${app.url}/app/sign-in`);
    expect(complaints).toEqual([]);
  });

  it('the reader of the API document is dark where the reader’s system is', async () => {
    const { page, complaints } = await open(null, { colorScheme: 'dark' });
    await page.goto('/api/docs');
    expect(await page.evaluate("document.documentElement.classList.contains('dark-mode')")).toBe(true);
    await page.waitForSelector('.operation-filter-input');
    expect(complaints.filter((complaint) => !complaint.includes('401'))).toEqual([]);
  });

  it('the reader of the API document is light elsewhere, filters operations and tries them with a fresh key', async () => {
    const { page } = await open(null, { colorScheme: 'light' });
    const token = await app.as(team.manager).post('/api/auth/tokens', { name: 'docs', scopes: ['projects:write'] });
    await page.addInitScript(`localStorage.setItem('authorized', ${JSON.stringify(storedToken(token.body.token as string))})`);
    await page.goto('/api/docs');
    expect(await page.evaluate("document.documentElement.classList.contains('dark-mode')")).toBe(false);
    await page.fill('.operation-filter-input', 'post createProject');
    await page.waitForSelector('.opblock >> nth=1', { state: 'detached' });
    await page.click('.opblock-summary-control');
    const name = `Written in the docs ${Date.now()}`;
    await page.fill('.opblock textarea', JSON.stringify({ name, team_id: team.team_id }));
    const keys: (string | undefined)[] = [];
    for (const _call of [1, 2]) {
      const [request] = await Promise.all([
        page.waitForRequest((one) => one.method() === 'POST' && one.url().endsWith('/api/projects')),
        page.click('.opblock .execute'),
      ]);
      expect((await request.response())?.status()).toBe(201);
      keys.push(request.headers()['idempotency-key']);
    }
    expect(keys.every((key) => /^\d+(-\d+){3}$/.test(key ?? ''))).toBe(true);
    expect(keys[0]).not.toBe(keys[1]);
  });

  it('no other page may frame us', async () => {
    const { page } = await open(team.manager);
    await page.goto('/app/sign-in');
    await page.setContent(`<iframe id="frame" src="${app.url}/app/approvals"></iframe>`);
    await page.waitForTimeout(0);
    const frame = page.frames().find((one) => one !== page.mainFrame());
    await frame?.waitForLoadState().catch(() => undefined);
    expect(await frame?.locator('.gate').count()).toBe(0);
  });
});
