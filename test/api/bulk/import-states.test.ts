import { readFileSync } from 'node:fs';
import { recognizeFormat } from '../../../api/bulk/import/preview/recognize-format.js';
import { buildTeam, type TestTeam } from '../../factories/people.js';
import { type Client, startApp, type TestApp } from '../../support/app.js';
import { importText, ndjson } from './import-support.js';

let app: TestApp;
let team: TestTeam;
let manager: Client;
beforeAll(async () => {
  app = await startApp();
  team = await buildTeam(app);
  manager = app.as(team.manager);
});
afterAll(() => app.close());

const FILE = 'ID,Title,Status\nENG-1,One,Backlog\nENG-2,Two, backlog \nENG-3,Three,QA\nENG-4,Four,Todo\n';
const addStage = async (client: Client, name: string, team_id: string): Promise<string> =>
  (await client.post('/api/stages', { team_id, name, status: 'in_progress' })).body.stage_id as string;

it('puts the tasks of a state where the request says, whatever the case of its name', async () => {
  const stage_id = await addStage(manager, 'Ready', team.team_id);
  const states = { BACKLOG: stage_id, qa: 'canceled' };
  await importText(app, manager, team, FILE, { format: 'linear_csv', states });
  const rows = await app.services
    .db('tasks')
    .where({ team_id: team.team_id })
    .orderBy('number')
    .select('title', 'stage_id', 'status', 'resolution');
  expect(rows).toEqual([
    { title: 'One', stage_id, status: 'in_progress', resolution: null },
    { title: 'Two', stage_id, status: 'in_progress', resolution: null },
    { title: 'Three', stage_id: null, status: 'done', resolution: 'canceled' },
    { title: 'Four', stage_id: null, status: 'todo', resolution: null },
  ]);
});

it('refuses a stage of another team, an unknown status, and states of a file of this service', async () => {
  const other = await buildTeam(app);
  const theirs = await addStage(app.as(other.manager), 'Theirs', other.team_id);
  const ask = (fields: object) =>
    manager.post('/api/bulk/import', { team_id: team.team_id, format: 'linear_csv', data: FILE, ...fields });
  for (const [fields, field] of [
    [{ states: { Backlog: theirs } }, 'body.states.Backlog'],
    [{ states: { Backlog: 'someday' } }, 'body.states.Backlog'],
    [{ states: Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`s${at}`, 'todo'])) }, 'body.states'],
    [{ states: { Backlog: 'todo' }, format: 'ndjson' }, 'body.states'],
    [{ states: { a: 'todo', 'A ': 'done' } }, 'body.states'],
  ] as const) {
    const { status, body } = await ask(fields);
    expect([status, body.detail.errors[0].field]).toEqual([422, field]);
  }
});

const fixture = (name: string): Buffer => readFileSync(new URL(`fixtures/${name}`, import.meta.url));
it.each([
  ['jira.csv', fixture('jira.csv'), 'jira_csv'],
  ['linear.csv', fixture('linear.csv'), 'linear_csv'],
  ['github.json', fixture('github.json'), 'github_json'],
  ['our NDJSON', Buffer.from(ndjson([{ entity: 'note', title: 'A' }])), 'ndjson'],
  ['our JSON', Buffer.from(JSON.stringify([{ entity: 'note', title: 'A' }], null, 2)), 'json'],
  ['our CSV', Buffer.from('﻿entity,title\nnote,A\n'), 'csv'],
  ['a header that is cut', Buffer.from(`ID,Title,${'x'.repeat(300_000)}`), 'linear_csv'],
  ['half of a character', Buffer.concat([Buffer.from('Issue key,Summary\nA-1,'), Buffer.from('é').subarray(0, 1)]), 'jira_csv'],
  ['prose', Buffer.from('Dear all, "hello\n'), undefined],
  ['bytes', Buffer.from([0xff, 0xfe, 0x00, 0x0a, 0x80]), undefined],
  ['nothing', Buffer.alloc(0), undefined],
])('recognizes %s', async (_what, head, format) => expect(await recognizeFormat(head)).toBe(format));
