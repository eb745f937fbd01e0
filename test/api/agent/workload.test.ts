/** How much each member has, on PostgreSQL: which tasks are counted, and that people choose who takes one. */
import { day, useHarbor } from './harbor.js';

const harbor = useHarbor();
const { addTask } = harbor;

beforeEach(async () => {
  await harbor.rename(harbor.team.manager, 'Uma Patel');
  await harbor.rename(harbor.team.member, 'Bo Lind');
  await addTask('Order the wheels', { assigned_to: harbor.team.manager.user_id, due_date: day(-2) });
  await addTask('Paint the arm', { assigned_to: harbor.team.manager.user_id, due_date: day(60) });
  await addTask('Ask the bank', { assigned_to: harbor.team.member.user_id, status: 'in_review' });
});

it.each([
  'how many open tasks does each person have?',
  'how many tasks does everybody have?',
  'open tasks per person',
  'who has the most on their plate?',
  'how is the work distributed?',
  'who is working on what?',
  'who is working on what in Harbor?',
])('counts the open tasks of each member for “%s”', async (question) => {
  const { content } = await (await harbor.begin())(question);
  expect(content).toMatch(
    /^Open tasks.*:\n- Uma Patel: 2, 1 of them overdue\n- Bo Lind: 1\n\nMembers who are not listed have none\.$/,
  );
});

it('counts what the question says, and says what it counts', async () => {
  const say = await harbor.begin();
  const late = await say('who has the most overdue tasks?');
  expect(late.content).toContain('Open tasks that are overdue:\n- Uma Patel: 1, 1 of them overdue\n\n');
  expect((await say('how many tasks does each person have in review?')).content).toContain(
    'Tasks that are in review:\n- Bo Lind: 1\n',
  );
  expect((await say('who has the most to do by tomorrow?')).content).toMatch(/^Open tasks due until .*:\n- Uma Patel: 1, 1 of/);
  expect((await say('who is overloaded in the Office project?')).content).toBe(
    'Open tasks with words like “offic” in title, tags or project: none.',
  );
  expect((await say('who has the most work if Bo leaves?')).content).toContain('I do not understand');
});

it.each(['who should take the wheels?', 'to whom should I give the wheels?', 'can someone help with the wheels?'])(
  'chooses nobody for “%s”, and tells how much each has; “it” is that task then',
  async (question) => {
    const say = await harbor.begin();
    const { content, actions } = await say(question);
    expect(content).toMatch(
      /^- task “Order the wheels” \(\S+\): to do, .*\n\nI do not choose people\. .*:\n\nOpen tasks:\n- Uma Patel: 2/,
    );
    expect(actions).toEqual([]);
    expect((await say('give it to Bo')).actions).toMatchObject([{ params: { assigned_to: harbor.team.member.user_id } }]);
  },
);
