import { useHarbor } from './harbor.js';
import { talk } from './talk.js';

// What is said in other forms of the words of a title finds it; what shares some of them is asked.

const harbor = useHarbor();
const { addTask } = harbor;

const WEBHOOKS = 'Migrate Stripe webhooks to v3';

it('finds a task by other forms of the words of its title, in questions and changes', async () => {
  const id = await addTask(WEBHOOKS, { due_date: '2027-03-05' });
  const policies = await addTask('Review the supply policies');
  for (const say of [await harbor.begin(), await harbor.begin(id)]) {
    for (const asked of [
      'When is the webhook migration due?',
      'Is the Stripe migration blocked?',
      'who has the migrated webhook?',
    ])
      expect((await say(asked)).content).toMatch(/“Migrate Stripe webhooks to v3” \(\S+\): to do, .*due 2027-03-05/);
    expect((await say('close the webhook migration')).actions).toMatchObject([{ entity_id: id, params: { status: 'done' } }]);
  }
  const say = await harbor.begin();
  expect((await say('is the supply policy done?')).content).toContain('“Review the supply policies”');
  expect((await say('close the supply policy')).actions).toMatchObject([{ entity_id: policies }]);
});

it('offers the task that has most of the words, instead of an empty answer', async () => {
  await addTask(WEBHOOKS);
  await addTask('Order the wheels');
  const say = await harbor.begin();
  const asked = await say('when is the webhook rollback due?');
  expect(asked.content).toMatch(
    /^No task has all of these words: “webhook”, “rollback”\. Do you mean this one\?\n- “Migrate Stripe webhooks/,
  );
  expect(asked.mentions.map(({ title }) => title)).toEqual([WEBHOOKS]);
  const change = await say('close the webhook rollback');
  expect(change.actions).toEqual([]);
  expect(change.content).toMatch(
    /is called “webhook rollback”\. Do you mean the task “Migrate Stripe webhooks to v3”.* \(\S+\)\?/,
  );
  expect((await say('which webhook tasks are overdue?')).content).toMatch(
    /^No task with “webhook” in its title is like that\. This one has the words:\n- “Migrate/,
  );
});

it('offers tasks of the team that are not linked, and of no other team', async () => {
  const id = await addTask('Order the wheels');
  const elsewhere = await harbor.addProject('Quay');
  await addTask('Sign the contract of the supplier', {}, elsewhere);
  const say = await harbor.begin(id);
  const { content, actions } = await say('close the supplier invoice');
  expect(actions).toEqual([]);
  expect(content).toMatch(/Do you mean the task “Sign the contract of the supplier” in “Quay” \(\S+\)\?/);
  const strangers = await harbor.begin();
  expect((await strangers('close the yacht invoice')).content).not.toContain('Do you mean');
});

it('takes the names of its examples from the teams of the reader', async () => {
  const { manager, member } = harbor.team;
  await harbor.rename(manager, 'Uma Patel');
  await addTask('Order the wheels', { assigned_to: manager.user_id });
  const { key } = (await harbor.db()('teams').where({ team_id: harbor.team.team_id }).first()) as { key: string };
  const say = await harbor.begin();
  const unclear = await say('assign a poem about her to the moon, please');
  expect(unclear.content).toContain(`I would understand:\n- assign ${key}-1 to me`);
  const help = (await say('help')).content;
  expect(help).toContain(`- mark ${key}-1 as done`);
  expect(help).toContain('- what did Uma Patel do yesterday?');
  expect(help).toContain('- summarize Harbor');
  const alone = await talk(harbor.app, member);
  expect((await alone('sing a song about closing')).content).toMatch(
    new RegExp(
      `^I do not understand “sing a song about closing”.*I would understand:\n- mark ${key}-1 as done.*No item is linked.*“close ${key}-1”`,
      's',
    ),
  );
});
