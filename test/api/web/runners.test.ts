import { logText } from '../../../api/web/pages/runners/log-text.js';
import { buildTeam, type TestTeam } from '../../factories/people.js';
import { buildRunnerJob } from '../../factories/runner-jobs.js';
import { buildRunner, type TestRunner } from '../../factories/runners.js';
import { startApp, type TestApp } from '../../support/app.js';
import { type Browser, givePasswords, signIn } from './browser.js';

// The pages of runners, as a browser without scripts uses them.

let app: TestApp;
let team: TestTeam;
let runner: TestRunner;
let admin: Browser;
let manager: Browser;
let member: Browser;
const jobRow = (job_id: string) => app.services.db('runner_jobs').where({ job_id }).first();

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
  team = await buildTeam(app);
  runner = await buildRunner(app, team, ['linux']);
  await givePasswords(app);
  [admin, manager, member] = [await signIn(app, team.admin), await signIn(app, team.manager), await signIn(app, team.member)];
});
afterAll(() => app.close());

it('shows a registration token once, with commands to paste, to admins only', async () => {
  const { status, html } = await admin.post('/app/runners/tokens', { team_id: team.team_id }, { from: '/app/runners' });
  expect(status).toBe(200);
  expect(html).toMatch(/register --url \S+ --token svc_reg_[\w-]{43}\nnpx -p .\/assent-client-\*.tgz assent-runner run</);
  expect((await manager.get('/app/runners')).html).not.toContain('Create registration token');
  const refused = await manager.post('/app/runners/tokens', { team_id: team.team_id }, { from: '/app/runners' });
  expect([refused.status, refused.html.includes('svc_reg_')]).toEqual([403, false]);
});

it('queues a job, whose log grows with each look, and cancels it', async () => {
  const empty = { team_id: team.team_id, command: '', labels: '', env: 'TARGET', timeout_minutes: '400' };
  const { status, html } = await manager.post('/app/runners/jobs', empty, { from: '/app/runners' });
  expect([status, html.includes('&quot;TARGET&quot; is not NAME=value'), html.includes('At most 360<')]).toEqual([
    422,
    true,
    true,
  ]);
  const form = {
    ...empty,
    command: '\r\nmake deploy\r\nmake check',
    labels: 'Linux,',
    env: 'TARGET=a=b\r\nX=',
    timeout_minutes: '5',
  };
  const queued = await manager.post('/app/runners/jobs', form, { from: '/app/runners' });
  const path = queued.headers.get('location') as string;
  const job_id = path.slice('/app/runners/jobs/'.length);
  expect(await jobRow(job_id)).toMatchObject({ command: '\nmake deploy\nmake check', labels: ['linux'], timeout_minutes: 5 });
  const other = await manager.post('/app/runners/jobs', { ...form, labels: 'gpu' }, { from: '/app/runners' });
  expect((await manager.get(other.headers.get('location') as string)).html).toContain(
    'Waits for a runner with gpu. The team has none.',
  );
  expect((await manager.get(path)).html).toContain('hx-trigger="live" data-live');
  const claimed = await runner.calls.post('/api/runners/claim', { wait_seconds: 0 });
  expect(claimed.body).toMatchObject({ job_id, env: { TARGET: 'a=b', X: '' } });

  const send = (chunk: string, offset: number) => runner.calls.post(`/api/runners/jobs/${job_id}/logs`, { chunk, offset });
  const chunks = ['\u001B[32mbuilt\u001B[0m\n10 %\r90 %\r\n', 'linked\n'] as const;
  await send(chunks[0], 0);
  const first = (await member.get(path)).html;
  expect(first).toContain('>built\n90 %\n<');
  expect(first).toMatch(
    /hx-get="[^"]+\?live" hx-trigger="live" data-live="runner_job" data-live-of='\["[0-9a-f-]{36}"\]'[^]*<h1><code>make deploy<[^]*<code>TARGET, X<[^]*data-follow[^]*>Refresh</,
  );
  await send(chunks[1], Buffer.byteLength(chunks[0]));
  expect((await member.get(path)).html).toContain('>built\n90 %\nlinked\n<');

  expect([first.includes('Cancel job'), first.includes('a=b')]).toEqual([false, false]);
  expect((await member.post(`${path}/cancel`, {}, { from: '/app/account' })).status).toBe(303);
  expect((await jobRow(job_id)).cancel_requested_at).toBeNull();
  await manager.post(`${path}/cancel`, {}, { from: path });
  expect((await manager.get(path)).html).toContain('The runner is asked to end the command.');
  await runner.calls.post(`/api/runners/jobs/${job_id}/complete`, { status: 'failed', exit_code: 143 });
  const over = (await member.get(path)).html;
  expect([over.includes('Cancelled'), over.includes('data-live="runner_job"')]).toEqual([true, false]);
});

it('shows the end of a long log, and all of it in parts', async () => {
  const log = Array.from({ length: 20_000 }, (_, n) => `line ${n + 1} é\n`).join('');
  const path = `/app/runners/jobs/${await buildRunnerJob(app, team, {}, log)}`;
  const end = (await member.get(path)).html;
  expect(/<code>(line \d+ é\n)+<\/code>/.test(end) && end.includes('line 20000 é')).toBe(true);
  expect(end).not.toContain('line 1 é');
  const start = (await member.get(`${path}?from=0`)).html;
  const next = /href="([^"]+)"[^>]*>Go on</.exec(start)?.[1] as string;
  const shown = (html: string) => /<pre id="log"[^>]*><code>([^]*?)<\/code>/.exec(html)?.[1] as string;
  expect(shown(start) + shown((await member.get(next)).html)).toBe(log);
});

it('says that a log was deleted to make room', async () => {
  const path = `/app/runners/jobs/${await buildRunnerJob(app, team, { is_log_deleted: true }, '')}`;
  expect((await member.get(path)).html).toContain('This log was deleted to make room for newer logs of the team.');
});

it('keeps other teams and guests out, lists the newest first, and deletes a runner', async () => {
  const other = await buildTeam(app);
  await givePasswords(app);
  const foreign = await buildRunnerJob(app, other, { command: 'make secret' });
  expect((await member.get(`/app/runners/jobs/${foreign}`)).status).toBe(403);
  expect((await member.get(`/app/runners?team=${other.team_id}`)).html).not.toContain('make secret');
  const guest = await signIn(app, team.guest);
  expect((await guest.get('/app/runners')).html).toContain('No runners yet.');
  for (let count = 0; count < 26; count++) await buildRunnerJob(app, team, { command: `make part${count}`, status: 'succeeded' });
  const newest = (await member.get('/app/runners?status=succeeded')).html;
  expect([newest.includes('make part25<'), newest.includes('make part0<')]).toEqual([true, false]);
  const older = /href="([^"]+)"[^>]*>Older</.exec(newest)?.[1]?.replaceAll('&amp;', '&') as string;
  expect((await member.get(older)).html).toContain('make part0<');

  const away = `/app/runners/${runner.runner_id}/delete?team=${team.team_id}`;
  await manager.post(away, {}, { from: '/app/runners' });
  expect((await runner.calls.post('/api/runners/claim', { wait_seconds: 0 })).status).toBe(204);
  expect((await admin.post(away, {}, { from: '/app/runners' })).headers.get('location')).toBe(
    `/app/runners?team=${team.team_id}`,
  );
  expect((await runner.calls.post('/api/runners/claim', { wait_seconds: 0 })).status).toBe(401);
});

it('shows what a terminal would leave of a log', () => {
  expect(logText('\u001B]0;title\u0007\u001B[1;31mred\u001B[m \u001B[2K\u001B(B\n')).toBe('red \n');
  expect(logText('a\rb\rc\nd\r\ne\u0008\u007F')).toBe('c\nd\ne\u2408\u2421');
  expect(logText('tab\there\u001B')).toBe('tab\there\u241B');
});
