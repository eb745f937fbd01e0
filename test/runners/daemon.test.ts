import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildTeam, type TestTeam } from '../factories/people.js';
import { type Client, startApp, type TestApp } from '../support/app.js';
import { until } from '../support/worker.js';
import { isRunning, type Line, NOTHING, openLine, RunnerProcess } from './support.js';

// The daemon as its own process, against the running service, over a line that can be cut.

let app: TestApp;
let team: TestTeam;
let people: Client;
let line: Line;
let outside: string;
const runner = new RunnerProcess();

interface Job {
  job_id: string;
  status: string;
  exit_code: number | null;
  output: string | null;
  error: string | null;
}

const queue = async (command: string, fields: object = {}): Promise<string> => {
  const answer = await people.post('/api/runners/jobs', { team_id: team.team_id, command, labels: [], ...fields });
  expect(answer.status).toBe(201);
  return answer.body.job_id as string;
};
const getJob = async (id: string): Promise<Job> => (await people.get(`/api/runners/jobs/${id}`)).body as Job;
const untilJobIs = (id: string, ...statuses: string[]): Promise<Job> =>
  until(async () => {
    const job = await getJob(id);
    return statuses.includes(job.status) && job;
  }, 60_000);
const ended = (id: string): Promise<Job> => untilJobIs(id, 'succeeded', 'failed', 'lost', 'cancelled', 'timed_out');

/** Command lines of all processes, with NUL between the words. Only Linux shows them. */
const commandLines = (): string[] =>
  (process.platform === 'linux' ? readdirSync('/proc') : [])
    .map((pid) => `/proc/${pid}/cmdline`)
    .filter((path) => existsSync(path))
    .flatMap((path) => {
      try {
        return [readFileSync(path, 'utf8')];
      } catch {
        return [];
      }
    });

/** The whole log, page after page. */
async function loadLog(id: string): Promise<{ text: string; truncated: boolean }> {
  for (let [text, offset] = ['', 0]; ; ) {
    const { status, body } = await people.get(`/api/runners/jobs/${id}/logs?offset=${offset}`);
    expect(status).toBe(200);
    text += body.text as string;
    offset = body.next_offset as number;
    if (offset >= body.size) return { text, truncated: body.truncated as boolean };
  }
}
/** Waits for a line of the log. */
const untilLogged = (id: string, pattern: RegExp): Promise<RegExpExecArray> =>
  until(async () => pattern.exec((await loadLog(id)).text));

beforeAll(async () => {
  app = await startApp();
  team = await buildTeam(app);
  people = app.as(team.manager);
  line = await openLine(app.url);
  outside = mkdtempSync(join(tmpdir(), 'assent-jobs-'));
  const { body } = await app.as(team.admin).post('/api/runners/registration-tokens', { team_id: team.team_id });
  const args = ['register', '--url', `${line.url}/`, '--name', 'Builder', '--labels', 'Linux, gpu'];
  expect(await runner.run(args, { ASSENT_REGISTRATION_TOKEN: body.token as string })).toBe(0);
  await runner.start({ SECRET_OF_THE_DAEMON: 'x', LANG: 'C.UTF-8' });
});
afterAll(async () => {
  await runner.remove();
  line.close();
  rmSync(outside, { recursive: true, force: true });
  await app.close();
});

it('keeps its token to itself and refuses what would not work', async () => {
  const mode = (name: string) => (statSync(join(runner.dir, name)).mode & 0o777).toString(8);
  expect([mode('.'), mode('runner.json')]).toEqual(['700', '600']);
  const other = new RunnerProcess();
  expect(await other.run(['run'])).toBe(78);
  expect(await other.run(['register', '--url', 'http://assent.example', '--token', 'x'])).toBe(2);
  expect(await other.run(['register', '--url', line.url, '--token', 'svc_reg_unknown'])).toBe(1);
  expect(other.printed).toMatch(/register" first[^]*is not https[^]*token is unknown, used or expired/);
  expect(existsSync(join(other.dir, 'runner.json'))).toBe(false);
  // Two daemons of one folder would do one job at the same time.
  expect(await other.run(['run', '--dir', runner.dir])).toBe(1);
  expect(other.printed).toContain('A daemon already runs');
  await other.remove();
});

it('runs a command in an empty folder with a clean environment, and keeps the order of its output', async () => {
  const command = [
    'env | cut -d= -f1 | sort | tr "\\n" " "; echo "[$TARGET]"; ls -A; test "$HOME" = "$PWD" && echo home',
    // Not UTF-8, NUL, and a character that arrives in two parts; errors and /dev/stderr in between.
    String.raw`printf '\377 \000 caf\303'; sleep 0.4; printf '\251\n'; echo one >&2; echo two; echo three > /dev/stderr`,
    'sleep 600 & echo result > "$ASSENT_OUTPUT"; mkdir locked; chmod 000 locked',
  ].join('\n');
  const id = await queue(command, { env: { TARGET: 'a "b" $c' }, labels: ['gpu'] });
  expect(await ended(id)).toMatchObject({ status: 'succeeded', exit_code: 0, output: 'result\n', error: null });
  const [names = '', ...lines] = (await loadLog(id)).text.trimEnd().split('[a "b" $c]');
  // A shell adds some of its own.
  const own = names
    .trim()
    .split(' ')
    .filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(name));
  expect(own).toEqual(['ASSENT_JOB_ID', 'ASSENT_OUTPUT', 'HOME', 'LANG', 'PATH', 'TARGET', 'TMPDIR']);
  expect(lines.join('')).toBe('\nhome\n\uFFFD \uFFFD café\none\ntwo\nthree');
  await until(async () => readdirSync(join(runner.dir, 'work')).length === 0);
});

it('removes what a command nested too deep to name, and ends what starts itself anew', async () => {
  const nest =
    'const fs = require("fs"); for (let i = 0; i < 600; i++) { fs.mkdirSync("a".repeat(9)); process.chdir("a".repeat(9)) }';
  const command = `${process.execPath} -e '${nest}'; setsid sh -c 'while :; do setsid sleep 61${process.pid} & sleep 0.01; done' & sleep 0.3`;
  expect(await ended(await queue(command))).toMatchObject({ status: 'succeeded' });
  await until(async () => readdirSync(join(runner.dir, 'work')).length === 0);
  expect(commandLines().filter((line) => line.includes(`sleep\x0061${process.pid}`))).toEqual([]);
});

it('reports a job that it cannot write down, and takes no other until it can', async () => {
  const blocked = join(runner.dir, 'job.json');
  const stuck = join(runner.dir, 'check.json');
  const first = await queue(`rm ${blocked}; mkdir -p ${blocked}/x ${stuck}/x; echo done`);
  expect(await ended(first)).toMatchObject({ status: 'succeeded', output: 'done\n' });
  const next = await queue('echo next');
  await until(async () => runner.printed.includes('no job is taken'));
  expect(await getJob(next)).toMatchObject({ status: 'queued' });
  rmSync(stuck, { recursive: true });
  expect(await ended(next)).toMatchObject({ status: 'succeeded' });
});

it('ends a cancelled command with everything that it started', async () => {
  // The first ignores SIGTERM, the second has left the process group.
  const command = `(trap '' TERM; while :; do sleep 1; done) & echo "pid $!"; setsid sleep 600 & echo "pid $!"; while :; do echo .; sleep 0.2; done`;
  const id = await queue(command);
  const [, first, second] = await untilLogged(id, /pid (\d+)\npid (\d+)\n/);
  expect((await people.post(`/api/runners/jobs/${id}/cancel`)).body).toMatchObject({ cancel_requested: true });
  expect(await ended(id)).toMatchObject({ status: 'cancelled', exit_code: 143 });
  expect((await loadLog(id)).text).toContain('[assent-runner] The job was cancelled.');
  const left = [Number(first), Number(second)].filter(isRunning);
  // Only Linux shows what has left its group.
  expect(process.platform === 'linux' ? left : left.slice(0, -1)).toEqual([]);
});

it('ends a command that takes too long', async () => {
  line.claimed = { timeout_seconds: 1 };
  const id = await queue('echo begun; sleep 600');
  await untilJobIs(id, 'running');
  line.claimed = {};
  await app.services
    .db('runner_jobs')
    .where({ job_id: id })
    .update({ claimed_at: new Date(Date.now() - 3_600_000) });
  expect(await ended(id)).toMatchObject({ status: 'timed_out', exit_code: 143 });
  expect((await loadLog(id)).text).toMatch(/^begun\n\[assent-runner\] The job ran longer/);
});

it('reads a flood of 100 MB within bounded memory, and keeps its beginning and its end', async () => {
  const id = await queue(String.raw`yes 'a line that is repeated' | head -c 100000000; echo; echo END`);
  const job = await ended(id);
  expect(job).toMatchObject({ status: 'succeeded', exit_code: 0 });
  expect([job.output?.endsWith('END\n'), Buffer.byteLength(job.output ?? '')]).toEqual([true, 65_536]);
  const log = await loadLog(id);
  expect(log.truncated).toBe(true);
  expect(Buffer.byteLength(log.text)).toBeGreaterThan(4_900_000);
  const peak = existsSync('/proc/self/status')
    ? /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${runner.pid}/status`, 'utf8'))
    : null;
  expect(Number(peak?.[1] ?? 0)).toBeLessThan(250_000);
});

it('sends each line once although the service was away and answers were lost', async () => {
  const done = join(outside, 'done');
  line.lose = { path: /\/logs$/, times: 1 };
  const id = await queue('for n in $(seq 1 400); do echo "line $n"; sleep 0.002; done; touch "$DONE"; exit 7', {
    env: { DONE: done },
  });
  await untilLogged(id, /line 1\n/);
  line.cut = /./;
  await until(async () => existsSync(done));
  line.lose = { path: /\/complete$/, times: 1 };
  line.cut = NOTHING;
  expect(await ended(id)).toMatchObject({ status: 'failed', exit_code: 7 });
  expect((await loadLog(id)).text).toBe(Array.from({ length: 400 }, (_, n) => `line ${n + 1}\n`).join(''));
  await until(async () => !existsSync(join(runner.dir, 'job.json')));
  expect(line.lose.times).toBe(0);
});

it('ends a command when the service accepted nothing for the length of the lease', async () => {
  line.claimed = { lease_seconds: 2, heartbeat_seconds: 1 };
  const id = await queue('echo "pid $$"; sleep 600');
  const [, pid] = await untilLogged(id, /pid (\d+)\n/);
  line.claimed = {};
  line.cut = /./;
  await until(async () => !isRunning(Number(pid)));
  line.cut = NOTHING;
  expect(await ended(id)).toMatchObject({ status: 'failed', exit_code: 143 });
  expect((await loadLog(id)).text).toContain('[assent-runner] The service did not answer for 2 seconds.');
});

it('ends what it left behind after kill -9, reports the job as failed, and does not run it again', async () => {
  const trace = join(outside, 'trace');
  const id = await queue(`echo ran >> "$TRACE"; echo "pid $$"; trap '' TERM; while :; do sleep 1; done`, {
    env: { TRACE: trace },
  });
  const [, pid] = await untilLogged(id, /pid (\d+)\n/);
  runner.signal('SIGKILL');
  expect(await runner.ended()).toBe('SIGKILL');
  expect(isRunning(Number(pid))).toBe(true);
  await runner.start();
  expect(await ended(id)).toMatchObject({
    status: 'failed',
    exit_code: null,
    output: 'The runner restarted during this job. The command was ended.',
  });
  expect(isRunning(Number(pid))).toBe(false);
  expect(readFileSync(trace, 'utf8')).toBe('ran\n');
  await until(async () => !existsSync(join(runner.dir, 'job.json')));
});

it('reports after kill -9 how a command had ended', async () => {
  line.cut = /\/complete$/;
  const id = await queue('exit 5');
  await until(async () => runner.printed.includes('cannot be reported yet'));
  runner.signal('SIGKILL');
  await runner.ended();
  line.cut = NOTHING;
  await runner.start();
  expect(await ended(id)).toMatchObject({ status: 'failed', exit_code: 5 });
});

it('completes a job whose claim was lost on the way, and a deleted runner ends', async () => {
  line.lose = { path: /\/claim$/, times: 1 };
  const lost = await queue('echo never');
  expect(await ended(lost)).toMatchObject({ status: 'failed', exit_code: null, output: expect.stringContaining('was not run') });
  expect((await loadLog(lost)).text).toBe('');

  const last = await queue('sleep 0.5; echo done');
  await untilJobIs(last, 'running');
  runner.signal('SIGTERM');
  expect(await runner.ended()).toBe(0);
  expect(await ended(last)).toMatchObject({ status: 'succeeded' });

  const [{ runner_id }] = (await people.get(`/api/runners?team_id=${team.team_id}`)).body as [{ runner_id: string }];
  expect((await app.as(team.admin).delete(`/api/runners/${runner_id}`)).status).toBe(200);
  await runner.start();
  expect(await runner.ended()).toBe(78);
  expect(runner.printed).toContain('it was deleted');
});
