import { canonicalJson, computeHash } from '../../../../api/gate/staging/canonical.js';
import { readVersions, seenHash } from '../../../../api/gate/staging/changed-since.js';
import { createField, setFields } from '../../../factories/custom-fields.js';
import { buildProject, buildTask, buildTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

/** Two texts whose hashes begin with the same four bytes. */
function findAlike(): [string, string] {
  const seen = new Map<number, string>();
  for (let n = 0; ; n += 1) {
    const [text, start] = [`text ${n}`, computeHash('assent.value.v1\n', canonicalJson(`text ${n}`)).readUInt32BE()];
    const other = seen.get(start);
    if (other !== undefined) return [other, text];
    seen.set(start, text);
  }
}

it('tells values of custom fields apart whose hashes begin alike', async () => {
  const team = await buildTeam(app);
  const { task_id } = await buildTask(app, team, await buildProject(app, team));
  const field = await createField(app, team, 'text');
  const target = {
    entity_type: 'task',
    entity_id: task_id,
    expected_version: 1,
    params: { custom_fields: { [field.field_id]: 'x' } },
  };
  const hashes: string[] = [];
  for (const value of findAlike()) {
    await setFields(app, team, [{ field, task_id, value }]);
    hashes.push(seenHash('sha256:x', [target], await readVersions(app.services, [target])));
  }
  expect(hashes[0]).not.toBe(hashes[1]);
});
