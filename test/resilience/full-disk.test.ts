import { existsSync, openSync } from 'node:fs';
import { buildPerson, type Person } from '../factories/people.js';
import { startApp, type TestApp } from '../support/app.js';
import { killApiProcesses, startApiProcess } from './api-process.js';

let app: TestApp;
let person: Person;
beforeAll(async () => {
  app = await startApp();
  person = await buildPerson(app);
});
afterAll(async () => {
  killApiProcesses();
  await app.close();
});

/** What the log of a process on a full disk is; elsewhere a file open for reading, which takes no bytes either. */
const full = existsSync('/dev/full') ? openSync('/dev/full', 'w') : openSync(import.meta.filename, 'r');

it('answers reads, counts the lines that its log does not take, and exits cleanly', async () => {
  const api = await startApiProcess(app, {}, full);
  const headers = { authorization: `Bearer ${person.token}` };
  for (let i = 0; i < 70; i += 1) expect((await fetch(`${api.url}/api/auth/me`, { headers })).status).toBe(200);
  const dropped = async () =>
    Number(/^log_lines_dropped_total (\d+)$/m.exec(await (await fetch(`${api.opsUrl}/metrics`)).text())?.[1]);
  while ((await dropped()) < 60) expect((await fetch(`${api.url}/api/auth/me`, { headers })).status).toBe(200);
  expect(await api.stop()).toBe(0);
});
