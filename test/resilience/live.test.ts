/** Streams of changes while the processes that serve them are killed. */
import { v7 as uuidv7 } from 'uuid';
import { buildProject, buildTeam, type TestTeam } from '../factories/people.js';
import { openEvents, type StreamClient } from '../support/event-stream.js';
import { startApp, type TestApp } from '../support/app.js';
import { until } from '../support/worker.js';
import { type ApiProcess, killApiProcesses, startApiProcess } from './api-process.js';

let app: TestApp;
let team: TestTeam;
let project_id: string;
beforeAll(async () => {
  app = await startApp();
  team = await buildTeam(app);
  ({ project_id } = await buildProject(app, team));
});
afterAll(async () => {
  killApiProcesses();
  await app.close();
});

const KILLS = 2;

/** A client that connects again where it was, as a browser does, until it is stopped. */
function followAlways(find: () => ApiProcess) {
  const seen: (string | null)[] = [];
  let place: string | undefined;
  let stopped = false;
  let stream: StreamClient | undefined;
  const done = (async () => {
    while (!stopped) {
      try {
        stream = await openEvents(`${find().url}/api/events?types=task`, { authorization: `Bearer ${team.guest.token}` }, place);
        let taken = 0;
        for (;;) {
          const ended = stream.hasEnded() || stopped;
          for (; taken < stream.events.length; taken += 1) seen.push(stream.events[taken]?.entity_id ?? null);
          place = stream.lastEventId() ?? place;
          if (ended) break;
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      } catch {
        // Nobody serves at the moment.
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    stream?.close();
  })();
  return {
    seen,
    place: () => place,
    stop: () => {
      stopped = true;
      return done;
    },
  };
}

it('kill -9 of the API: clients that connect again have missed nothing and got nothing twice', async () => {
  let api = await startApiProcess(app);
  const clients = [1, 2, 3].map(() => followAlways(() => api));
  await until(async () => clients.every(({ place }) => place() !== undefined));
  const written: string[] = [];
  // Written beside the processes that are killed, so that none is lost for another reason.
  const write = async (count: number) => {
    for (let n = 0; n < count; n += 1) {
      const task_id = uuidv7();
      await app.as(team.member).post('/api/tasks', { task_id, project_id, title: 'x' });
      written.push(task_id);
    }
  };
  const haveAll = () => until(async () => clients.every(({ seen }) => seen.length >= written.length), 60_000);
  for (let kill = 0; kill < KILLS; kill += 1) {
    await write(10);
    if (kill > 0) await haveAll();
    // Some are on their way when it dies, some are written while nobody serves, some while clients catch up.
    const more = write(30);
    await until(async () => clients.some(({ seen }) => seen.length > 10));
    await api.stop('SIGKILL');
    await more;
    api = await startApiProcess(app);
    await write(10);
  }
  await haveAll();
  await Promise.all(clients.map(({ stop }) => stop()));
  for (const { seen } of clients) expect(seen).toEqual(written);
});

it('a stop ends streams at once, and several processes serve the same order', async () => {
  const api = await startApiProcess(app, { API_PROCESSES: '2' });
  const clients = await Promise.all(
    Array.from({ length: 6 }, () => openEvents(`${api.url}/api/events`, { authorization: `Bearer ${team.guest.token}` })),
  );
  await until(async () => clients.every((client) => client.lastEventId() !== undefined));
  const made = [];
  for (let n = 0; n < 5; n += 1)
    made.push((await app.as(team.member).post('/api/tasks', { project_id, title: 'x' })).body.data.task_id);
  await Promise.all(clients.map((client) => client.waitFor(5)));
  for (const client of clients) expect(client.events.map(({ entity_id }) => entity_id)).toEqual(made);
  const ended = api.stop();
  await until(async () => clients.every((client) => client.hasEnded()));
  expect(await ended).toBe(0);
});
