/** Sets of tasks of which only a part is linked, on PostgreSQL: a plan takes that part, and the answer tells of the others. */
import { day, useHarbor } from './harbor.js';

const harbor = useHarbor();
const { addTask } = harbor;
const of = (person: { user_id: string }, more: object = {}) => ({ assigned_to: person.user_id, ...more });

let office: { project_id: string };
let near: string;
let far: string;
beforeEach(async () => {
  await harbor.rename(harbor.team.manager, 'Uma Patel');
  await harbor.rename(harbor.team.admin, 'Bo Lind');
  office = await harbor.addProject('Office');
  near = await addTask('Order the wheels', of(harbor.team.manager, { due_date: day(1) }));
  far = await addTask('Order a desk', of(harbor.team.manager, { due_date: day(1) }), office);
});

it.each([
  ['Move everything Uma has to Bo', 'everything Uma has'],
  ['Uma is on holiday next week, hand her tasks over to Bo', 'her tasks'],
  ['push all tasks of Uma by a week', 'all tasks of Uma'],
  ["move all of Uma's tasks to 2031-03-24", "all of Uma's tasks"],
  ['close everything that is due tomorrow', 'everything that is due tomorrow'],
  ["move all of Uma's deadlines to Friday", 'their tasks'],
])('“%s” takes what is linked, and says what it leaves out', async (said, written) => {
  const { actions, content, mentions } = await (await harbor.begin())(said);
  expect(actions.map(({ entity_id }) => entity_id)).toEqual([near]);
  expect(content.replace(/ \([A-Z]+-\d+\)/, '')).toContain(
    `Left out: 1 task of the team fits “${written}” too, but neither the task nor its project is linked: “Order a desk” in “Office”. To take them, link the project “Office” and send the message again.`,
  );
  expect(mentions).toContainEqual({ item_id: far, title: 'Order a desk' });
});

it('takes them once their project is linked, and says nothing then', async () => {
  const say = await harbor.begin(harbor.linked, { item_type: 'project', item_id: office.project_id });
  const { actions, content } = await say('Move everything Uma has to Bo');
  expect(actions.map(({ entity_id }) => String(entity_id)).toSorted()).toEqual([near, far].toSorted());
  expect(content).not.toContain('Left out');
});

it('says of nobody’s tasks too, and counts what it does not name', async () => {
  const wheels = await addTask('Paint the arm');
  for (let n = 0; n < 7; n += 1) await addTask(`Part ${n}`, {}, office);
  const { actions, content } = await (await harbor.begin())('set the due date of all unassigned tasks to next Friday');
  expect(actions).toMatchObject([{ entity_id: wheels }]);
  expect(content).toMatch(/Left out: 7 tasks of the team fit “all unassigned tasks” too, .* and 2 more\. To take them, link /);
});

it('offers the tasks where nothing that is linked fits', async () => {
  await harbor.app.as(harbor.team.manager).delete(`/api/tasks/${near}`);
  const { actions, content, mentions } = await (await harbor.begin())('Move everything Uma has to Bo');
  expect(actions).toEqual([]);
  expect(content).toMatch(/^No task of what is linked fits “everything Uma has”\. Nothing was staged\.\n\nLeft out: 1 task/);
  expect(mentions).toEqual([{ item_id: far, title: 'Order a desk', to_link: 'task' }]);
});

it('takes the tasks of a linked project that have what was said, although a task is linked too', async () => {
  const other = await addTask('Paint the arm');
  const say = await harbor.begin(harbor.linked, other);
  expect((await say("move all of Uma's tasks to 2031-03-24")).actions).toMatchObject([{ entity_id: near }]);
  expect((await say('close all linked tasks')).actions).toMatchObject([{ entity_id: other }]);
  expect((await say('close all tasks')).actions).toMatchObject([{ entity_id: other }]);
});

it('says nothing of tasks of another team, or to who may not read them', async () => {
  const say = await harbor.begin();
  await harbor.db()('tasks').where({ task_id: far }).update({ deleted_at: new Date() });
  expect((await say('Move everything Uma has to Bo')).content).not.toContain('Left out');
  expect((await say('close all linked tasks of Uma')).content).not.toContain('Left out');
});
