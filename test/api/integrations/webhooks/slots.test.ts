import { toOutcome } from '../../../../api/integrations/webhooks/delivery/timetable.js';
import { Slots } from '../../../../api/integrations/webhooks/delivery/slots.js';
import { EVENT_PATTERNS, isWanted } from '../../../../api/integrations/webhooks/events/names.js';
import { DELIVERED_EVENTS, buildSample } from '../../../../api/integrations/webhooks/events/samples.js';
import { getSchema } from '../../../../api/integrations/webhooks/events/schemas.js';
import { deriveEventId } from '../../../../api/integrations/webhooks/events/event-id.js';
import { version, v4, v7 } from 'uuid';

describe('slots', () => {
  it('a team has a tenth at most', () => {
    const slots = new Slots(500);
    for (let round = 0; round < 100; round += 1) slots.take('greedy', 10, true);
    expect(slots.inFlight).toBe(50);
    expect(slots.take('late', 10, true)).toBe(10);
  });

  it.each([[1], [100], [2_000]])('%i teams of dead endpoints leave half of the slots to the others', (teams) => {
    const slots = new Slots(500);
    for (let round = 0; round < 100; round += 1)
      for (let team = 0; team < teams; team += 1) slots.take(`dead ${team}`, 10, false);
    expect(slots.inFlight).toBeLessThanOrEqual(250);
    expect(slots.take('healthy', 10, true)).toBe(10);
  });

  it('20 teams that hold all that they get leave some to one that has none', () => {
    const slots = new Slots(500);
    for (let team = 0; team < 20; team += 1) {
      for (let endpoint = 0; endpoint < 20; endpoint += 1) slots.take(`hostile ${team}`, 10, true);
      expect(slots.take(`newcomer ${team}`, 1, true)).toBe(1);
      slots.release(`newcomer ${team}`, true);
    }
  });

  it('a released slot can be claimed again', () => {
    const slots = new Slots(100);
    const taken = slots.take('a', 10, true);
    slots.release('a', true, taken);
    expect(slots.inFlight).toBe(0);
    expect(slots.take('a', 10, true)).toBe(taken);
  });
});

describe('the timetable', () => {
  const steps = [0, 5, 300];
  it.each<[number, number | null, number | null, object]>([
    [0, 200, null, { status: 'succeeded' }],
    [2, 299, null, { status: 'succeeded' }],
    [0, 500, null, { status: 'retry', waitSeconds: 5 }],
    [0, 302, null, { status: 'retry', waitSeconds: 5 }],
    [1, null, null, { status: 'retry', waitSeconds: 300 }],
    [1, 429, 400_000, { status: 'retry', waitSeconds: 400 }],
    [1, 429, 1_000, { status: 'retry', waitSeconds: 300 }],
    [0, 503, 999_999_999, { status: 'retry', waitSeconds: 86_400 }],
    [2, 500, 1_000, { status: 'failed', isGone: false }],
    [0, 410, null, { status: 'failed', isGone: true }],
  ])('after %i failures, %s with Retry-After %s ms', (tries, status, retryAfter, outcome) => {
    expect(toOutcome(tries, status, retryAfter, steps)).toEqual(outcome);
  });
});

describe('events', () => {
  const change = { event_id: v7(), subject: 'task.updated', created_at: '2026-11-22 10:00:00.123+00' };

  it('have stable ids, each name its own, in the order of time', () => {
    expect(deriveEventId(change, 'task.updated')).toBe(change.event_id);
    const derived = deriveEventId(change, 'task.completed');
    expect(deriveEventId(change, 'task.completed')).toBe(derived);
    expect(deriveEventId(change, 'task.assigned')).not.toBe(derived);
    expect([version(derived), derived.slice(0, 13)]).toEqual([7, change.event_id.slice(0, 13)]);
  });

  it('of another kind of id take the time of the change', () => {
    const own = deriveEventId({ ...change, event_id: v4(), subject: 'task.overdue' }, 'task.overdue');
    expect(version(own)).toBe(7);
    expect(Number.parseInt(own.replaceAll('-', '').slice(0, 12), 16)).toBe(Date.parse('2026-11-22T10:00:00.123Z'));
  });

  it('are asked for by name, by family, or all', () => {
    for (const pattern of ['*', 'task.*', 'task.completed']) {
      expect(EVENT_PATTERNS).toContain(pattern);
      expect(isWanted(new Set([pattern]), 'task.completed')).toBe(true);
    }
    expect(isWanted(new Set(['note.*', 'task.created']), 'task.completed')).toBe(false);
    for (const name of ['forge.push', 'relation.created', 'schedule', 'toString'])
      expect(isWanted(new Set(['*']), name)).toBe(false);
  });
});

it.each(DELIVERED_EVENTS)('%s has a sample that fits its schema', (name) => {
  const sample = buildSample(name) as { data: { entity_id: unknown; object: unknown } };
  expect(getSchema(name).safeParse(sample).error).toBeUndefined();
  expect(sample).toMatchObject({ type: name, data: { entity_id: expect.any(String), object: expect.any(Object) } });
});
