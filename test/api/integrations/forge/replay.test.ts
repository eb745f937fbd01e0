import { execFile } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import { deliveries } from '../../../../scripts/fixtures/forge-payloads.js';
import { subscribe } from '../../../factories/events.js';
import { buildTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { findEvents, findReceipt, relay, send } from './deliver.js';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ FORGE_WEBHOOK_SECRET: 'the secret of this installation' });
});
afterAll(() => app.close());

interface Ended {
  code: number;
  out: string;
  err: string;
}

/** Runs the compiled command against the app while the relay runs. */
async function replay(...args: string[]): Promise<Ended> {
  let ended = false;
  const running = new Promise<Ended>((resolve) => {
    execFile(
      process.execPath,
      ['dist/scripts/forge-replay.js', ...args],
      {
        env: {
          PATH: process.env['PATH'],
          NODE_ENV: 'test',
          DATABASE_URL: app.database.url,
          DATA_DIR: app.services.config.DATA_DIR,
          FORGE_WEBHOOK_SECRET: app.services.config.FORGE_WEBHOOK_SECRET,
          PORT: new URL(app.url).port,
        },
      },
      (error, out, err) => {
        ended = true;
        resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err });
      },
    );
  });
  while (!ended) {
    await relay(app);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return running;
}
const getId = ({ out }: Ended): string => /^delivery (\S+)/m.exec(out)?.[1] ?? '';

it('sends a named payload, from the repository asked for, and says what became of it', async () => {
  const team = await buildTeam(app);
  await subscribe(app, team);
  const repo = `acme/rocket-${team.team_id}`;
  await app.as(team.admin).post('/api/forge/repositories', { repo, team_id: team.team_id });
  const ended = await replay('pull_request.merged', '--repo', repo);
  expect(ended).toMatchObject({ code: 0, err: '' });
  expect(ended.out).toMatch(/^200 \{"received":true,"event":"forge.pr_merged","duplicate":false\}\n.*\napplied\n$/);
  expect(await findEvents(app, getId(ended))).toMatchObject([{ team_id: team.team_id, payload: { repo } }]);
});

it('sends a stored delivery: dropped under its id, processed again under a new one', async () => {
  const id = uuidv7();
  await send(app, 'push.branch', {}, { id });
  await relay(app);
  const dropped = await replay(id);
  expect(dropped).toMatchObject({ code: 0, out: expect.stringContaining('"duplicate":true') });
  expect(dropped.out).toContain('--new-id');
  const again = await replay(id, '--new-id');
  expect(again.out).toContain('"duplicate":false');
  expect(getId(again)).not.toBe(id);
  expect((await findReceipt(app, getId(again))).payload).toEqual((await findReceipt(app, id)).payload);
});

it('sends a file, and asks for its event', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'assent-replay-')), 'payload.json');
  writeFileSync(file, JSON.stringify(deliveries['issues.opened'].body));
  expect(await replay(file)).toMatchObject({ code: 1, err: expect.stringContaining('--event') });
  expect((await replay(file, '--event', 'issues')).out).toContain('forge.issue_opened');
  writeFileSync(file, '{');
  expect(await replay(file, '--event', 'issues')).toMatchObject({ code: 1, err: expect.stringContaining('not a JSON file') });
});

it('says plainly what it cannot do', async () => {
  expect(await replay()).toMatchObject({ code: 2, err: expect.stringContaining('npm run forge:replay --') });
  expect(await replay('nothing-like-it')).toMatchObject({
    code: 1,
    err: expect.stringContaining('no delivery that was received'),
  });
  expect(await replay('push.branch', '--url', 'http://127.0.0.1:1')).toMatchObject({
    code: 1,
    err: expect.stringContaining('Nothing answers'),
  });
  const star = uuidv7();
  await send(app, 'star.created', {}, { id: star });
  expect(await replay(star)).toMatchObject({ code: 1, err: expect.stringContaining('Not a listed event') });
  await send(app, 'push.branch', {}, { id: null });
  const { delivery_id } = await app.services.db('forge_deliveries').whereLike('delivery_id', 'content:%').first();
  expect(await replay(delivery_id)).toMatchObject({ code: 1, err: expect.stringContaining('--new-id') });
  expect((await replay('--list')).out).toContain('pull_request.merged\n');
});
