import { ROW_KINDS } from '../../../api/bulk/rules.js';
import { buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { download, exporterOf, requestExport } from './support.js';

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let exporter: ReturnType<typeof exporterOf>;
beforeAll(async () => {
  app = await startApp();
  team = await buildTeam(app);
  project = await buildProject(app, team);
  exporter = exporterOf(app);
});
afterAll(async () => {
  await exporter.close();
  await app.close();
});

type Row = Record<string, unknown>;
const linesOf = (bytes: Buffer): Row[] => {
  const text = bytes.toString();
  expect(text.endsWith('\n')).toBe(true);
  return text
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line) as Row);
};
/** Exports as the manager and returns the rows, in the order of the file. */
async function exportRows(wanted: Parameters<typeof requestExport>[2], person: Person = team.manager): Promise<Row[]> {
  const id = await requestExport(app, person, { team_id: team.team_id, ...wanted });
  expect(await exporter.write(id)).toBe('succeeded');
  return linesOf((await download(app, person, id)).bytes);
}

describe('the rows of an export', () => {
  it('hold every kind of record of the team, each as the API shows it', async () => {
    const client = app.as(team.manager);
    const other_project = await buildProject(app, team);
    const created = async (path: string, body: object): Promise<Row> => {
      const answer = await client.post(path, body);
      if (answer.status !== 201 && answer.status !== 200) throw new Error(JSON.stringify(answer.body));
      return answer.body as Row;
    };
    const { team_id } = team;
    const parent = await buildTask(app, team, project, { title: 'Parent "quoted" \\ \u2028 😀', description: 'a\r\n- b\tc' });
    const child = await buildTask(app, team, project, { parent_task_id: parent.task_id, tags: ['x', 'y,z'] });
    const trashed = await buildTask(app, team, project, { title: 'In the trash' });
    const field = await created('/api/custom-fields', {
      team_id,
      name: 'Severity',
      field_type: 'multi_select',
      entity_type: 'task',
      options: [
        { value: 'a', label: 'A' },
        { value: 'b', label: 'B' },
      ],
    });
    await client.put('/api/custom-fields/values', {
      field_id: field['field_id'],
      entity_type: 'task',
      entity_id: child.task_id,
      value: ['b', 'a'],
    });
    const cycle = await created('/api/sprints', { team_id, project_id: project.project_id, name: 'One', goal: 'Ship' });
    await client.post(`/api/sprints/${cycle['cycle_id'] as string}/tasks`, { task_ids: [child.task_id] });
    const comment = await created(`/api/tasks/${child.task_id}/comments`, { content: 'Hello' });
    await created(`/api/tasks/${child.task_id}/comments`, { content: 'Reply', parent_comment_id: comment['comment_id'] });
    await client.delete(`/api/comments/${comment['comment_id'] as string}`);
    const note = await created('/api/notes', { team_id, title: 'Note', content: 'Text', kind: 'idea' });
    const doc = await created('/api/work-items', { type: 'doc', team_id, title: 'Doc', content: '# Doc', weight: 1e300 });
    await created('/api/work-items', { type: 'project', team_id, title: 'With fields', colour: 'red\nblue' });
    await created('/api/work-items/relations', {
      source_id: note['note_id'],
      target_id: child.task_id,
      relation_type: 'attached_to',
    });
    // Its ends are out of reach: in the trash, and in another team.
    await created('/api/work-items/relations', {
      source_id: doc['item_id'],
      target_id: trashed.task_id,
      relation_type: 'related_to',
    });
    const automation = await created('/api/automations', {
      name: 'Auto',
      trigger_type: 'task.created',
      team_id,
      actions: [
        {
          type: 'http_request',
          params: { method: 'POST', url: 'https://example.test', headers: { authorization: '{{secret:KEY}}' } },
        },
      ],
    });
    await client.delete(`/api/tasks/${trashed.task_id}`);
    const rows = await exportRows({});
    const of = (entity: string) => rows.filter((row) => row.entity === entity);
    expect([...new Set(rows.map(({ entity }) => entity))]).toEqual(Object.values(ROW_KINDS));
    const [shownParent, shownChild] = await Promise.all(
      [parent, child].map(async ({ task_id }) => (await client.get(`/api/tasks/${task_id}`)).body as Row),
    );
    const { subtasks: _a, ...plainParent } = shownParent as Row;
    const { subtasks: _b, ...plainChild } = shownChild as Row;
    expect(of('task')).toEqual([
      { entity: 'task', ...plainParent, fields: {} },
      { entity: 'task', ...plainChild, fields: {} },
    ]);
    expect(plainChild).toMatchObject({ cycle_id: cycle['cycle_id'], parent_task_id: parent.task_id });
    expect(of('project').map(({ name, fields }) => [name, fields])).toContainEqual(['With fields', { colour: 'red\nblue' }]);
    expect(of('project').map(({ project_id }) => project_id)).toContain(other_project.project_id);
    expect(of('custom_field')).toEqual([{ entity: 'custom_field', ...field }]);
    expect(of('custom_field_value')).toMatchObject([{ entity_id: child.task_id, key: 'severity', value: ['b', 'a'] }]);
    expect(of('cycle')).toMatchObject([{ cycle_id: cycle['cycle_id'], goal: 'Ship', number: 1 }]);
    expect(of('comment')).toMatchObject([
      { comment_id: comment['comment_id'], deleted: true, content: '' },
      { parent_comment_id: comment['comment_id'], content: 'Reply', deleted: false },
    ]);
    expect(of('note')).toMatchObject([{ note_id: note['note_id'], content: 'Text', kind: 'idea' }]);
    expect(of('work_item')).toMatchObject([
      { item_id: doc['item_id'], type: 'doc', content: '# Doc', file: null, fields: { weight: 1e300 } },
    ]);
    expect(of('relation')).toMatchObject([
      { source_id: note['note_id'], target_id: child.task_id, relation_type: 'attached_to' },
    ]);
    expect(of('automation')).toMatchObject([{ automation_id: automation['automation_id'], actions: automation['actions'] }]);
  });
});
