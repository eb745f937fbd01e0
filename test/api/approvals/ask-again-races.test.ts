import { openGate } from '../../../api/automation/runs/approvals/asking/open-gate.js';
import { readGate } from '../../../api/automation/runs/approvals/read-gate.js';
import { performAction } from '../../../api/automation/runs/execution/perform-action.js';
import { readTail } from '../../../api/automation/runs/staging/tail.js';
import { buildPerson, buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../../factories/people.js';
import { buildRun, GATE, type TestRun } from '../../factories/runs.js';
import { startApp, type TestApp } from '../../support/app.js';
import { inTurn } from '../../support/in-turn.js';
import { type Browser, readCsrf, givePasswords, signIn } from '../web/browser.js';

// A gate has lapsed. Somebody asks again, somebody approves what was asked before, somebody rejects it, all at once.

/** `npm run test:long` plays each race far more often. */
const ROUNDS = Number(process.env['CAS_ROUNDS'] ?? 6);
const LONG = 120_000 + ROUNDS * 4_000;
/** A request of a race and how it ended: `done`, or the code with which it was refused. */
type Racer = 'ask' | 'old yes' | 'bare yes' | 'old no' | 'ask twice';
const RACERS: Racer[] = ['ask', 'old yes', 'bare yes', 'old no', 'ask twice'];

let app: TestApp;
let team: TestTeam;
let other: Person;
let browser: Browser;
let csrf: string | undefined;
let task: { task_id: string };
beforeAll(async () => {
  app = await startApp({}, 60_000);
  team = await buildTeam(app);
  other = await buildPerson(app);
  await db()('memberships').insert({ team_id: team.team_id, user_id: other.user_id, role: 'manager' });
  await givePasswords(app);
  browser = await signIn(app, team.manager);
  csrf = readCsrf((await browser.get('/app/approvals')).html);
});
afterAll(() => app.close());
beforeEach(async () => {
  task = await buildTask(app, team, await buildProject(app, team), { title: 'Rotate the keys' });
});

const db = () => app.services.db;
const carrier = ({ run_id }: TestRun) => ({ runId: run_id, incarnation: 1, execution: 'an-execution' });
const toGateView = ({ run_id }: TestRun) => db()('gates').where({ run_id }).first();
const decide = (person: Person, { run_id }: TestRun, verb: 'approve' | 'reject', body: object = {}) =>
  app.as(person).post(`/api/automations/runs/${run_id}/${verb}`, body);

/** A gate that needs two approvals, has one, and whose text is not what would be staged now. */
async function lapsedRun(round: number): Promise<TestRun & { hash: string }> {
  const gate = { ...GATE, params: { required_approvals: 2, if_changed: 'ask_again' } };
  const actions = [gate, { type: 'update_task', params: { task_id: task.task_id, title: `Round ${round}` } }];
  const statuses = ['pending', 'pending'] as const;
  const run = await buildRun(app, team, { actions, status: 'running', statuses: [...statuses], gateIndex: 99 });
  await openGate(app.services, carrier(run), 0);
  const hash = (await toGateView(run)).staged_hash as string;
  expect((await decide(team.admin, run, 'approve', { staged_hash: hash })).body).toMatchObject({ approvals_needed: 1 });
  const edited = await app.as(team.member).patch(`/api/tasks/${task.task_id}`, { title: `Before round ${round}` });
  expect(edited.status).toBe(200);
  const past = { requested_at: db().raw("now() - interval '1 hour'"), expires_at: db().raw('now()') };
  await db()('gates').where({ run_id: run.run_id }).update(past);
  return { ...run, gate_index: 0, hash };
}

async function send(racer: Racer, run: TestRun & { hash: string }): Promise<string> {
  const old = { staged_hash: run.hash };
  if (racer === 'ask' || racer === 'ask twice') {
    // Each from a page of its own: what one page sends twice is one submission.
    const own = racer === 'ask' ? csrf : csrf?.split('.')[0];
    const { headers } = await browser.post(`/app/runs/${run.run_id}/ask-again`, {}, { csrf: own ?? null });
    return headers.get('location') === `/app/approvals/gate/${run.run_id}` ? 'done' : 'RESOURCE_CONFLICT';
  }
  const answer =
    racer === 'old no'
      ? await decide(other, run, 'reject', old)
      : await decide(racer === 'old yes' ? team.admin : other, run, 'approve', racer === 'old yes' ? old : {});
  return answer.status === 200 ? 'done' : answer.body.error_code;
}

/** Checks that exactly one of them decided what becomes of the gate, and returns whether it was asked for again. */
async function checkEnd(run: TestRun & { hash: string }, results: Record<Racer, string>): Promise<boolean> {
  const { decision, staged_hash, lapsed_at, known_versions } = await toGateView(run);
  const approvals = await db()('gate_approvals').where({ run_id: run.run_id }).pluck('user_id');
  const asked = [results.ask, results['ask twice']].toSorted();
  expect(results['old yes']).not.toBe('done');
  if (results['old no'] === 'done') {
    expect({ decision, staged_hash, approvals }).toEqual({
      decision: 'rejected',
      staged_hash: run.hash,
      approvals: [team.admin.user_id],
    });
    expect(asked).toEqual(['RESOURCE_CONFLICT', 'RESOURCE_CONFLICT']);
    expect(results['bare yes']).not.toBe('done');
    return false;
  }
  // The yes of before is gone; one without a hash counts only if it was said to the new text.
  expect({ decision, lapsed_at, asked }).toEqual({ decision: null, lapsed_at: null, asked: ['RESOURCE_CONFLICT', 'done'] });
  expect(approvals).toEqual(results['bare yes'] === 'done' ? [other.user_id] : []);
  expect(known_versions === null).toBe(results['bare yes'] !== 'done');
  expect(staged_hash).not.toBe(run.hash);
  return true;
}

/** Approves what is asked now, performs it, and checks that it is what was shown and approved. */
async function checkPerformed(run: TestRun & { hash: string }): Promise<void> {
  const shown = (await app.as(other).get(`/api/approvals/gate/${run.run_id}`)).body;
  const seen = { staged_hash: shown.staged_hash, seen_hash: shown.seen_hash };
  for (const person of [other, team.admin]) expect((await decide(person, run, 'approve', seen)).status).toBe(200);
  const gate = await toGateView(run);
  expect(gate).toMatchObject({ decision: 'approved', staged_hash: shown.staged_hash });
  const approve = { entity_id: run.run_id, action: 'approve' };
  const entries = await db()('audit_entries').where(approve).orderBy('timestamp').pluck<string[]>('details');
  const hashes = entries.map((details) => JSON.parse(details).staged_hash as string);
  expect(hashes).toEqual([run.hash, gate.staged_hash, gate.staged_hash]);

  const [action] = readTail(gate).actions;
  const { title: before } = (await app.as(team.member).get(`/api/tasks/${task.task_id}`)).body;
  expect(action).toMatchObject({ before: { title: before }, after: { title: expect.stringMatching(/^Round/) } });
  expect(shown.actions).toMatchObject([{ changed: null, fields: [{ name: 'title', before, after: action?.after?.['title'] }] }]);
  // Nothing has changed since this yes, whatever had changed since the one before.
  expect(await performAction(app.services, carrier(run), 1)).toMatchObject({ ended: 'succeeded' });
  expect((await app.as(team.member).get(`/api/tasks/${task.task_id}`)).body.title).toBe(action?.after?.['title']);
}

/** Ends in the log of decisions, which names the automation only. */
const loadLog = ({ automation_id }: TestRun) =>
  db()('decision_log').where({ source: automation_id }).orderBy('decision_id').pluck('state');

async function play(round: number, race: (run: TestRun & { hash: string }) => Promise<[Racer, string][]>): Promise<boolean> {
  const run = await lapsedRun(round);
  // Nobody need have looked at the gate since its deadline.
  if (round % 2 === 1) await readGate(app.services, run.run_id, 0, 'an-execution');
  const results = Object.fromEntries(await race(run)) as Record<Racer, string>;
  const isAsked = await checkEnd(run, results);
  if (isAsked) await checkPerformed(run);
  await readGate(app.services, run.run_id, 0, 'an-execution');
  expect(await loadLog(run)).toEqual(isAsked ? ['expired', 'approved'] : ['expired']);
  return isAsked;
}

it(
  'in every order: the first to ask or to reject has the gate, and nothing said to the old text counts',
  async () => {
    const asked: boolean[] = [];
    for (const [round] of [...RACERS, ...RACERS].entries()) {
      const turns = [...RACERS.slice(round % 5), ...RACERS.slice(0, round % 5)];
      const isAsked = await play(round, (run) =>
        inTurn(
          app,
          (holder) => holder('automation_runs').where({ run_id: run.run_id }).forUpdate(),
          turns.map((racer) => async (): Promise<[Racer, string]> => [racer, await send(racer, run)]),
        ),
      );
      expect({ turns, isAsked }).toEqual({
        turns,
        isAsked: turns.indexOf('ask') < turns.indexOf('old no') || turns.indexOf('ask twice') < turns.indexOf('old no'),
      });
      asked.push(isAsked);
    }
    expect(new Set(asked)).toEqual(new Set([true, false]));
  },
  LONG,
);

it(
  'keeps one outcome of simultaneous requests while the gate is marked as expired',
  async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await play(round, async (run) => {
        const turns = [...RACERS.slice(round % 5), ...RACERS.slice(0, round % 5)];
        const reads = [1, 2].map(() => readGate(app.services, run.run_id, 0, 'an-execution'));
        const results = turns.map(async (racer): Promise<[Racer, string]> => [racer, await send(racer, run)]);
        await Promise.all(reads);
        return Promise.all(results);
      });
    }
  },
  LONG,
);
