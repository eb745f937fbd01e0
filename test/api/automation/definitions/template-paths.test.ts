import { warnOfPaths } from '../../../../api/automation/definitions/template-paths.js';
import { TRIGGERS } from '../../../../api/automation/language/triggers.js';
import { CommentRecord } from '../../../../api/work/comments/schema.js';
import { Note } from '../../../../api/work/items/notes/schema.js';
import { ProjectRecord } from '../../../../api/work/projects/schema.js';
import { Relation } from '../../../../api/work/relations/schema.js';
import { Task } from '../../../../api/work/tasks/schema.js';
import { seedDemo } from '../../../../scripts/demo-data/seed-demo.js';
import { buildTask, buildTeam, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';

// Warnings about templates whose path no event of the trigger has.

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

/** What the API returns; an event may hold less. */
const RECORDS = { task: Task, project: ProjectRecord, comment: CommentRecord, note: Note, relation: Relation };

const warn = (trigger: string, template: string) => warnOfPaths(trigger, [{ params: { content: `See ${template}` } }]);
const place = 'actions[0].params.content';

describe('a path that no event has', () => {
  it.each([
    ['task.created', 'event.tsk.task_id', '; did you mean event.task.task_id?'],
    ['task.created', 'event.task.titel', '; did you mean event.task.title?'],
    ['task.created', 'event.comment.content', ''],
    ['task.created', 'event.task.title.length', ''],
    ['task.created', 'event.task.tags.first', ''],
    ['note.created', 'event.task.title', ''],
    ['note.created', 'event.note.content', ''],
    ['forge.pr_merged', 'event.pr_numbr', '; did you mean event.pr_number?'],
    ['forge.push', 'event.pr_number', ''],
    ['forge.*', 'event.issue_nubmer', '; did you mean event.issue_number?'],
    ['schedule', 'event.task.title', ''],
    ['schedule', 'event.__proto__.x', ''],
  ])('of %s: %s', (trigger, path, hint) => {
    expect(warn(trigger, `{{${path}}}`)).toEqual([`${place}: events of ${trigger} have no ${path}${hint}`]);
  });
});

describe('no warning', () => {
  it.each([
    ['task.updated', 'event.changes.status.from'],
    ['task.created', 'event.task.recurrence.every'],
    ['task.created', 'event.task.tags.3'],
    ['task.created', 'event.task.due_date'],
    ['task.created', 'event.event_id'],
    ['forge.push', 'event.receipt_id'],
    ['forge.pull_request', 'event.closes_issues.0'],
    ['forge.*', 'event.tag'],
    ['manual', 'event.whatever.it.says'],
  ])('of %s: %s', (trigger, path) => expect(warn(trigger, `{{${path}}}`)).toEqual([]));

  it('for any value of any sample', () => {
    const pathsIn = (value: unknown, path: string): string[] =>
      typeof value === 'object' && value !== null
        ? [path, ...Object.entries(value).flatMap(([key, inner]) => pathsIn(inner, `${path}.${key}`))]
        : [path];
    for (const { key, sample_payload } of TRIGGERS) {
      for (const path of pathsIn(sample_payload, 'event').filter((each) => each !== 'event')) {
        expect([key, path, warn(key, `{{${path}}}`)]).toEqual([key, path, []]);
      }
    }
  });

  it('for the automations of the demo', async () => {
    await seedDemo(app.services);
    const automations = await app.services.db('automations').select('trigger_type', 'actions');
    expect(automations.length).toBe(2);
    for (const { trigger_type, actions } of automations) expect(warnOfPaths(trigger_type, actions)).toEqual([]);
  });

  it('for any field of an event that happened, and for no other field that the API has', async () => {
    const team = await buildTeam(app);
    const { team_id } = team;
    const api = app.as(team.manager);
    const heard = [
      'task.created',
      'task.updated',
      'project.created',
      'project.updated',
      'comment.created',
      'note.created',
      'relation.created',
    ];
    for (const trigger_type of heard) {
      const actions = [{ type: 'notify', role: 'admin', message: 'Hello' }];
      expect((await api.post('/api/automations', { name: trigger_type, team_id, trigger_type, actions })).status).toBe(201);
    }
    const project_id = (await api.post('/api/projects', { name: 'One', team_id })).body.data.project_id;
    await api.patch(`/api/projects/${project_id}`, { name: 'Two' });
    const { task_id } = await buildTask(app, team, { project_id }, { due_date: '2030-01-01' });
    await api.patch(`/api/tasks/${task_id}`, { priority: 'urgent', description: 'Why' });
    await api.post(`/api/tasks/${task_id}/comments`, { content: 'Hello' });
    const note = await api.post('/api/notes', { title: 'Note', content: 'Text', project_id });
    const related = await api.post('/api/work-items/relations', {
      source_id: task_id,
      target_id: note.body.note_id,
      relation_type: 'related_to',
    });
    expect(related.status).toBe(201);
    const events = await app.services.db('outbox').where({ team_id }).whereIn('subject', heard).select('subject', 'payload');
    expect(new Set(events.map(({ subject }) => subject))).toEqual(new Set(heard));
    for (const { subject, payload } of events as { subject: string; payload: Record<string, object> }[]) {
      const nested = Object.entries(payload).flatMap(([name, value]) => [
        name,
        ...Object.keys(value ?? {}).map((key) => `${name}.${key}`),
      ]);
      const paths = nested.filter((path) => !/\.\d+$/.test(path));
      for (const path of paths) expect([subject, path, warn(subject, `{{event.${path}}}`)]).toEqual([subject, path, []]);
      for (const [record, { shape }] of Object.entries(RECORDS).filter(([name]) => Object.hasOwn(payload, name))) {
        const absent = Object.keys(shape).filter((field) => !Object.hasOwn(payload[record]!, field));
        const known = absent.filter((field) => warn(subject, `{{event.${record}.${field}}}`).length === 0);
        expect([subject, record, known]).toEqual([subject, record, []]);
      }
    }
  });
});

it('is told when the automation is saved, twenty times at most, and does not prevent it', async () => {
  const team: TestTeam = await buildTeam(app);
  const content = Array.from({ length: 40 }, (_, n) => `{{event.tsk.n${n}}}`).join(' ');
  const given = {
    name: 'Wrong',
    team_id: team.team_id,
    trigger_type: 'task.created',
    actions: [{ type: 'add_comment', content }],
  };
  const saved = await app.as(team.member).post('/api/automations', given);
  expect(saved.status).toBe(201);
  expect(saved.body.warnings).toHaveLength(20);
  expect(saved.body.warnings[0]).toBe(`${place}: events of task.created have no event.tsk.n0; did you mean event.task.n0?`);
  const path = `/api/automations/${saved.body.automation_id}`;
  const mended = { ...given, actions: [{ type: 'add_comment', content: '{{event.task.title}}' }] };
  expect((await app.as(team.member).put(path, mended)).body.warnings).toEqual([]);
});
