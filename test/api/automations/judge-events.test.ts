import { type HeardEvent, judgeEvents } from '../../../api/automations/match-automations.js';

const automation = (n: number, condition: string | null) => ({
  automation_id: `019a9f00-0000-7000-8000-${String(n).padStart(12, '0')}`,
  name: 'Hears tasks',
  team_id: null,
  project_id: null,
  created_by: '019a9f00-0000-7000-8000-00000000000f',
  trigger_type: 'task.created',
  condition,
  version: 1,
});
const heard = (automations: ReturnType<typeof automation>[]): HeardEvent => ({
  outbox_id: 1,
  subject: 'task.created',
  event_id: '019a9f00-0000-7000-8000-000000000001',
  team_id: null,
  project_id: null,
  payload: { list: Array.from({ length: 200 }, (_, n) => n), task: { title: 'x' } },
  correlation_id: '019a9f00-0000-7000-8000-000000000002',
  depth: 0,
  created_at: '2026-11-21 02:00:00+00',
  now: '2026-11-21 02:00:01+00',
  automations,
  project: null,
  actor: null,
});

it('whatever else the process does has its turn while a thousand conditions are judged', async () => {
  const hostile = `event.list.exists(n, ${'event.nothing || '.repeat(40)}event.nothing)`;
  let turns = 0;
  const others = setInterval(() => {
    turns += 1;
  }, 1);
  const runs = await judgeEvents([heard(Array.from({ length: 10 }, (_, n) => automation(n, hostile)))], 10);
  clearInterval(others);
  expect(runs.map(({ skip_reason }) => skip_reason)).toEqual(runs.map(() => 'condition_false'));
  expect(runs[9]?.condition_error).toContain('more work');
  expect(turns).toBeGreaterThan(3);
});

it('an event beyond the depth, one whose condition holds, and one without', async () => {
  const armed = heard([automation(1, 'task.title == "x"'), automation(2, null), automation(3, 'task.title == "y"')]);
  expect((await judgeEvents([armed], 10)).map(({ skip_reason }) => skip_reason ?? null)).toEqual([null, null, 'condition_false']);
  expect((await judgeEvents([{ ...armed, depth: 11 }], 10)).map(({ skip_reason }) => skip_reason)).toEqual([
    'loop',
    'loop',
    'loop',
  ]);
});
